/* Carries out the work requests of a send queue in order: local checks, faults, delivery, retries and completions. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNREACHABLE_MOST_NS (SECOND * 9 / 10)

static bool reads(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Where the bytes of an element are; NULL: the device may not touch them. */
static void *local_place(const struct d_wr *wr, const struct ibv_sge *sge, uint32_t pd, unsigned access)
{
	const struct fab_mr *mr;

	if (wr->inlined || !sge->length)
		return (void *)(uintptr_t)sge->addr;
	mr = fabric_mr(sge->lkey, getpid(), pd, sge->addr, sge->length, access);
	if (mr && mr->null && !reads(wr->opcode))
		return (void *)(uintptr_t)null_zeros();
	return mr ? fabric_place(mr, sge->addr) : NULL;
}

/* The local side of the transfer: an ibv_wc_status. */
static int gather(const struct d_qp *qp, const struct d_wr *wr, struct packet *packet)
{
	unsigned access = reads(wr->opcode) ? IBV_ACCESS_LOCAL_WRITE : 0;
	uint32_t pd = qp->ex.qp_base.pd->handle;

	for (uint32_t i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sge[i];
		void *at = local_place(wr, sge, pd, access);

		if (!at && sge->length)
			return IBV_WC_LOC_PROT_ERR;
		packet->iov[packet->iov_count++] = (struct iovec){ .iov_base = at, .iov_len = sge->length };
		packet->len += sge->length;
	}
	if (qp->fab->type == IBV_QPT_UD && packet->len > 128u << config->mtu)
		return IBV_WC_LOC_LEN_ERR;
	return IBV_WC_SUCCESS;
}

static int address(const struct d_qp *qp, const struct d_wr *wr, struct packet *packet)
{
	const struct ibv_qp_attr *attr = &qp->fab->attr;
	bool ud = qp->fab->type == IBV_QPT_UD, dc = qp->fab->type == IBV_QPT_DRIVER;
	const struct ibv_ah_attr *av = wr->ah ? &wr->ah->attr : &attr->ah_attr;

	if ((ud || dc) && !wr->ah)
		return IBV_WC_LOC_QP_OP_ERR;
	*packet = (struct packet){
		.opcode = wr->opcode,
		.type = qp->fab->type,
		.src_qpn = qp->fab->qpn,
		.src_psn = attr->sq_psn,
		.dest_qpn = ud   ? wr->ud_qpn
			    : dc ? wr->target
				 : attr->dest_qp_num,
		.qkey = wr->ud_qkey,
		.mtu = attr->path_mtu,
		.grh = av->is_global,
		.remote = wr->remote,
		.rkey = wr->rkey,
		.srqn = wr->srqn,
		.access_key = wr->access_key,
		.compare_add = wr->compare_add,
		.swap = wr->swap,
		.imm = wr->imm,
	};
	memcpy(packet->dgid, av->grh.dgid.raw, sizeof(packet->dgid));
	return gather(qp, wr, packet);
}

/* A copy of the payload with one bit of one byte turned round; the position is taken modulo the length. */
static int deliver_flipped(const struct packet *packet, uint64_t byte)
{
	struct packet copy = *packet;
	uint8_t *data = malloc(packet->len), *to = data;
	int status;

	if (!data)
		return IBV_WC_LOC_QP_OP_ERR;
	for (unsigned i = 0; i < packet->iov_count; i++)
		to = (uint8_t *)mempcpy(to, packet->iov[i].iov_base, packet->iov[i].iov_len);
	data[byte % packet->len] ^= 1;
	copy.iov[0] = (struct iovec){ .iov_base = data, .iov_len = packet->len };
	copy.iov_count = 1;
	status = wire_deliver(&copy);
	free(data);
	if (status == IBV_WC_SUCCESS)
		count_add(COUNT_FLIPPED, 1);
	return status;
}

/* UC and UD: the sender never learns what became of it. */
static int deliver_unreliable(const struct packet *packet, uint64_t number)
{
	const struct fault *late = fault_find(FAULT_DELAY, number), *flip = fault_find(FAULT_FLIP, number);

	if (fault_gone(number) || fault_find(FAULT_DROP, number)) {
		count_add(COUNT_DROPPED, 1);
	} else if (late) {
		count_add(COUNT_DELAYED, 1);
		pump_late(packet, now_ns() + (int64_t)late->value);
	} else if ((flip && packet->len ? deliver_flipped(packet, flip->value) : wire_deliver(packet)) != 0) {
		count_add(COUNT_UNRECEIVED, 1);
	}
	if (fault_find(FAULT_DUP, number)) {
		count_add(COUNT_DUPLICATED, 1);
		if (wire_deliver(packet) != 0)
			count_add(COUNT_UNRECEIVED, 1);
	}
	return IBV_WC_SUCCESS;
}

