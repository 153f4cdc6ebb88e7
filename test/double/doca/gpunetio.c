/* Stands in for the GPUNetIO plug-in and its library: a thread of this host posts and polls on the stand-in device, as a GPU's would. */
#include "doca.h"

#include "driver/gpunetio.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const bool has_atomic_mode = false;

struct gpunetio_gpu {
	int number;
};

struct gpunetio_qp {
	struct doca_verbs_qp qp;
	struct ibv_cq *cq;
	struct gpunetio_work work;
	struct gpunetio_box box;
	volatile uint8_t *mine, *watched; /* of a ping-pong: last bytes of what it sends, of what it gets */
	uint8_t number;
	pthread_t thread;
	bool runs;
	struct ibv_wc wrong;
};

static bool post_one(struct gpunetio_qp *qp, uint64_t message)
{
	const struct gpunetio_work *work = &qp->work;
	struct ibv_sge sge = { .addr = work->local + message % work->local_slots * work->local_stride,
			       .length = work->size,
			       .lkey = work->lkey };
	struct ibv_send_wr *bad,
		wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = work->remote + message % work->remote_slots * work->remote_stride;
	wr.wr.rdma.rkey = work->rkey;
	return ibv_post_send(qp->qp.verbs, &wr, &bad) == 0;
}

static bool goes_on(const struct gpunetio_qp *qp)
{
	return !__atomic_load_n(&qp->box.stop, __ATOMIC_ACQUIRE) && !qp->box.failed;
}

/* Whether all that was posted is done; an error is told. A GPU has processors of its own: here the others take turns. */
static bool is_done(struct gpunetio_qp *qp, uint64_t posted, uint64_t *done)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(qp->cq, 1, &wc) == 1) {
		if (wc.status != IBV_WC_SUCCESS) {
			qp->wrong = qp->box.failed ? qp->wrong : wc; /* others are flushed behind the first */
			__atomic_store_n(&qp->box.failed, 1, __ATOMIC_RELEASE);
		} else {
			__atomic_store_n(&qp->box.done, ++*done, __ATOMIC_RELEASE);
		}
	}
	if (*done != posted)
		sched_yield();
	return *done == posted;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Whether there is something to send; until there is, or the end. */
static bool await_turn(struct gpunetio_qp *qp, uint64_t posted)
{
	uint64_t done = posted;

	if (qp->work.part == GPUNETIO_ASKS) {
		while (goes_on(qp) && __atomic_load_n(&qp->box.target, __ATOMIC_ACQUIRE) == posted)
			sched_yield();
		qp->number++;
	} else {
		while (goes_on(qp) && *qp->watched == qp->number) {
			is_done(qp, posted, &done);
			sched_yield();
		}
		qp->number = *qp->watched;
	}
	return goes_on(qp);
}

static void *ping_pong(void *arg)
{
	struct gpunetio_qp *qp = arg;
	uint64_t posted = 0, done = 0;

	*qp->watched = 0;
	__atomic_store_n(&qp->box.tick, 7, __ATOMIC_RELEASE);
	while (await_turn(qp, posted)) {
		const uint64_t begin = now();

		*qp->mine = qp->number;
		if (qp->work.part ==
		    GPUNETIO_ANSWERS) /* told before the other side is done, however busy this host is */
			__atomic_store_n(&qp->box.trips, posted + 1, __ATOMIC_RELEASE);
		if (!post_one(qp, posted++))
			abort();
		while (qp->work.part == GPUNETIO_ASKS && goes_on(qp) && *qp->watched != qp->number)
			is_done(qp, posted, &done);
		qp->box.took = now() - begin;
		if (goes_on(qp))
			__atomic_store_n(&qp->box.trips, posted, __ATOMIC_RELEASE);
		while (goes_on(qp) && !is_done(qp, posted, &done))
			;
	}
	return NULL;
}

static void *drive(void *arg)
{
	struct gpunetio_qp *qp = arg;
	uint64_t posted = 0, done = 0;

	while (goes_on(qp)) {
		const uint64_t target = __atomic_load_n(&qp->box.target, __ATOMIC_ACQUIRE);

		while (posted < target && posted - done < qp->work.depth && post_one(qp, posted))
			posted++;
		is_done(qp, posted, &done);
	}
	return NULL;
}

