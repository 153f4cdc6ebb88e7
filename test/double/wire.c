/* One message arrives: finds its queue pair, checks what a device checks, moves the bytes between the two processes. */
#include "double.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* 0, or the errno of process_vm_*; a process that ended meanwhile is ESRCH. */
static int move(bool into, pid_t pid, const struct iovec *local, unsigned locals, const struct iovec *remote,
		unsigned remotes, size_t len)
{
	ssize_t n;

	if (!len)
		return 0;
	n = into ? process_vm_writev(pid, local, locals, remote, remotes, 0)
		 : process_vm_readv(pid, local, locals, remote, remotes, 0);
	if (n < 0)
		return errno;
	return (size_t)n == len ? 0 : EFAULT;
}

static int moved(int code, int otherwise)
{
	return code == ESRCH ? WIRE_UNREACHABLE : code ? otherwise : IBV_WC_SUCCESS;
}

static enum ibv_qp_type receiver_of(enum ibv_qp_type sender)
{
	switch (sender) {
	case IBV_QPT_XRC_SEND:
		return IBV_QPT_XRC_RECV;
	case IBV_QPT_DRIVER:
		return QPT_DC_TARGET;
	default:
		return sender;
	}
}

static bool connected(const struct fab_qp *dest, const struct packet *p)
{
	if (dest->type != receiver_of(p->type) || (dest->state != IBV_QPS_RTR && dest->state != IBV_QPS_RTS))
		return false;
	if (p->type == IBV_QPT_UD)
		return dest->attr.qkey == p->qkey && p->len <= 128u << config->mtu;
	if (p->grh && memcmp(dest->gid, p->dgid, sizeof(dest->gid)) != 0)
		return false;
	if (p->type == IBV_QPT_DRIVER)
		return dest->access_key == p->access_key && dest->attr.path_mtu == p->mtu;
	return dest->attr.dest_qp_num == p->src_qpn && dest->attr.rq_psn == p->src_psn && dest->attr.path_mtu == p->mtu;
}

static unsigned access_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return IBV_ACCESS_REMOTE_WRITE;
	}
}

/* A message without payload names no memory. *ret: where in the other process its bytes belong. */
static bool permitted(const struct fab_qp *dest, const struct packet *p, void **ret)
{
	unsigned access = access_of(p->opcode);
	const struct fab_mr *mr;

	*ret = NULL;
	if (!p->len)
		return true;
	mr = fabric_mr(p->rkey, dest->pid, dest->pd, p->remote, p->len, access);
	if (!mr || mr->null || !(dest->attr.qp_access_flags & access))
		return false;
	*ret = fabric_place(mr, p->remote);
	return true;
}

static int deliver_atomic(const struct fab_qp *dest, const struct packet *p, void *place)
{
	uint64_t old = 0, new;
	struct iovec here = { .iov_base = &old, .iov_len = sizeof(old) };
	struct iovec there = { .iov_base = place, .iov_len = sizeof(old) };
	bool swap = p->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	int code;

	if (p->len != sizeof(old) || p->remote % sizeof(old) || p->iov_count != 1)
		return IBV_WC_REM_INV_REQ_ERR;
	fabric_lock(&fabric()->atomics);
	code = move(false, dest->pid, &here, 1, &there, 1, sizeof(old));
	new = swap ? (old == p->compare_add ? p->swap : old) : old + p->compare_add;
	here.iov_base = &new;
	if (!code)
		code = move(true, dest->pid, &here, 1, &there, 1, sizeof(new));
	fabric_unlock(&fabric()->atomics);
	if (!code)
		memcpy(p->iov[0].iov_base, &old, sizeof(old));
	return moved(code, IBV_WC_REM_ACCESS_ERR);
}

static int deliver_one_sided(const struct fab_qp *dest, const struct packet *p)
{
	struct iovec there = { .iov_len = p->len };
	bool into = p->opcode != IBV_WR_RDMA_READ;

	if (!permitted(dest, p, &there.iov_base))
		return IBV_WC_REM_ACCESS_ERR;
	if (access_of(p->opcode) == IBV_ACCESS_REMOTE_ATOMIC)
		return deliver_atomic(dest, p, there.iov_base);
	return moved(move(into, dest->pid, p->iov, p->iov_count, &there, 1, p->len), IBV_WC_REM_ACCESS_ERR);
}

