/* What is needed of DOCA's verbs library, whose headers are NVIDIA's own: names, types and numbers, written from what is public of them. */
#ifndef DRIVER_DOCA_VERBS_H
#define DRIVER_DOCA_VERBS_H

#include <stddef.h>
#include <stdint.h>

struct ibv_context;
struct ibv_device;
struct ibv_pd;
struct ibv_recv_wr;
struct ibv_send_wr;
struct ibv_wc;

/* The library's own, which nobody else looks into. */
struct doca_verbs_context;
struct doca_verbs_pd;
struct doca_verbs_cq_attr;
struct doca_verbs_cq;
struct doca_verbs_qp_init_attr;
struct doca_verbs_qp_attr;
struct doca_verbs_qp;
struct doca_verbs_ah_attr;
struct doca_verbs_cc_group_caps;
struct doca_verbs_cc_group_attr;
struct doca_verbs_cc_group;

struct doca_verbs_gid {
	uint8_t raw[16];
};

/* doca_error_t, as far as it is told apart here. */
enum doca_code {
	DOCA_OK,
	DOCA_NOT_PERMITTED = 2,
	DOCA_IN_USE,
	DOCA_NOT_SUPPORTED,
	DOCA_AGAIN,
	DOCA_INVALID_VALUE,
	DOCA_NO_MEMORY,
	DOCA_FULL = 24,
};

enum doca_qp_type { DOCA_QP_RC, DOCA_QP_UC };
enum doca_qp_state { DOCA_QP_RST, DOCA_QP_INIT, DOCA_QP_RTR, DOCA_QP_RTS, DOCA_QP_ERR };
enum doca_addr_type { DOCA_ADDR_IPV4, DOCA_ADDR_IPV6, DOCA_ADDR_IB_GRH, DOCA_ADDR_IB_NO_GRH };
enum doca_mtu { DOCA_MTU_256, DOCA_MTU_512, DOCA_MTU_1024, DOCA_MTU_2048, DOCA_MTU_4096 };
#define DOCA_ATOMIC_NONE  0
#define DOCA_CQ_ENTRY_64  0
#define DOCA_CONTEXT_NONE 0u /* flags */

/* Attributes of a queue pair that doca_verbs_qp_modify takes. */
enum doca_qp_mask {
	DOCA_QP_REMOTE_WRITE = 1 << 0,
	DOCA_QP_REMOTE_READ = 1 << 1,
	DOCA_QP_PKEY_INDEX = 1 << 2,
	DOCA_QP_MIN_RNR_TIMER = 1 << 3,
	DOCA_QP_PORT_NUM = 1 << 4,
	DOCA_QP_NEXT_STATE = 1 << 5,
	DOCA_QP_PATH_MTU = 1 << 7,
	DOCA_QP_RQ_PSN = 1 << 8,
	DOCA_QP_SQ_PSN = 1 << 9,
	DOCA_QP_DEST_QP_NUM = 1 << 10,
	DOCA_QP_ACK_TIMEOUT = 1 << 11,
	DOCA_QP_RETRY_CNT = 1 << 12,
	DOCA_QP_RNR_RETRY = 1 << 13,
	DOCA_QP_AH_ATTR = 1 << 14,
	DOCA_QP_ATOMIC_MODE = 1 << 15,
	DOCA_QP_MAX_RD_ATOMIC = 1 << 16,
	DOCA_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	DOCA_QP_CC_GROUP = 1 << 18,
};

/* F(result, name behind "doca_", parameters). An int that is no count is a doca_error_t; those of "bridge" post and poll like verbs. */

