/* The DOCA Verbs driver: the verbs driver with DOCA's queues and queue pairs, whose work requests and completions are those of verbs. */
#include "driver/dv.h"

#include "spec/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what DOCA's calls answer --- */

static int errno_of(int code)
{
	static const int codes[] = {
		[DOCA_NOT_PERMITTED] = EPERM, [DOCA_IN_USE] = EBUSY,         [DOCA_NOT_SUPPORTED] = EOPNOTSUPP,
		[DOCA_AGAIN] = EAGAIN,        [DOCA_INVALID_VALUE] = EINVAL, [DOCA_NO_MEMORY] = ENOMEM,
		[DOCA_FULL] = ENOSPC,
	};
	const bool known = code > 0 && (size_t)code < sizeof(codes) / sizeof(*codes) && codes[code];

	return known ? codes[code] : EIO;
}

int dv_result(struct dv_port *p, const char *call, int code)
{
	if (code == DOCA_OK)
		return 0;
	if (p->call.error_get_name)
		snprintf(p->failed, sizeof(p->failed), "%s: %s", call, p->call.error_get_name(code));
	else
		snprintf(p->failed, sizeof(p->failed), "%s: DOCA's error %d", call, code);
	return errno_of(code);
}

static const char *dv_name(const struct ib_port *port, const char *call)
{
	static const char *const names[][2] = {
		{ "ibv_post_send", "doca_verbs_bridge_post_send" },
		{ "ibv_post_recv", "doca_verbs_bridge_post_recv" },
		{ "ibv_poll_cq", "doca_verbs_bridge_poll_cq" },
	};
	const struct dv_port *p = (const struct dv_port *)port;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i][0], call) == 0)
			return names[i][1];
	return p->failed;
}

/* --- the data path: verbs' inline functions come here --- */

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const struct dv_qp *q = (const struct dv_qp *)qp;

	return q->port->call.verbs_bridge_post_send(q->handle, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct dv_qp *q = (const struct dv_qp *)qp;

	return q->port->call.verbs_bridge_post_recv(q->handle, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *ret)
{
	const struct dv_port *p = cq->cq_context;

	return p->call.verbs_bridge_poll_cq(p->cq, most, ret);
}

/* --- the objects of a port --- */

static int refused(struct dv_port *p, int code, const char *what, struct error *err)
{
	return ib_fail(err, code, p->failed, "RDMA device %s refuses %s", p->ib.name, what);
}

static int open_context(struct dv_port *p, struct error *err)
{
	struct ibv_context *context;
	int rc = DOCA(p, verbs_bridge_verbs_context_create, p->ib.context->device, DOCA_CONTEXT_NONE, &p->context);

	if (rc)
		return refused(p, rc, "a context", err);
	context = p->call.verbs_bridge_get_ibv_ctx(p->context);
	if (!context)
		return error_set(err, -EIO, "DOCA has no context of RDMA device %s (doca_verbs_bridge_get_ibv_ctx)",
				 p->ib.name);
	p->opened = p->ib.context;
	p->ib.context = context; /* memory is registered there */
	rc = DOCA(p, verbs_pd_create, p->context, &p->pd);
	if (rc)
		return refused(p, rc, "a protection domain", err);
	p->ib.pd = p->call.verbs_bridge_verbs_pd_get_ibv_pd(p->pd);
	if (!p->ib.pd)
		return error_set(
			err, -EIO,
			"DOCA has no protection domain of RDMA device %s (doca_verbs_bridge_verbs_pd_get_ibv_pd)",
			p->ib.name);
	return 0;
}

static int open_cq(struct dv_port *p, uint32_t entries, struct error *err)
{
	struct doca_verbs_cq_attr *attr = NULL;
	int rc = DOCA(p, verbs_cq_attr_create, &attr);

	if (rc)
		return refused(p, rc, "attributes of a completion queue", err);
	DOCA_STEP(rc, p, verbs_cq_attr_set_cq_size, attr, entries);
	DOCA_STEP(rc, p, verbs_cq_attr_set_external_datapath_en, attr, 0);
	DOCA_STEP(rc, p, verbs_cq_attr_set_entry_size, attr, DOCA_CQ_ENTRY_64);
	DOCA_STEP(rc, p, verbs_cq_create, p->context, attr, &p->cq);
	p->call.verbs_cq_attr_destroy(attr);
	if (rc)
		return refused(p, rc, "a completion queue", err);
	p->path = (struct ibv_context){
		.device = p->ib.context->device,
		.ops = { .post_send = post_send, .post_recv = post_recv, .poll_cq = poll_cq },
	};
	p->verbs_cq = (struct ibv_cq){ .context = &p->path, .cq_context = p };
	p->ib.cq = &p->verbs_cq;
	return 0;
}

static int open_objects(struct ib_port *port, uint64_t entries, struct error *err)
{
	struct dv_port *p = dv_port_of(port);
	int rc = open_context(p, err);

	if (!rc && p->hints.size)
		rc = dv_cc_open(p, err);
	return rc ? rc : open_cq(p, (uint32_t)entries, err);
}

static void close_objects(struct ib_port *port)
{
	struct dv_port *p = dv_port_of(port);

	if (p->cq)
		ib_kept(port, DOCA(p, verbs_cq_destroy, p->cq), p->failed, "a completion queue");
	dv_cc_close(p);
	if (p->pd)
		ib_kept(port, DOCA(p, verbs_pd_destroy, p->pd), p->failed, "a protection domain");
	if (p->context)
		ib_kept(port, DOCA(p, verbs_context_destroy, p->context), p->failed, "a context");
	if (p->opened)
		port->context = p->opened;
}

static const struct ib_calls dv_calls = {
	.open = open_objects,
	.close = close_objects,
	.name = dv_name,
	.create_qp = dv_qp_create,
	.modify_qp = dv_qp_modify,
	.query_qp = dv_qp_query,
	.destroy_qp = dv_qp_destroy,
};

/* --- the driver --- */

static int dv_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	struct doca_calls call = { 0 };
	struct cc_hints hints = { .size = 0 };
	const bool by_gpu = conf->spec->engine == ENGINE_GPUNETIO;
	struct dv_gpu gpu = { .plugin = NULL };
	struct dv_port *p;
	int rc = dv_cc_check(conf->spec, &hints, err);

	if (!rc)
		rc = by_gpu ? dv_gpu_open(conf, &gpu, &call, err) : dv_library_open(hints.size != 0, &call, err);
	if (rc)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_set(err, -ENOMEM, "no memory for an RDMA port");
	p->ib.port.drv = &driver_dv;
	p->ib.calls = by_gpu ? &dv_gpu_calls : &dv_calls;
	p->gpu = gpu;
	p->call = call;
	p->hints = hints;
	return ib_open_port(&p->ib, conf, ret, err);
}

