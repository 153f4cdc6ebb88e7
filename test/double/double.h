/* What the files of the stand-in RDMA device share: configuration, the fabric in shared memory, and local objects. */
#ifndef DOUBLE_DOUBLE_H
#define DOUBLE_DOUBLE_H

#include "calls.h"
#include "pacer.h"

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Only the names of libibverbs may take the place of others in the program. */
#pragma GCC visibility push(hidden)

#define DEVICES_MAX   8u
#define GIDS_MAX      16u
#define SGE_MAX       4u
#define FAULTS_MAX    64u
#define GRH_BYTES     40u
#define QPT_DC_TARGET ((enum ibv_qp_type)0xfe) /* in the fabric; a DC initiator is there IBV_QPT_DRIVER */
#define SECOND        INT64_C(1000000000)

/* --- config.c: FABPERF_DOUBLE, read once --- */

enum fault_kind {
	FAULT_FAIL,
	FAULT_SLOW,
	FAULT_STATUS,
	FAULT_RECV_STATUS,
	FAULT_FLIP,
	FAULT_DROP,
	FAULT_DUP,
	FAULT_DELAY
};

struct fault {
	enum fault_kind kind;
	enum call call; /* FAULT_FAIL, FAULT_SLOW */
	uint64_t nth; /* of the call or message, from 1; 0 = each */
	double share; /* FAULT_DROP: probability; 0 = the n-th */
	uint64_t value; /* errno, enum ibv_wc_status, byte, or ns */
};

/* What a connection request of rdma_cm meets. */
enum cm_fault {
	CM_FAULT_NONE,
	CM_FAULT_ADDR,
	CM_FAULT_ROUTE,
	CM_FAULT_REJECTED,
	CM_FAULT_UNREACHABLE,
	CM_FAULT_SILENT
};

/* Enhanced connection establishment: the device has none, takes what it is asked for, refuses it, or keeps a part. */
enum ece_mode { ECE_NONE, ECE_ACCEPT, ECE_REFUSE, ECE_REDUCE };

struct config {
	uint32_t devices, inline_max, max_qp, max_qp_wr, max_cqe, max_rd_atomic;
	uint32_t dm; /* bytes of memory of its own; 0 = none */
	bool atomics, infiniband, port_down, wr_api, memlock, tph, xrc, null_mr, dmabuf, data_direct, peermem;
	uint32_t pacing_min, pacing_max; /* kbit/s; 0 = no packet pacing */
	uint32_t pacing_percent; /* it paces at that much of the rate; 0: it takes the rate and does not pace */
	bool pacing_rc, pacing_bursts; /* RC, too; takes the length of a burst */
	bool pacing_uneven; /* each other queue pair at half the rate */
	bool mlx5, dc; /* a device of mlx5; with dynamically connected transport */
	enum ibv_mtu mtu;
	struct ibv_gid_entry gids[GIDS_MAX]; /* all zero: an empty entry */
	uint32_t gid_count;
	enum cm_fault cm_fault;
	enum ece_mode ece;
	uint32_t ece_options; /* offered; with ECE_REDUCE kept */
	uint64_t gone_after; /* messages; UINT64_MAX = never */
	struct fault faults[FAULTS_MAX];
	uint32_t fault_count;
};

extern const struct config *const config;
extern const char *const call_name[]; /* by enum call */
bool config_gids(struct config *to, const char *text); /* "v2/10.0.0.1+-+v1/fe80::1" (gids.c) */

/* --- fault.c: which call or message is hit; counts both --- */

int fails(enum call call); /* the errno it must fail with, or 0; also waits when it must be slow */
void fails_not(bool now); /* until told otherwise this thread's calls neither fail nor count: the stand-in's own */
void *fails_pointer(int code); /* sets errno, returns NULL */
int fails_to_end(enum call call, const void *object); /* as fails; an object that must stay is no leak */
int fails_busy(const void *object); /* EBUSY: it is in use and stays */
void fault_calls(FILE *to); /* how often each call was made: "ibv_open_device": 1, ... */
uint64_t fault_message(void); /* number of the next message that this process sends, from 1 */
const struct fault *fault_find(enum fault_kind kind, uint64_t number); /* NULL: unharmed */
bool fault_gone(uint64_t number);
uint64_t fault_received(void); /* number of the next receive completion */

/* --- count.c: what happened, written as JSON into the fabric's folder when a device is closed --- */

enum count {
	COUNT_SENT, /* messages that completed well */
	COUNT_DROPPED, /* lost on purpose */
	COUNT_UNRECEIVED, /* no receive was posted, or nobody was there */
	COUNT_DUPLICATED,
	COUNT_FLIPPED,
	COUNT_DELAYED,
	COUNT_DELIVERED, /* reached the peer's memory or receive queue */
	COUNT_RECEIVED, /* receive completions polled */
	COUNT_HINT, /* of the last registered region: core << 16 | memory << 8 | hint, + 1 */
	COUNT_PACED, /* kbit/s of the queue pair that was paced last */
	COUNT_CONTEXT, /* from here on: objects alive */
	COUNT_PD,
	COUNT_MR,
	COUNT_DM,
	COUNT_CHANNEL,
	COUNT_CQ,
	COUNT_QP,
	COUNT_AH,
	COUNT_CM_CHANNEL,
	COUNT_CM_ID,
	COUNT_DMAH,
	COUNT_XRCD,
	COUNTS,
};