static int planted_why(const char *call, char *why)
{
	int code = planted(call);

	if (code)
		snprintf(why, GPUNETIO_WHY, "%s: planted", call);
	return -code;
}

static int plugin_open(int number, struct gpunetio_gpu **ret, char why[GPUNETIO_WHY])
{
	int rc = planted_why("gpu_open", why);

	if (rc)
		return rc;
	*ret = made(CONTEXT, sizeof(**ret));
	(*ret)->number = number;
	return 0;
}

static void plugin_close(struct gpunetio_gpu *gpu)
{
	if (gpu)
		gone(CONTEXT, gpu);
}

static int qp_open(struct gpunetio_gpu *gpu, struct ibv_pd *pd, uint32_t depth, struct gpunetio_qp **ret,
		   struct doca_verbs_qp **handle, char why[GPUNETIO_WHY])
{
	struct ibv_qp_init_attr init = { .cap = { depth, 0, 1, 0, 0 }, .qp_type = IBV_QPT_RC };
	struct gpunetio_qp *qp;
	int rc = planted_why("gpu_qp_open", why);

	(void)gpu;
	if (rc)
		return rc;
	qp = aligned_alloc(64, sizeof(*qp));
	memset(qp, 0, sizeof(*qp));
	qp->cq = ibv_create_cq(pd->context, (int)depth, NULL, NULL, 0);
	init.send_cq = init.recv_cq = qp->cq;
	qp->qp.verbs = ibv_create_qp(pd, &init);
	if (!qp->qp.verbs)
		return -ENOMEM;
	*ret = qp;
	*handle = &qp->qp;
	return 0;
}

static void stop(struct gpunetio_qp *qp)
{
	if (!qp->runs)
		return;
	__atomic_store_n(&qp->box.stop, 1, __ATOMIC_RELEASE);
	pthread_join(qp->thread, NULL);
	qp->runs = false;
	counted("send", (int)qp->box.done);
}

/* The address as a GPU sees it: of the stand-in libcuda, which is open by now. */
static volatile uint8_t *view(uint64_t at)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *symbol = dlsym(cuda, "double_cuda_view");
	uint8_t *(*call)(uint64_t at);

	memcpy(&call, &symbol, sizeof(call));
	dlclose(cuda);
	return call(at);
}

static int qp_start(struct gpunetio_qp *qp, const struct gpunetio_work *work, struct gpunetio_box **ret,
		    char why[GPUNETIO_WHY])
{
	int rc = planted_why("gpu_qp_start", why);

	if (rc)
		return rc;
	stop(qp);
	memset(&qp->box, 0, sizeof(qp->box));
	qp->work = *work;
	qp->number = 0;
	if (work->part != GPUNETIO_WRITES) {
		qp->mine = view(work->local + work->size - 1);
		qp->watched = view(work->watched);
	}
	qp->runs = pthread_create(&qp->thread, NULL, work->part == GPUNETIO_WRITES ? drive : ping_pong, qp) == 0;
	*ret = &qp->box;
	return 0;
}

static int qp_status(struct gpunetio_qp *qp, uint32_t *vendor)
{
	*vendor = qp->wrong.vendor_err;
	return (int)qp->wrong.status;
}

static void qp_close(struct gpunetio_qp *qp)
{
	if (!qp)
		return;
	stop(qp);
	ibv_destroy_qp(qp->qp.verbs);
	ibv_destroy_cq(qp->cq);
	free(qp);
}

EXPORT const struct gpunetio fabperf_gpunetio = {
	.version = GPUNETIO_VERSION,
	.open = plugin_open,
	.close = plugin_close,
	.qp_open = qp_open,
	.qp_start = qp_start,
	.qp_status = qp_status,
	.qp_close = qp_close,
};

EXPORT uint32_t doca_verbs_qp_get_qpn(const struct doca_verbs_qp *qp)
{
	return qp->verbs->qp_num;
}

/* The open library's context is that of verbs. */
EXPORT int doca_verbs_ah_attr_create(struct ibv_context *context, struct doca_verbs_ah_attr **ret)
{
	ENTER;
	*ret = made(ATTR, sizeof(**ret));
	(*ret)->verbs = context;
	return 0;
}
