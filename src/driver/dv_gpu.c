/* The GPUNetIO engine: a GPU posts and polls by itself; this side only says how many messages may go, and reads how many have completed. */
#include "base/clock.h"
#include "driver/dv.h"
#include "mem/mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS 5000000000LL /* a kernel that does not run by then has no room on the GPU */
#define QPS_MOST 100u /* threads that surely run side by side on one GPU: each is a kernel that does not end */

static inline struct dv_qp *dv_qp_of(struct ibv_qp *qp)
{
	return (struct dv_qp *)qp;
}

/* --- the plug-in --- */

static void not_opened(const char *path, struct error *err)
{
	const char *why = dlerror();

	why = why ? why : "no reason is given";
	if (access(path, F_OK) == 0)
		error_set(err, -ELIBACC, "--engine gpunetio cannot open %s: %s", path, why);
	else
		error_set(err, -ENOENT,
			  "--engine gpunetio needs its plug-in, built by nvcc with meson's option gpunetio, else use "
			  "--engine cpu: it is neither %s nor on the loader's path (%s)",
			  path, why);
}

/* Beside the executable, else on the loader's path. */
static void *open_plugin(struct error *err)
{
	char path[512] = "";
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof(GPUNETIO_PLUGIN) - 1);
	void *plugin;

	while (len > 0 && path[len - 1] != '/')
		len--;
	snprintf(path + (len > 0 ? len : 0), sizeof(GPUNETIO_PLUGIN), GPUNETIO_PLUGIN);
	dlerror();
	plugin = dlopen(access(path, F_OK) ? GPUNETIO_PLUGIN : path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!plugin)
		not_opened(path, err);
	return plugin;
}

int dv_gpu_open(const struct port_conf *conf, struct dv_gpu *ret, struct doca_calls *call, struct error *err)
{
	const uint64_t qps = conf->spec->qps * conf->workers;
	void *plugin;

	if (qps > QPS_MOST)
		return error_set(
			err, -EINVAL,
			"--engine gpunetio takes at most %u queue pairs, one thread of the GPU each, not %llu: "
			"lower --qps or -N",
			QPS_MOST, (unsigned long long)qps);
	plugin = open_plugin(err);
	if (!plugin)
		return -ENOENT;
	ret->plugin = dlsym(plugin, GPUNETIO_SYMBOL);
	if (!ret->plugin || ret->plugin->version != GPUNETIO_VERSION)
		return error_set(err, -ENOEXEC, "--engine gpunetio: %s is of another version of fabperf: build it anew",
				 GPUNETIO_PLUGIN);
	return dv_library_states(plugin, call, err);
}

int dv_gpu_choose(struct dv_port *p, const struct mem *mem, struct error *err)
{
	char why[GPUNETIO_WHY] = "";
	int rc;

	if (p->gpu.gpu)
		return 0;
	rc = p->gpu.plugin->open(mem->gpu, &p->gpu.gpu, why);
	return rc ? error_set(err, rc, "--engine gpunetio cannot use GPU %d: %s", mem->gpu, why) : 0;
}

/* --- the data path: verbs' inline functions come here --- */

/* A completion that the ring waits for: all requests up to number `at` are done. */
struct dv_signal {
	uint64_t at, wr_id;
};

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct dv_qp *qp = dv_qp_of(base);

	(void)bad;
	for (; wr; wr = wr->next) {
		qp->posted++;
		if (wr->send_flags & IBV_SEND_SIGNALED)
			qp->signals[qp->signal_head++ & qp->signal_mask] =
				(struct dv_signal){ .at = qp->posted, .wr_id = wr->wr_id };
	}
	__atomic_store_n(&qp->box->target, qp->posted, __ATOMIC_RELEASE);
	return 0;
}