void count_add(enum count what, int n);
int64_t count_of(enum count what);
void count_write(void);

/* --- fabric.c: one file mapped by every process: queue pairs, receive queues, completion queues, memory keys --- */

#define FABRIC_QPS 16384u /* powers of two: a number is generation * size + index */
#define FABRIC_MRS 16384u

struct fab_recv {
	uint64_t wr_id;
	uint32_t num_sge;
	struct ibv_sge sge[SGE_MAX];
};

struct fab_cqe {
	struct ibv_wc wc;
	uint32_t sq_end; /* sends: the queue is free up to here once polled */
	bool send;
};

struct fab_cq {
	pthread_mutex_t lock;
	uint32_t head, tail, size; /* running counts; head == tail: empty */
	bool armed, overrun;
	uint64_t owner; /* struct ibv_cq * in its process: what an event carries */
	char fifo[108]; /* of the completion channel; "" = none */
	struct fab_cqe cqe[];
};

struct fab_qp {
	pthread_mutex_t lock;
	uint32_t qpn; /* 0 = free */
	uint32_t generation;
	pid_t pid;
	uint32_t pd; /* handle */
	enum ibv_qp_type type;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	uint64_t cq; /* receives complete there: offset of a struct fab_cq */
	uint64_t rq; /* offset of struct fab_recv[rq_size] */
	uint32_t rq_size, rq_head, rq_tail;
	uint8_t gid[16]; /* of the path's own end */
	uint64_t access_key; /* of a DC target, */
	uint32_t srqn; /* and its receive queue */
};

struct fab_mr {
	uint32_t key; /* 0 = free; both lkey and rkey */
	uint32_t generation;
	pid_t pid;
	uint32_t pd;
	unsigned access;
	uint64_t addr, len; /* as work requests name it */
	uint64_t base; /* where byte addr lies in the process */
	bool null; /* what is written goes to base, of whatever offset; what is read is zero */
};

/* Where connection requests go (cm_event.c). */
#define FABRIC_PORTS      256u
#define FABRIC_FIRST_PORT 40000u
struct fab_listener {
	uint64_t id; /* 0 = free */
	uint32_t channel;
};

struct fabric {
	uint32_t version;
	pthread_mutex_t lock; /* of the tables' slots and the arena */
	pthread_mutex_t atomics; /* one atomic operation at a time */
	uint64_t used; /* bytes; what follows the tables is handed out in powers of two */
	uint64_t free[48]; /* offsets of free blocks by size's logarithm */
	uint32_t next_qp, next_mr, next_handle;
	struct fab_listener listeners[FABRIC_PORTS]; /* by port */
	struct fab_mr mrs[FABRIC_MRS];
	struct fab_qp qps[FABRIC_QPS];
};

const char *fabric_dir(void);
struct fabric *fabric_map(void); /* NULL with errno */
struct fabric *fabric(void); /* once a device is open */
void fabric_mutex(pthread_mutex_t *lock);
void fabric_lock(pthread_mutex_t *lock); /* also when its owner died */
void fabric_unlock(pthread_mutex_t *lock);
uint64_t fabric_alloc(size_t bytes); /* offset of zeroed memory; 0 = full */
void fabric_free(uint64_t offset, size_t bytes);
void *fabric_at(uint64_t offset);
uint64_t fabric_offset(const void *at);
uint32_t fabric_handle(void);
struct fab_qp *fabric_qp_new(void); /* locked; NULL: full */
struct fab_qp *fabric_qp(uint32_t qpn); /* locked; NULL: there is none */
struct fab_mr *fabric_mr_new(void); /* NULL: full */
void *fabric_place(const struct fab_mr *mr, uint64_t addr); /* of the byte that a work request names */
const struct fab_mr *fabric_mr(uint32_t key, pid_t pid, uint32_t pd, uint64_t addr, uint64_t len, unsigned access);

/* --- local objects; each begins with the structure of libibverbs --- */

struct d_device {
	struct ibv_device device;
	unsigned index;
};

struct d_pd {
	struct ibv_pd pd;
	unsigned users;
};

struct d_mr {
	struct ibv_mr mr;
	struct fab_mr *fab;
	void *mapped; /* what is to be unmapped */
	size_t mapped_len;
	struct d_dm *dm;
};

struct d_dm {
	struct ibv_dm dm;
	size_t len;
	unsigned users;
	uint8_t *data;
};

struct d_channel {
	struct ibv_comp_channel channel;
	char fifo[108];
};

struct d_cq {
	struct ibv_cq cq;
	struct fab_cq *fab;
	size_t bytes;
	unsigned users, unacked;
};

struct d_ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