static int dv_ep_open(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err)
{
	struct dv_port *p = (struct dv_port *)port;
	int rc = p->gpu.plugin ? dv_gpu_choose(p, conf->mem, err) : 0;

	return rc ? rc : ib_ep_open(port, conf, ret, err);
}

static int dv_prepare(struct ep *ep, const struct work *work, struct error *err)
{
	const struct dv_port *p = (const struct dv_port *)ep->port;
	int rc = ib_ring_prepare(ep, work, err);

	return !rc && p->gpu.plugin && work->kind == WORK_TX ? dv_gpu_start(ep, work, err) : rc;
}

static void dv_caps(const struct port *port, struct caps *ret)
{
	const struct dv_port *p = (const struct dv_port *)port;

	ib_caps(port, ret);
	ret->times_trips = p->gpu.plugin && p->ib.spec->metric == METRIC_LAT;
}

static void dv_facts(const struct port *port, struct facts *ret)
{
	const struct dv_port *p = (const struct dv_port *)port;

	ib_port_facts(port, ret);
	if (p->call.version_runtime)
		facts_add(ret, "docaVersion", "DOCA", "%s", p->call.version_runtime());
	if (p->gpu.tick)
		facts_add(ret, "timedBy", "Timed by", "GPU, in steps of %llu ns", (unsigned long long)p->gpu.tick);
	if (p->cc_group)
		facts_add(ret, "ccGroup", "Congestion control hints", "%llu bytes of vendor %llu in format %llu",
			  (unsigned long long)p->hints.size, (unsigned long long)p->hints.vendor,
			  (unsigned long long)p->hints.format);
}

const struct driver driver_dv = {
	.name = "dv",
	.kind = DRIVER_DV,
	.has_device = ib_dev_exists,
	.message_max = ib_dev_message,
	.open = dv_open,
	.caps = dv_caps,
	.facts = dv_facts,
	.nic = ib_port_nic,
	.close = ib_close,
	.reg = ib_mem_reg,
	.unreg = ib_mem_unreg,
	.ep_open = dv_ep_open,
	.ep_addr = ib_ep_addr,
	.ep_offer = ib_ep_offer,
	.ep_connect = ib_ep_connect,
	.ep_close = ib_ep_close,
	.ep_cut = ib_ep_cut,
	.prepare = dv_prepare,
	.tx_slot = ib_ep_tx_slot,
	.rx_slot = ib_ep_rx_slot,
	.post = ib_ring_post,
	.post_rx = ib_ring_post_rx,
	.finish = driver_no_half,
	.poll = ib_port_poll,
	.wait = ib_port_wait,
	.counters = ib_ep_counters,
	.trips = dv_gpu_trips,
};