/* What brings a queue pair to RTS: also in the open library that the GPUNetIO plug-in uses, whose context is that of verbs. */
#define DOCA_STATE_CALLS(F)                                                                                            \
	F(uint32_t, verbs_qp_get_qpn, const struct doca_verbs_qp *)                                                    \
	F(int, verbs_qp_attr_create, struct doca_verbs_qp_attr **)                                                     \
	F(int, verbs_qp_attr_set_next_state, struct doca_verbs_qp_attr *, enum doca_qp_state)                          \
	F(int, verbs_qp_attr_set_allow_remote_write, struct doca_verbs_qp_attr *, int)                                 \
	F(int, verbs_qp_attr_set_allow_remote_read, struct doca_verbs_qp_attr *, int)                                  \
	F(int, verbs_qp_attr_set_pkey_index, struct doca_verbs_qp_attr *, uint16_t)                                    \
	F(int, verbs_qp_attr_set_port_num, struct doca_verbs_qp_attr *, uint16_t)                                      \
	F(int, verbs_qp_attr_set_rq_psn, struct doca_verbs_qp_attr *, uint32_t)                                        \
	F(int, verbs_qp_attr_set_dest_qp_num, struct doca_verbs_qp_attr *, uint32_t)                                   \
	F(int, verbs_qp_attr_set_path_mtu, struct doca_verbs_qp_attr *, enum doca_mtu)                                 \
	F(int, verbs_qp_attr_set_ah_attr, struct doca_verbs_qp_attr *, struct doca_verbs_ah_attr *)                    \
	F(int, verbs_qp_attr_set_min_rnr_timer, struct doca_verbs_qp_attr *, uint16_t)                                 \
	F(int, verbs_qp_attr_set_max_dest_rd_atomic, struct doca_verbs_qp_attr *, uint8_t)                             \
	F(int, verbs_qp_attr_set_sq_psn, struct doca_verbs_qp_attr *, uint32_t)                                        \
	F(int, verbs_qp_attr_set_ack_timeout, struct doca_verbs_qp_attr *, uint16_t)                                   \
	F(int, verbs_qp_attr_set_retry_cnt, struct doca_verbs_qp_attr *, uint16_t)                                     \
	F(int, verbs_qp_attr_set_rnr_retry, struct doca_verbs_qp_attr *, uint16_t)                                     \
	F(int, verbs_qp_attr_set_max_rd_atomic, struct doca_verbs_qp_attr *, uint8_t)                                  \
	F(int, verbs_qp_attr_destroy, struct doca_verbs_qp_attr *)                                                     \
	F(int, verbs_qp_modify, struct doca_verbs_qp *, struct doca_verbs_qp_attr *, int)                              \
	F(int, verbs_ah_attr_create, struct doca_verbs_context *, struct doca_verbs_ah_attr **)                        \
	F(int, verbs_ah_attr_set_addr_type, struct doca_verbs_ah_attr *, enum doca_addr_type)                          \
	F(int, verbs_ah_attr_set_gid, struct doca_verbs_ah_attr *, struct doca_verbs_gid)                              \
	F(int, verbs_ah_attr_set_sgid_index, struct doca_verbs_ah_attr *, uint8_t)                                     \
	F(int, verbs_ah_attr_set_hop_limit, struct doca_verbs_ah_attr *, uint8_t)                                      \
	F(int, verbs_ah_attr_set_traffic_class, struct doca_verbs_ah_attr *, uint8_t)                                  \
	F(int, verbs_ah_attr_set_dlid, struct doca_verbs_ah_attr *, uint32_t)                                          \
	F(int, verbs_ah_attr_set_sl, struct doca_verbs_ah_attr *, uint8_t)                                             \
	F(int, verbs_ah_attr_destroy, struct doca_verbs_ah_attr *)