/* A send work request, as both posting interfaces leave it. */
struct d_wr {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	uint32_t num_sge;
	struct ibv_sge sge[SGE_MAX];
	bool inlined; /* the payload was copied: sge[0].length bytes */
	uint64_t remote, compare_add, swap;
	uint32_t rkey, ud_qpn, ud_qkey, srqn, target;
	uint64_t access_key;
	__be32 imm;
	struct d_ah *ah;
	/* while it is being carried out */
	uint64_t number; /* 0 = not begun */
	int64_t due, unready, unreachable; /* ns; 0 = not so */
};

struct d_qp {
	struct ibv_qp_ex ex;
	struct mlx5dv_qp_ex dci;
	struct fab_qp *fab;
	struct ibv_qp_cap cap;
	bool ops, sig_all;
	struct ibv_ece ece;
	uint64_t send_ops;
	pthread_mutex_t lock; /* of the send queue */
	struct pacer pacer;
	struct d_wr *sq;
	uint8_t *inline_data; /* cap.max_inline_data for each */
	uint32_t head, exec, done; /* running counts: posted, carried out, polled */
	uint32_t staged; /* by ibv_wr_*, not posted yet */
	int staged_error;
	bool stalled; /* in the list of pump.c */
	struct d_qp *next;
};

static inline struct d_cq *d_cq_of(struct ibv_cq *cq)
{
	return (struct d_cq *)cq;
}

static inline struct d_qp *d_qp_of(struct ibv_qp *qp)
{
	return (struct d_qp *)qp;
}

static inline struct d_pd *d_pd_of(struct ibv_pd *pd)
{
	return (struct d_pd *)pd;
}

/* --- memory.c, devmem.c --- */

struct ibv_mr *mr_new(struct ibv_pd *pd, const struct fab_mr *like, void *addr); /* NULL with errno */
struct ibv_mr *null_mr_alloc(struct ibv_pd *pd);
const uint8_t *null_zeros(void); /* as many as the longest message */
struct ibv_dm *dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int dm_free(struct ibv_dm *dm);
struct ibv_mr *dm_reg(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t len, unsigned access);

/* --- dmabuf.c --- */

bool gpu_address(const void *at);
void *gpu_view(void *at, size_t length);

/* --- cq.c --- */

int cq_poll(struct ibv_cq *cq, int max, struct ibv_wc *wc);
int cq_notify(struct ibv_cq *cq, int solicited);
void cq_push(struct fab_cq *cq, const struct fab_cqe *cqe);

/* --- qp.c, modify.c --- */

struct ibv_qp *qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);
int qp_destroy(struct ibv_qp *base);
struct d_qp *qp_local(uint32_t qpn); /* NULL: not of this process */
void qp_fail(struct fab_qp *qp); /* locked: error state, receives are flushed */

/* --- xrc.c, srq.c --- */

struct ibv_xrcd *xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int xrcd_close(struct ibv_xrcd *base);
void xrc_complete_init(struct ibv_qp_init_attr_ex *init); /* with what its kind of queue pair has from its domain */
struct ibv_srq *srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
uint32_t srq_serve(struct ibv_srq *base, struct ibv_cq *cq); /* its receives complete there; its number */
int srq_number(struct ibv_srq *base, uint32_t *ret);
int srq_post(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* --- post.c, wr.c: the posting interfaces --- */

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int post_state(const struct d_qp *qp); /* an errno when the queue pair cannot send */
struct d_wr *post_slot(struct d_qp *qp); /* the next free one, cleared; NULL: full */
int post_inline(struct d_qp *qp, struct d_wr *wr, const struct ibv_sge *from, size_t n);
void wr_setup(struct d_qp *qp);
struct d_wr *wr_current(struct d_qp *qp); /* of the ibv_wr_* calls; NULL after a mistake */

/* --- send.c: carries work requests out; wire.c: one message's arrival at the peer --- */

#define WIRE_WAIT        (-1) /* no receive is posted */
#define WIRE_UNREACHABLE (-2)

struct packet {
	enum ibv_wr_opcode opcode;
	enum ibv_qp_type type;
	uint32_t src_qpn, src_psn, dest_qpn, qkey, rkey, srqn;
	uint64_t access_key;
	enum ibv_mtu mtu;
	uint8_t dgid[16];
	bool grh;
	uint64_t remote, compare_add, swap;
	__be32 imm;
	uint32_t len; /* payload, bytes */
	struct iovec iov[SGE_MAX + 1];
	unsigned iov_count;
};

int wire_deliver(const struct packet *packet); /* an ibv_wc_status or WIRE_... */
void send_run(struct d_qp *qp); /* lock held: carries out what can be */
bool send_stalls(const struct d_qp *qp);

/* --- pump.c: carries on what had to wait --- */

int64_t now_ns(void);
void pump_add(struct d_qp *qp); /* its lock held */
void pump_remove(struct d_qp *qp);
void pump_late(const struct packet *packet, int64_t due); /* copied; delivered then */
void pump_poll(void); /* a turn of what waits, if anything */

#pragma GCC visibility pop

#endif
