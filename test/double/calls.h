/*
 * Calls of libibverbs and librdmacm that the stand-in device answers and that FABPERF_DOUBLE can make fail: CALL(name, when), when
 * saying what a run must do to reach it. The tests read this table, too.
 */
#ifndef DOUBLE_CALLS_H
#define DOUBLE_CALLS_H

/* clang-format off */
#define DOUBLE_CALLS(CALL)                     \
	CALL(ibv_get_device_list, setup)       \
	CALL(ibv_open_device, setup)           \
	CALL(ibv_query_device, setup)          \
	CALL(ibv_query_device_ex, device)      \
	CALL(ibv_query_port, setup)            \
	CALL(ibv_query_gid, never)             \
	CALL(ibv_query_gid_ex, never)          \
	CALL(ibv_query_gid_table, setup)       \
	CALL(ibv_query_pkey, never)            \
	CALL(ibv_alloc_pd, setup)              \
	CALL(ibv_reg_mr, setup)                \
	CALL(ibv_reg_dmabuf_mr, cuda_dmabuf)   \
	CALL(mlx5dv_get_data_direct_sysfs_path, cuda_data_direct) \
	CALL(mlx5dv_reg_dmabuf_mr, cuda_data_direct) \
	CALL(ibv_alloc_null_mr, nullmr)        \
	CALL(ibv_alloc_dm, device)             \
	CALL(ibv_reg_dm_mr, device)            \
	CALL(ibv_free_dm, end_device)          \
	CALL(ibv_create_comp_channel, events)  \
	CALL(ibv_create_cq, setup)             \
	CALL(ibv_create_qp, post)              \
	CALL(ibv_create_qp_ex, wr)             \
	CALL(ibv_modify_qp, setup)             \
	CALL(ibv_query_qp, report)             \
	CALL(ibv_modify_qp_rate_limit, paced)  \
	CALL(ibv_query_ece, ece)               \
	CALL(ibv_set_ece, ece)                 \
	CALL(mlx5dv_create_qp, dc)             \
	CALL(ibv_create_srq, dc)               \
	CALL(ibv_open_xrcd, xrc)               \
	CALL(ibv_create_srq_ex, xrc)           \
	CALL(ibv_post_srq_recv, xrc)           \
	CALL(ibv_destroy_srq, end_xrc)         \
	CALL(ibv_close_xrcd, end_xrc)          \
	CALL(ibv_alloc_dmah, tph)              \
	CALL(ibv_reg_mr_ex, tph)               \
	CALL(ibv_dealloc_dmah, end_tph)        \
	CALL(ibv_create_ah, ud)                \
	CALL(ibv_post_send, post)              \
	CALL(ibv_wr_complete, wr)              \
	CALL(ibv_post_recv, receive)           \
	CALL(ibv_poll_cq, run)                 \
	CALL(ibv_req_notify_cq, events)        \
	CALL(ibv_get_cq_event, events)         \
	CALL(ibv_destroy_ah, end_ud)           \
	CALL(ibv_destroy_qp, end)              \
	CALL(ibv_destroy_cq, end)              \
	CALL(ibv_destroy_comp_channel, end_events) \
	CALL(ibv_dereg_mr, end)                \
	CALL(ibv_dealloc_pd, end)              \
	CALL(ibv_close_device, end)            \
	CALL(rdma_create_event_channel, cm)    \
	CALL(rdma_create_id, cm)               \
	CALL(rdma_bind_addr, cm_passive)       \
	CALL(rdma_listen, cm_passive)          \
	CALL(rdma_set_option, cm_active)       \
	CALL(rdma_resolve_addr, cm_active)     \
	CALL(rdma_resolve_route, cm_active)    \
	CALL(rdma_connect, cm_active)          \
	CALL(rdma_get_cm_event, cm)            \
	CALL(rdma_init_qp_attr, cm)            \
	CALL(rdma_accept, cm_passive)          \
	CALL(rdma_establish, cm_active)        \
	CALL(rdma_reject, never)               \
	CALL(rdma_ack_cm_event, end_cm)        \
	CALL(rdma_destroy_id, end_cm)
/* clang-format on */

#define DOUBLE_CALL_ENUM(name, when) CALL_##name,
enum call { DOUBLE_CALLS(DOUBLE_CALL_ENUM) CALL_COUNT };

#endif