static int poll_qp(const struct dv_port *p, struct dv_qp *qp, int most, struct ibv_wc *ret)
{
	const uint64_t done = __atomic_load_n(&qp->box->done, __ATOMIC_ACQUIRE);
	int n = 0;

	for (; n < most && qp->signal_tail != qp->signal_head; n++, qp->signal_tail++) {
		const struct dv_signal *signal = &qp->signals[qp->signal_tail & qp->signal_mask];

		if (signal->at <= done) {
			ret[n] = (struct ibv_wc){ .wr_id = signal->wr_id, .status = IBV_WC_SUCCESS };
			continue;
		}
		if (!__atomic_load_n(&qp->box->failed, __ATOMIC_ACQUIRE))
			return n;
		ret[n] = (struct ibv_wc){ .wr_id = signal->wr_id };
		ret[n].status = (enum ibv_wc_status)p->gpu.plugin->qp_status(qp->gpu, &ret[n].vendor_err);
	}
	return n;
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *ret)
{
	const struct dv_port *p = cq->cq_context;
	int n = 0;

	for (uint64_t i = 0; i < p->ib.spec->qps && n < most; i++) {
		struct dv_qp *qp = dv_qp_of(p->ib.eps[i].qp);

		if (qp && qp->box)
			n += poll_qp(p, qp, most - n, ret + n);
	}
	return n;
}

/* --- its objects --- */

static int open_objects(struct ib_port *port, uint64_t entries, struct error *err)
{
	struct dv_port *p = dv_port_of(port);

	(void)entries;
	errno = 0;
	port->pd = ibv_alloc_pd(port->context);
	if (!port->pd)
		return ib_fail(err, errno, "ibv_alloc_pd", "RDMA device %s refuses a protection domain", port->name);
	p->context = (struct doca_verbs_context *)port->context; /* the plug-in's library takes that of verbs */
	p->path = (struct ibv_context){ .device = port->context->device,
					.ops = { .post_send = post_send, .poll_cq = poll_cq } };
	p->verbs_cq = (struct ibv_cq){ .context = &p->path, .cq_context = p };
	port->cq = &p->verbs_cq;
	return 0;
}

static void close_objects(struct ib_port *port)
{
	struct dv_port *p = dv_port_of(port);

	if (p->gpu.gpu)
		p->gpu.plugin->close(p->gpu.gpu);
	if (port->pd)
		ib_kept(port, ibv_dealloc_pd(port->pd), "ibv_dealloc_pd", "a protection domain");
}

static const char *gpu_name(const struct ib_port *port, const char *call)
{
	return strcmp(call, "ibv_post_send") == 0 ? "gpunetio" : ((const struct dv_port *)port)->failed;
}

static int destroy_qp(struct ib_port *port, struct ibv_qp *base)
{
	struct dv_qp *qp = dv_qp_of(base);

	if (qp->gpu)
		dv_port_of(port)->gpu.plugin->qp_close(qp->gpu);
	free(qp->signals);
	free(qp);
	return 0;
}

/* Before the test's memory is there the GPU is not known: the trial of what the device takes gets an empty one. */
static int create(struct dv_port *p, uint32_t depth, struct dv_qp *qp)
{
	char why[GPUNETIO_WHY] = "";
	uint32_t signals = 1;
	int rc;

	while (signals <= depth)
		signals *= 2;
	qp->signal_mask = signals - 1;
	qp->signals = calloc(signals, sizeof(*qp->signals));
	if (!qp->signals)
		return ENOMEM;
	if (!p->gpu.gpu)
		return 0;
	rc = p->gpu.plugin->qp_open(p->gpu.gpu, p->ib.pd, depth, &qp->gpu, &qp->handle, why);
	snprintf(p->failed, sizeof(p->failed), "%.90s", why);
	if (!rc)
		qp->qp.qp_num = p->call.verbs_qp_get_qpn(qp->handle);
	return -rc;
}

static struct ibv_qp *create_qp(struct ib_port *port, struct ibv_qp_init_attr_ex *init)
{
	struct dv_port *p = dv_port_of(port);
	struct dv_qp *qp = NULL;
	int rc = init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? EOPNOTSUPP : 0;