#define DOCA_VERBS_CALLS(F)                                                                                            \
	F(int, verbs_bridge_verbs_context_create, struct ibv_device *, uint32_t, struct doca_verbs_context **)         \
	F(struct ibv_context *, verbs_bridge_get_ibv_ctx, struct doca_verbs_context *)                                 \
	F(int, verbs_context_destroy, struct doca_verbs_context *)                                                     \
	F(int, verbs_pd_create, struct doca_verbs_context *, struct doca_verbs_pd **)                                  \
	F(struct ibv_pd *, verbs_bridge_verbs_pd_get_ibv_pd, const struct doca_verbs_pd *)                             \
	F(int, verbs_pd_destroy, struct doca_verbs_pd *)                                                               \
	F(int, verbs_cq_attr_create, struct doca_verbs_cq_attr **)                                                     \
	F(int, verbs_cq_attr_set_cq_size, struct doca_verbs_cq_attr *, uint32_t)                                       \
	F(int, verbs_cq_attr_set_entry_size, struct doca_verbs_cq_attr *, int)                                         \
	F(int, verbs_cq_attr_set_external_datapath_en, struct doca_verbs_cq_attr *, uint8_t)                           \
	F(int, verbs_cq_attr_destroy, struct doca_verbs_cq_attr *)                                                     \
	F(int, verbs_cq_create, struct doca_verbs_context *, struct doca_verbs_cq_attr *, struct doca_verbs_cq **)     \
	F(int, verbs_cq_destroy, struct doca_verbs_cq *)                                                               \
	F(int, verbs_qp_init_attr_create, struct doca_verbs_qp_init_attr **)                                           \
	F(int, verbs_qp_init_attr_set_pd, struct doca_verbs_qp_init_attr *, struct doca_verbs_pd *)                    \
	F(int, verbs_qp_init_attr_set_external_datapath_en, struct doca_verbs_qp_init_attr *, uint8_t)                 \
	F(int, verbs_qp_init_attr_set_max_inline_data, struct doca_verbs_qp_init_attr *, uint32_t)                     \
	F(int, verbs_qp_init_attr_set_qp_type, struct doca_verbs_qp_init_attr *, uint32_t)                             \
	F(int, verbs_qp_init_attr_set_send_cq, struct doca_verbs_qp_init_attr *, struct doca_verbs_cq *)               \
	F(int, verbs_qp_init_attr_set_sq_wr, struct doca_verbs_qp_init_attr *, uint32_t)                               \
	F(int, verbs_qp_init_attr_set_send_max_sges, struct doca_verbs_qp_init_attr *, uint32_t)                       \
	F(int, verbs_qp_init_attr_set_sq_sig_all, struct doca_verbs_qp_init_attr *, int)                               \
	F(int, verbs_qp_init_attr_set_receive_cq, struct doca_verbs_qp_init_attr *, struct doca_verbs_cq *)            \
	F(int, verbs_qp_init_attr_set_rq_wr, struct doca_verbs_qp_init_attr *, uint32_t)                               \
	F(int, verbs_qp_init_attr_set_receive_max_sges, struct doca_verbs_qp_init_attr *, uint32_t)                    \
	F(int, verbs_qp_init_attr_destroy, struct doca_verbs_qp_init_attr *)                                           \
	F(int, verbs_qp_create, struct doca_verbs_context *, struct doca_verbs_qp_init_attr *,                         \
	  struct doca_verbs_qp **)                                                                                     \
	F(int, verbs_qp_attr_set_atomic_mode, struct doca_verbs_qp_attr *, int)                                        \
	F(int, verbs_qp_destroy, struct doca_verbs_qp *)                                                               \
	F(int, verbs_bridge_post_send, struct doca_verbs_qp *, struct ibv_send_wr *, struct ibv_send_wr **)            \
	F(int, verbs_bridge_post_recv, struct doca_verbs_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **)            \
	F(int, verbs_bridge_poll_cq, struct doca_verbs_cq *, int, struct ibv_wc *)

/* Of newer versions: looked up when --cc_group_hints asks for them. */
#define DOCA_VERBS_CC_CALLS(F)                                                                                         \
	F(int, verbs_query_cc_group_caps, struct doca_verbs_context *, struct doca_verbs_cc_group_caps **)             \
	F(uint32_t, verbs_cc_group_caps_get_vendor_id, const struct doca_verbs_cc_group_caps *)                        \
	F(uint32_t, verbs_cc_group_caps_get_format_id, const struct doca_verbs_cc_group_caps *)                        \
	F(int, verbs_cc_group_caps_free, struct doca_verbs_cc_group_caps *)                                            \
	F(int, verbs_cc_group_attr_create, struct doca_verbs_cc_group_attr **)                                         \
	F(int, verbs_cc_group_attr_set_hint, struct doca_verbs_cc_group_attr *, const void *, size_t)                  \
	F(int, verbs_cc_group_attr_destroy, struct doca_verbs_cc_group_attr *)                                         \
	F(int, verbs_cc_group_create, struct doca_verbs_context *, struct doca_verbs_cc_group_attr *,                  \
	  struct doca_verbs_cc_group **)                                                                               \
	F(int, verbs_cc_group_destroy, struct doca_verbs_cc_group *)                                                   \
	F(int, verbs_qp_attr_set_cc_group, struct doca_verbs_qp_attr *, struct doca_verbs_cc_group *)

/* Of libdoca_common: for sentences and the report. */
#define DOCA_COMMON_CALLS(F)                                                                                           \
	F(const char *, error_get_name, int)                                                                           \
	F(const char *, version_runtime, void)

#define DOCA_MEMBER(result, name, ...) result (*name)(__VA_ARGS__);
struct doca_calls {
	DOCA_STATE_CALLS(DOCA_MEMBER)
	DOCA_VERBS_CALLS(DOCA_MEMBER)
	DOCA_VERBS_CC_CALLS(DOCA_MEMBER)
	DOCA_COMMON_CALLS(DOCA_MEMBER)
};

#endif
