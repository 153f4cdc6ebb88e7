/* One end of a qperf RDMA test: device, queue pair, memory, and how the two ends are joined. */
#ifndef QPERF_RDMA_H
#define QPERF_RDMA_H

#include "qperf/run.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define GRH_BYTES  40 /* in front of every UD payload that arrives */
#define NODE_BYTES 40 /* 36 and 4 of padding */

/* What an end tells the other one: qperf's fields, and what RoCE needs between two of these programs. */
struct qperf_node {
	uint64_t vaddr;
	uint32_t lid, qpn, psn, srqn, rkey, alt_lid, rd_atomic;
	bool is_ours; /* what follows was told, too */
	uint8_t gid[16];
	uint32_t sender; /* queue pair that messages come from; XRC: not qpn, which they go to */
};

/* What a work request of the test does, and the course of the test. */
enum qperf_op { OP_SEND, OP_WRITE_IMM, OP_WRITE, OP_READ, OP_SWAP, OP_ADD };
enum qperf_course {
	COURSE_STREAM, /* client to server */
	COURSE_BOTH, /* both ways at once */
	COURSE_PINGPONG,
	COURSE_POLL, /* ping-pong of writes, memory polled */
	COURSE_ALONE, /* the server's processor has no part in it, many at once */
	COURSE_ALONE_ONE, /* the same, one at a time */
	COURSE_VERIFY, /* atomics, every value checked */
};
struct qperf_rdma_test {
	const char *name;
	enum ibv_qp_type type;
	enum qperf_op op;
	enum qperf_course course;
};
const struct qperf_rdma_test *qperf_rdma_find(const char *name);

struct qperf_rdma {
	struct qperf_run *run;
	const struct qperf_rdma_test *test;
	struct ibv_context *context;
	struct ibv_device_attr dev;
	struct ibv_port_attr attr;
	uint8_t port;
	struct ibv_gid_entry gid;
	bool grh; /* packets carry a global routing header */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /* XRC: only sends */
	struct ibv_xrcd *xrcd; /* XRC, as the next three */
	struct ibv_srq *srq;
	uint32_t srqn;
	struct ibv_qp *target; /* only receives */
	struct ibv_ah *ah; /* UD */
	struct ibv_mr *mr;
	uint8_t *buf; /* receives (UD: behind the header's place), and what is sent */
	size_t bytes;
	uint32_t size, tx_depth, rx_depth, inline_max;
	struct qperf_node own, peer;

	/* By the connection manager */
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener, *id;
};

/* Where a message's payload is. */
static inline uint8_t *qperf_rdma_data(const struct qperf_rdma *r)
{
	return r->buf + (r->test->type == IBV_QPT_UD ? GRH_BYTES : 0);
}

/* Device, memory and a connected queue pair; the receives of the test's start are posted before the peer may send. */
int qperf_rdma_open(struct qperf_rdma *r, struct error *err);
void qperf_rdma_close(struct qperf_rdma *r); /* and frees it; half-opened ones and NULL, too */

/* rdma_make.c, for the connection manager, which brings the device: everything but the connection. */
int qperf_rdma_make(struct qperf_rdma *r, struct error *err);
int qperf_rdma_fail(struct error *err, int code, const char *what);

/* rdma_cm.c: joins the ends by the connection manager, and parts them. */
int qperf_cm_join(struct qperf_rdma *r, struct error *err);
void qperf_cm_part(struct qperf_rdma *r);

/* rdma_xrc.c: an XRC test's queue pairs and receive queue; closes all but qp. */
int qperf_xrc_make(struct qperf_rdma *r, struct error *err);
void qperf_xrc_close(struct qperf_rdma *r);

/* node.c */
int qperf_node_exchange(struct qperf_rdma *r, struct error *err);

/* rdma_loops.c: post n receives; the test itself. */
int qperf_rdma_receives(struct qperf_rdma *r, uint32_t n, struct error *err);
int qperf_rdma_carry(struct qperf_rdma *r, struct error *err);

/* A whole test; run->rdma stays open. */
int qperf_rdma_run(struct qperf_run *run, struct error *err);

#endif