/* What a receiver that is not ready asks for, by its code: 0 is the longest; each second code doubles from 0.01 ms. */
static int64_t rnr_timer_ns(uint8_t code)
{
	static const int32_t units[] = { 65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
					 48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
					 2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

	return units[code & 31] * INT64_C(10000);
}

/* Not ready, or not there: for how long yet, then with which status. */
static int retry(const struct d_qp *qp, struct d_wr *wr, int status)
{
	const struct ibv_qp_attr *attr = &qp->fab->attr;
	int64_t now = now_ns(), *since = status == WIRE_WAIT ? &wr->unready : &wr->unreachable, limit;

	if (!*since)
		*since = now;
	if (status == WIRE_WAIT) {
		wr->unreachable = 0;
		if (attr->rnr_retry == 7)
			return WIRE_WAIT;
		limit = rnr_timer_ns(attr->min_rnr_timer) * (attr->rnr_retry + 1);
		return now - *since < limit ? WIRE_WAIT : IBV_WC_RNR_RETRY_EXC_ERR;
	}
	limit = (INT64_C(4096) << attr->timeout) * (attr->retry_cnt + 1);
	limit = limit < UNREACHABLE_MOST_NS ? limit : UNREACHABLE_MOST_NS;
	return !attr->timeout || now - *since < limit ? WIRE_WAIT : IBV_WC_RETRY_EXC_ERR;
}

static int deliver_reliable(const struct d_qp *qp, struct d_wr *wr, const struct packet *packet)
{
	const struct fault *late = fault_find(FAULT_DELAY, wr->number), *flip = fault_find(FAULT_FLIP, wr->number);
	int status;

	if (late && !wr->due) {
		wr->due = now_ns() + (int64_t)late->value;
		count_add(COUNT_DELAYED, 1);
	}
	if (wr->due && now_ns() < wr->due)
		return WIRE_WAIT;
	if (fault_gone(wr->number))
		status = WIRE_UNREACHABLE;
	else if (flip && packet->len && !reads(packet->opcode))
		status = deliver_flipped(packet, flip->value);
	else
		status = wire_deliver(packet);
	return status < 0 ? retry(qp, wr, status) : status;
}

static int carry_out(const struct d_qp *qp, struct d_wr *wr, struct packet *packet)
{
	const struct fault *fault;
	int status;

	if (qp->fab->state == IBV_QPS_ERR)
		return IBV_WC_WR_FLUSH_ERR;
	if (!wr->number)
		wr->number = fault_message();
	fault = fault_find(FAULT_STATUS, wr->number);
	if (fault)
		return (int)fault->value;
	status = address(qp, wr, packet);
	if (status)
		return status;
	if (qp->fab->type != IBV_QPT_UC && qp->fab->type != IBV_QPT_UD)
		return deliver_reliable(qp, wr, packet);
	return deliver_unreliable(packet, wr->number);
}

static enum ibv_wc_opcode completed(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return IBV_WC_SEND;
	default:
		return IBV_WC_RDMA_WRITE;
	}
}

static void complete(struct d_qp *qp, const struct d_wr *wr, int status, uint32_t len)
{
	struct fab_cqe cqe = {
		.wc = {
			.wr_id = wr->wr_id,
			.status = (enum ibv_wc_status)status,
			.opcode = completed(wr->opcode),
			.byte_len = reads(wr->opcode) ? len : 0,
			.qp_num = qp->fab->qpn,
		},
		.send = true,
	};

	cqe.sq_end = ++qp->exec;
	if (status == IBV_WC_SUCCESS)
		count_add(COUNT_SENT, 1);
	if (status || qp->sig_all || wr->flags & IBV_SEND_SIGNALED)
		cq_push(d_cq_of(qp->ex.qp_base.send_cq)->fab, &cqe);
	if (status && status != IBV_WC_WR_FLUSH_ERR) {
		fabric_lock(&qp->fab->lock);
		qp_fail(qp->fab);
		fabric_unlock(&qp->fab->lock);
	}
}

bool send_stalls(const struct d_qp *qp)
{
	return qp->exec != qp->head;
}

void send_run(struct d_qp *qp)
{
	while (send_stalls(qp)) {
		struct d_wr *wr = &qp->sq[qp->exec % qp->cap.max_send_wr];
		struct packet packet = { 0 };
		int status;

		if (qp->fab->state != IBV_QPS_ERR && pacer_holds(qp))
			return;
		status = carry_out(qp, wr, &packet);
		if (status < 0)
			return;
		complete(qp, wr, status, packet.len);
		pacer_left(qp, packet.len);
	}
}
