/* Asks the first RDMA device for its packet pacing, then for one rate (kbit/s) after another; prints each answer. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_qp *ready(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return NULL;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		return NULL;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) ? NULL : qp;
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = pd ? ibv_create_cq(context, 2, NULL, NULL, 0) : NULL;
	struct ibv_qp *qp = cq ? ready(pd, cq) : NULL;
	struct ibv_device_attr_ex device;

	if (!qp || ibv_query_device_ex(context, NULL, &device))
		return 1;
	printf("%u-%u\n", device.packet_pacing_caps.qp_rate_limit_min, device.packet_pacing_caps.qp_rate_limit_max);
	for (int i = 1; i < argc; i++) {
		struct ibv_qp_rate_limit_attr attr = { .rate_limit = (uint32_t)strtoul(argv[i], NULL, 10) };

		printf("%s: %s\n", argv[i], strerror(ibv_modify_qp_rate_limit(qp, &attr)));
	}
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}