/* Into the memory of the receive: an ibv_wc_status of the receiver's, or WIRE_UNREACHABLE. */
static int scatter(const struct fab_qp *dest, const struct fab_recv *recv, const struct packet *p)
{
	static const uint8_t header[GRH_BYTES] = { 0x60 };
	bool ud = p->type == IBV_QPT_UD;
	size_t len = p->len + (ud ? GRH_BYTES : 0), room = 0;
	struct iovec from[SGE_MAX + 2], to[SGE_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < recv->num_sge; i++) {
		const struct ibv_sge *sge = &recv->sge[i];
		const struct fab_mr *mr =
			fabric_mr(sge->lkey, dest->pid, dest->pd, sge->addr, sge->length, IBV_ACCESS_LOCAL_WRITE);

		if (sge->length && !mr)
			return IBV_WC_LOC_PROT_ERR;
		to[i] = (struct iovec){ .iov_base = mr ? fabric_place(mr, sge->addr) : NULL, .iov_len = sge->length };
		room += sge->length;
	}
	if (room < len)
		return IBV_WC_LOC_LEN_ERR;
	if (ud)
		from[count++] = (struct iovec){ .iov_base = (void *)(uintptr_t)header, .iov_len = GRH_BYTES };
	memcpy(from + count, p->iov, p->iov_count * sizeof(*from));
	count += p->iov_count;
	return moved(move(true, dest->pid, from, count, to, recv->num_sge, len), IBV_WC_LOC_PROT_ERR);
}

static void received(struct fab_qp *dest, const struct fab_recv *recv, const struct packet *p, int status)
{
	bool write = p->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool imm = write || p->opcode == IBV_WR_SEND_WITH_IMM, ud = p->type == IBV_QPT_UD;
	struct fab_cqe cqe = {
		.wc = {
			.wr_id = recv->wr_id,
			.status = (enum ibv_wc_status)status,
			.opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
			.byte_len = p->len + (ud ? GRH_BYTES : 0),
			.imm_data = imm ? p->imm : 0,
			.qp_num = dest->qpn,
			.src_qp = p->src_qpn,
			.wc_flags = (imm ? IBV_WC_WITH_IMM : 0) | (ud ? IBV_WC_GRH : 0),
		},
	};

	dest->rq_tail++;
	cq_push(fabric_at(dest->cq), &cqe);
}

/* What the sender learns of the receiver's trouble. */
static int told(int status)
{
	return status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : status > 0 ? IBV_WC_REM_OP_ERR : status;
}

static int deliver_two_sided(struct fab_qp *dest, const struct packet *p)
{
	const struct fab_recv *rq = fabric_at(dest->rq), *recv;
	bool write = p->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	int status;

	if (kill(dest->pid, 0) && errno == ESRCH)
		return WIRE_UNREACHABLE;
	if (dest->rq_head == dest->rq_tail)
		return WIRE_WAIT;
	recv = &rq[dest->rq_tail % dest->rq_size];
	status = write ? deliver_one_sided(dest, p) : scatter(dest, recv, p);
	if (status < 0 || (write && status))
		return status;
	received(dest, recv, p, status);
	if (status && p->type == IBV_QPT_RC)
		qp_fail(dest);
	return told(status);
}

/* Receives, keys and the process are those of the receive queue, the message's (XRC) or the target's; the rights the queue pair's. */
static int deliver_to_queue(const struct fab_qp *target, const struct packet *p, bool one_sided)
{
	struct fab_qp *queue = fabric_qp(p->type == IBV_QPT_DRIVER ? target->srqn : p->srqn);
	int status;

	if (!queue || queue->pid != target->pid) {
		if (queue)
			fabric_unlock(&queue->lock);
		return IBV_WC_REM_INV_REQ_ERR;
	}
	queue->attr.qp_access_flags = target->attr.qp_access_flags;
	status = one_sided ? deliver_one_sided(queue, p) : deliver_two_sided(queue, p);
	fabric_unlock(&queue->lock);
	return status;
}

static int deliver(struct fab_qp *dest, const struct packet *p, bool one_sided)
{
	if (p->type == IBV_QPT_XRC_SEND || p->type == IBV_QPT_DRIVER)
		return deliver_to_queue(dest, p, one_sided);
	return one_sided ? deliver_one_sided(dest, p) : deliver_two_sided(dest, p);
}

int wire_deliver(const struct packet *p)
{
	struct fab_qp *dest = fabric_qp(p->dest_qpn);
	bool one_sided = p->opcode == IBV_WR_RDMA_WRITE || p->opcode == IBV_WR_RDMA_READ ||
			 access_of(p->opcode) == IBV_ACCESS_REMOTE_ATOMIC;
	int status = WIRE_UNREACHABLE;

	if (!dest)
		return WIRE_UNREACHABLE;
	if (connected(dest, p))
		status = deliver(dest, p, one_sided);
	if (status == IBV_WC_REM_ACCESS_ERR && (p->type == IBV_QPT_RC || p->type == IBV_QPT_XRC_SEND))
		qp_fail(dest);
	fabric_unlock(&dest->lock);
	if (status == IBV_WC_SUCCESS)
		count_add(COUNT_DELIVERED, 1);
	return status;
}