	if (!rc) {
		qp = calloc(1, sizeof(*qp));
		rc = qp ? create(p, init->cap.max_send_wr, qp) : ENOMEM;
	}
	if (rc) {
		if (qp)
			destroy_qp(port, &qp->qp);
		errno = rc;
		return NULL;
	}
	qp->port = p;
	qp->qp.context = &p->path;
	qp->qp.qp_type = init->qp_type;
	return &qp->qp;
}

const struct ib_calls dv_gpu_calls = {
	.open = open_objects,
	.close = close_objects,
	.name = gpu_name,
	.create_qp = create_qp,
	.modify_qp = dv_qp_modify,
	.query_qp = dv_qp_query,
	.destroy_qp = destroy_qp,
};

static void set_part(const struct ib_ep *ep, const struct dv_port *p, struct gpunetio_work *ret)
{
	if (p->ib.spec->metric != METRIC_LAT)
		return;
	ret->part = p->ib.conf.active ? GPUNETIO_ASKS : GPUNETIO_ANSWERS;
	ret->watched = ep->conf.mem->base + ep->conf.rx_offset + ret->size - 1;
	ret->local_slots = ret->remote_slots = 1;
}

/* Completions of this side's requests tell of a failure; where it requests nothing, one that never comes does. */
static void watch(struct dv_qp *qp, uint32_t index, enum gpunetio_part part)
{
	qp->posted = 0;
	qp->signal_head = qp->signal_tail = 0;
	if (part == GPUNETIO_ANSWERS)
		qp->signals[qp->signal_head++] = (struct dv_signal){ .at = UINT64_MAX, .wr_id = (uint64_t)index << 32 };
}

/* The first question must not come before the thread that answers has emptied the place where it looks. */
static int await_thread(struct dv_port *p, const struct dv_qp *qp, struct error *err)
{
	const int64_t limit = clock_now(p->ib.conf.clock) + START_NS;

	while (!(p->gpu.tick = __atomic_load_n(&qp->box->tick, __ATOMIC_ACQUIRE))) {
		int rc = port_peer(&p->ib.conf, err);

		if (rc)
			return rc;
		if (clock_now(p->ib.conf.clock) > limit)
			return error_set(err, -ETIMEDOUT,
					 "--engine gpunetio: the thread of queue pair %u does not start on the GPU "
					 "within %lld s: other work keeps it busy, or lower --qps or -N",
					 qp->qp.qp_num, START_NS / 1000000000LL);
	}
	return 0;
}

int dv_gpu_start(struct ep *base, const struct work *work, struct error *err)
{
	const struct ib_ep *ep = ib_ep_of(base);
	struct dv_port *p = dv_port_of(ib_ep_port(ep));
	struct dv_qp *qp = dv_qp_of(ep->qp);
	struct gpunetio_work its = {
		.local = ep->conf.mem->base + ep->conf.tx_offset,
		.local_slots = ep->conf.tx_slots,
		.local_stride = ep->conf.stride,
		.lkey = ep->conf.region->mr->lkey,
		.remote = ep->peer.rx_addr,
		.remote_slots = ep->peer.rx_slots,
		.remote_stride = ep->peer.stride,
		.rkey = ep->peer.rkey,
		.size = work->op[0].size,
		.depth = p->ib.tx_depth,
	};
	char why[GPUNETIO_WHY] = "";
	int rc;

	set_part(ep, p, &its);
	rc = p->gpu.plugin->qp_start(qp->gpu, &its, &qp->box, why);
	if (rc)
		return error_set(err, rc, "--engine gpunetio cannot start on queue pair %u: %s", qp->qp.qp_num, why);
	watch(qp, ep->ep.index, its.part);
	return its.part == GPUNETIO_WRITES ? 0 : await_thread(p, qp, err);
}

uint64_t dv_gpu_trips(const struct ep *base, int64_t *ret_ns)
{
	const struct dv_qp *qp = dv_qp_of(ib_ep_of((struct ep *)base)->qp);
	const uint64_t trips = __atomic_load_n(&qp->box->trips, __ATOMIC_ACQUIRE);

	*ret_ns = (int64_t)__atomic_load_n(&qp->box->took, __ATOMIC_RELAXED);
	return trips;
}
