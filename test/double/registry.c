/* The fabric's tables: gives out queue pair numbers and memory keys, and finds what one of them stands for. */
#include "double.h"

#include <string.h>
#include <unistd.h>

struct fab_qp *fabric_qp_new(void)
{
	struct fabric *f = fabric();
	struct fab_qp *qp = NULL;

	fabric_lock(&f->lock);
	for (uint32_t i = 0; i < FABRIC_QPS && !qp; i++) {
		struct fab_qp *at = &f->qps[f->next_qp++ % FABRIC_QPS];

		if (!at->qpn)
			qp = at;
	}
	if (qp) {
		if (!qp->generation)
			fabric_mutex(&qp->lock);
		fabric_lock(&qp->lock);
		qp->generation = qp->generation % 1023 + 1; /* numbers have 24 bits */
		qp->qpn = qp->generation * FABRIC_QPS + (uint32_t)(qp - f->qps);
		qp->pid = getpid();
		qp->state = IBV_QPS_RESET;
		memset(&qp->attr, 0, sizeof(qp->attr));
		memset(qp->gid, 0, sizeof(qp->gid));
		qp->rq_head = qp->rq_tail = 0;
	}
	fabric_unlock(&f->lock);
	return qp;
}

struct fab_qp *fabric_qp(uint32_t qpn)
{
	struct fab_qp *qp = &fabric()->qps[qpn % FABRIC_QPS];

	if (!qp->generation)
		return NULL;
	fabric_lock(&qp->lock);
	if (qp->qpn == qpn)
		return qp;
	fabric_unlock(&qp->lock);
	return NULL;
}

struct fab_mr *fabric_mr_new(void)
{
	struct fabric *f = fabric();
	struct fab_mr *mr = NULL;

	fabric_lock(&f->lock);
	for (uint32_t i = 0; i < FABRIC_MRS && !mr; i++) {
		struct fab_mr *at = &f->mrs[f->next_mr++ % FABRIC_MRS];

		if (!at->key)
			mr = at;
	}
	if (mr) {
		mr->generation = mr->generation % 262143 + 1;
		mr->pid = getpid();
		mr->key = mr->generation * FABRIC_MRS + (uint32_t)(mr - f->mrs);
	}
	fabric_unlock(&f->lock);
	return mr;
}

void *fabric_place(const struct fab_mr *mr, uint64_t addr)
{
	return (void *)(uintptr_t)(mr->null ? mr->base : mr->base + (addr - mr->addr));
}

const struct fab_mr *fabric_mr(uint32_t key, pid_t pid, uint32_t pd, uint64_t addr, uint64_t len, unsigned access)
{
	const struct fab_mr *mr = &fabric()->mrs[key % FABRIC_MRS];

	if (!key || mr->key != key || mr->pid != pid || mr->pd != pd || (mr->access & access) != access)
		return NULL;
	if (addr < mr->addr || len > mr->len || addr - mr->addr > mr->len - len)
		return NULL;
	return mr;
}
