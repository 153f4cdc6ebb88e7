/* Opens and closes one worker's part of a test: port, buffers, endpoints, addresses. */
#include "base/buf.h"
#include "engine/arrivals.h"
#include "engine/burst.h"
#include "engine/engine.h"
#include "engine/openloop.h"
#include "engine/volley.h"
#include "mem/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX       (1u << 30)
#define WORKING_SET_MAX (32ull << 20) /* default limit of one worker's buffers: more slots would only cost memory */
#define DEVICE_SET_MAX                                                                                                 \
	(128u << 10) /* the same of all workers together in a device's own memory, of which there is little */

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/* A side of a bandwidth test only sends or only receives unless both do both; a ping-pong does both. */
static uint64_t rings(const struct spec *spec)
{
	return spec->metric == METRIC_LAT || spec->bidirectional ? 2 : 1;
}

/*
 * Compared messages: a slot for each receive, and for each message under way, so that no message, not even a write whose
 * receive is not posted yet, lies down on one that was not compared.
 */
static uint32_t validated_slots(const struct spec *spec)
{
	return (uint32_t)(spec->rx_depth + spec->tx_depth);
}

/* Iterations that so many messages belong to: an iteration has a slot. */
static uint64_t iterations(const struct spec *spec, uint64_t messages)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(spec, op);

	return (messages + ops - 1) / ops;
}

/* Messages in a ring: as many slots as may be under way, fewer when the working set would grow beyond its limit. */
static uint32_t choose_slots(const struct spec *spec, uint64_t stride)
{
	bool asked = spec->working_set != SPEC_AUTO;
	uint64_t most = spec->mem == MEM_DEVICE ? DEVICE_SET_MAX / spec->workers : WORKING_SET_MAX;
	uint64_t room = (asked ? spec->working_set : most) / (stride * spec->qps * rings(spec));
	uint64_t wanted = asked ? SLOTS_MAX : spec->metric == METRIC_LAT ? 1 : iterations(spec, spec->tx_depth);

	if (wanted > room)
		wanted = room;
	/* whole batches, so that a post never wraps */
	if (wanted > spec->post_batch && !spec_has_list(spec))
		wanted -= wanted % spec->post_batch;
	return wanted ? (uint32_t)wanted : 1;
}

uint64_t flow_buffer_bytes(const struct spec *spec, uint32_t stride_align, uint32_t *ret_slots)
{
	uint64_t stride = ops_stride(spec, stride_align);
	uint32_t slots = spec->validate ? validated_slots(spec) : choose_slots(spec, stride);

	if (ret_slots)
		*ret_slots = slots;
	return rings(spec) * round_up(stride * slots, 64) * spec->qps;
}

/* The side that is written to takes no part in the messages: nothing there is posted, counted or answered by the program. */
static bool is_one_sided(const struct flow *flow)
{
	const bool ping_pong = flow->spec->metric == METRIC_LAT && latency_is_ping_pong(flow->spec);

	return !ping_pong && !flow->caps.counts_loss && !(spec_verbs(flow->spec) & TWO_SIDED_VERBS);
}

/* The passive side has no part in it: the device answers alone, or nothing reaches it. */
static bool is_idle(const struct flow *flow)
{
	if (flow->sends)
		return false;
	if (flow->spec->metric == METRIC_LAT && flow->caps.no_peer)
		return true;
	return flow->caps.passive_idle && (flow->spec->metric == METRIC_BW || !latency_is_ping_pong(flow->spec));
}

static int check_caps(const struct flow *flow, const struct spec *spec, struct error *err)
{
	if (spec->size > flow->caps.max_size)
		return error_set(err, -EINVAL, "--%s %llu: the %s device sends at most %llu bytes with -c %s",
				 spec_size_option(spec), (unsigned long long)spec->size, flow->drv->name,
				 (unsigned long long)flow->caps.max_size, transport_name(spec->transport));
	if (spec->qps > flow->caps.max_qps)
		return error_set(err, -EINVAL, "--qps %llu: the device has at most %u per worker",
				 (unsigned long long)spec->qps, flow->caps.max_qps);
	if (flow->sends && spec->tx_depth > flow->caps.max_tx_depth)
		return error_set(err, -EINVAL, "--tx_depth %llu: the device takes at most %u",
				 (unsigned long long)spec->tx_depth, flow->caps.max_tx_depth);
	if ((!flow->active || spec->bidirectional) && spec->rx_depth > flow->caps.max_rx_depth)
		return error_set(err, -EINVAL, "--rx_depth %llu: the device takes at most %u",
				 (unsigned long long)spec->rx_depth, flow->caps.max_rx_depth);
	if (spec->working_set < spec_bytes(spec) * spec->qps * rings(spec))
		return error_set(
			err, -EINVAL,
			"--working_set %llu is less than %llu bytes: one message for each queue pair, twice where "
			"both sides send",
			(unsigned long long)spec->working_set,
			(unsigned long long)(spec_bytes(spec) * spec->qps * rings(spec)));
	if (spec->events == CHOICE_ON && !flow->caps.can_wait)
		return error_set(err, -EINVAL, "--events has no effect with -r %s: it can only poll", flow->drv->name);
	return 0;
}

/* The part of the buffers that an endpoint has in the test at hand. */
static struct ep_conf cut_of(const struct flow *flow, uint32_t i)
{
	const uint32_t stride = ops_stride(flow->spec, flow->caps.stride_align);
	const size_t ring = (size_t)round_up((uint64_t)stride * flow->slots, 64);

	return (struct ep_conf){ .index = i,
				 .region = flow->region,
				 .mem = flow->mem,
				 .tx_offset = rings(flow->spec) * ring * i,
				 .rx_offset = rings(flow->spec) * ring * (i + 1) - ring,
				 .tx_slots = flow->slots,
				 .rx_slots = flow->slots,
				 .stride = stride };
}

/* Hundreds of endpoints may take seconds. */
static int check_interrupt(const struct flow *flow, struct error *err)
{
	const atomic_int *interrupted = flow->control->interrupted;

	return interrupted && *interrupted ? error_set(err, -EINTR, "interrupted") : 0;
}

static int open_endpoints(struct flow *flow, struct error *err)
{
	for (uint32_t i = 0; i < flow->qps; i++) {
		const struct ep_conf conf = cut_of(flow, i);
		int rc = flow->drv->ep_open(flow->port, &conf, &flow->eps[i].ep, err);

		if (rc == 0)
			rc = check_interrupt(flow, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Buffers for any of the port's tests; receives that stay for the next one may be longer than the slots of this one. */
static uint64_t buffer_bytes(const struct port_conf *conf, uint32_t stride_align)
{
	uint64_t most = 0;
	const struct spec *test;

	for (unsigned i = 0; (test = port_test(conf, i)); i++) {
		const uint64_t its = flow_buffer_bytes(test, stride_align, NULL);

		most = its > most ? its : most;
	}
	return port_test(conf, 1) ? most + PORT_MOST(conf, size) : most;
}

static int check_tests(const struct flow *flow, const struct port_conf *conf, struct error *err)
{
	const struct spec *test;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && (test = port_test(conf, i)); i++)
		rc = check_caps(flow, test, err);
	return rc;
}

/* What follows from the test at hand alone. */
static void follow_spec(struct flow *flow)
{
	bool one_sided;

	flow->drv->caps(flow->port, &flow->caps);
	flow->idle = is_idle(flow);
	one_sided = is_one_sided(flow);
	flow->receives = (!flow->active || flow->spec->bidirectional) && !flow->idle && !one_sided &&
			 !(flow->spec->bidirectional && flow->caps.passive_idle);
	flow->serves =
		(!flow->active || flow->spec->bidirectional) && !flow->caps.passive_idle && !flow->idle && one_sided;
	flow->repost_step = (uint32_t)(flow->spec->rx_depth + 3) / 4;
	flow_buffer_bytes(flow->spec, flow->caps.stride_align, &flow->slots);
}

int flow_open(struct flow *flow, const struct port_conf *conf, const struct mem_host *host, struct error *err)
{
	struct mem_conf buffers = { .spec = flow->spec, .host = host, .worker = flow->index };
	int rc;

	flow->qps = (uint32_t)flow->spec->qps;
	flow->sends = flow->active || flow->spec->bidirectional;
	flow->eps = calloc(flow->qps, sizeof(*flow->eps));
	if (!flow->eps)
		return error_set(err, -ENOMEM, "no memory for %u endpoints", flow->qps);
	rc = flow->drv->open(conf, &flow->port, err);
	if (rc < 0)
		return rc;
	follow_spec(flow);
	rc = check_tests(flow, conf, err);
	if (rc < 0)
		return rc;
	flow->block = flow->spec->events == CHOICE_ON;
	for (uint32_t i = 0; i < flow->qps; i++)
		flow->eps[i].repost = (uint32_t)flow->spec->rx_depth;
	flow->rx_depth = (uint32_t)flow->spec->rx_depth;
	buffers.device = flow->caps.device;
	buffers.unused = flow->caps.moves_nothing && flow->spec->metric == METRIC_BW && !flow->spec->validate;
	buffers.size = buffer_bytes(conf, flow->caps.stride_align);
	rc = mem_alloc(&buffers, &flow->mem, err);
	if (rc < 0)
		return rc;
	rc = flow->drv->reg(flow->port, flow->mem, &flow->region, err);
	if (rc < 0)
		return rc;
	rc = open_endpoints(flow, err);
	return rc == 0 && flow->spec->validate ? validate_open(flow, err) : rc;
}

/* Everything that a test leaves behind is forgotten by keeping only what the set-up made. */
static void forget(struct flow *flow, struct worker_result *result)
{
	const struct flow kept = { .spec = flow->spec,
				   .engine = flow->engine,
				   .drv = flow->drv,
				   .clock = flow->clock,
				   .topo = flow->topo,
				   .control = flow->control,
				   .port = flow->port,
				   .mem = flow->mem,
				   .region = flow->region,
				   .eps = flow->eps,
				   .qps = flow->qps,
				   .index = flow->index,
				   .core = flow->core,
				   .active = flow->active,
				   .sends = flow->sends,
				   .yield = flow->yield,
				   .block = flow->block,
				   .rx_depth = flow->rx_depth,
				   .number = flow->number,
				   .peers = flow->peers,
				   .stream = flow->stream,
				   .bursts = flow->bursts,
				   .arrivals = flow->arrivals,
				   .volley_ns = flow->volley_ns,
				   .loop = flow->loop,
				   .validation = flow->validation,
				   .result = result };

	memcpy(flow, &kept, sizeof(kept));
	for (uint32_t i = 0; i < flow->qps; i++)
		flow->eps[i] = (struct flow_ep){ .ep = flow->eps[i].ep, .repost = flow->eps[i].repost };
}

/* More receives than before are still to be posted; where there were more, they stay. */
static void extend_receives(struct flow *flow)
{
	const uint32_t wanted = (uint32_t)flow->spec->rx_depth;

	for (uint32_t i = 0; wanted > flow->rx_depth && i < flow->qps; i++)
		flow->eps[i].repost += wanted - flow->rx_depth;
	flow->rx_depth = wanted > flow->rx_depth ? wanted : flow->rx_depth;
}

int flow_begin_anew(struct flow *flow, struct worker_result *result, struct error *err)
{
	int rc;

	do /* what came too late belongs to no test */
		rc = flow->idle ? 0 : flow_pump(flow);
	while (rc > 0);
	if (rc < 0)
		return error_set(err, rc, "%s", flow->error.text);
	forget(flow, result);
	extend_receives(flow);
	follow_spec(flow);
	return 0;
}

int flow_renew(struct flow *flow, struct worker_result *result, struct error *err)
{
	int rc = flow_begin_anew(flow, result, err);

	for (uint32_t i = 0; rc == 0 && i < flow->qps; i++) {
		const struct ep_conf conf = cut_of(flow, i);

		rc = flow->drv->ep_cut(flow->eps[i].ep, &conf, err);
	}
	return rc;
}

void flow_close(struct flow *flow)
{
	for (uint32_t i = 0; flow->eps && i < flow->qps; i++) {
		if (flow->eps[i].ep)
			flow->drv->ep_close(flow->eps[i].ep);
	}
	openloop_free(flow);
	burst_free(flow);
	arrivals_free(flow);
	volley_free(flow);
	validate_close(flow);
	free(flow->eps);
	flow->eps = NULL;
	if (flow->region)
		flow->drv->unreg(flow->region);
	flow->region = NULL;
	mem_free(flow->mem);
	flow->mem = NULL;
	if (flow->port)
		flow->drv->close(flow->port);
	flow->port = NULL;
}

int flow_addresses_of(struct flow *flow, uint32_t first, uint32_t count, struct buf *to, struct error *err)
{
	for (uint32_t i = first; i < first + count; i++) {
		struct buf blob = BUF_INIT;
		int rc = flow->drv->ep_addr(flow->eps[i].ep, &blob, err);

		if (rc == 0 && blob.len > EP_ADDR_MAX)
			rc = error_set(err, -EMSGSIZE, "an address of the %s driver has %zu bytes; %d are allowed",
				       flow->drv->name, blob.len, EP_ADDR_MAX);
		buf_put_block(to, blob.data, blob.len);
		buf_release(&blob);
		if (rc < 0)
			return rc;
	}
	return to->failed ? error_set(err, to->failed, "no memory for the addresses") : 0;
}

int flow_addresses(struct flow *flow, struct buf *to, struct error *err)
{
	buf_put_u32(to, flow->qps);
	return flow_addresses_of(flow, 0, flow->qps, to, err);
}

static int check_count(const struct flow *flow, struct cursor *from, struct error *err)
{
	uint32_t count = cursor_u32(from);

	if (count == flow->qps)
		return 0;
	return error_set(err, -EPROTO, "the other side opened %u endpoints instead of %u", count, flow->qps);
}

static int next_address(struct cursor *from, struct cursor *ret, struct error *err)
{
	cursor_block(from, ret);
	return from->failed ? error_set(err, -EPROTO, "the other side's addresses are cut off") : 0;
}

int flow_offer(struct flow *flow, struct cursor *from, struct error *err)
{
	struct cursor address;
	int rc = check_count(flow, from, err);

	for (uint32_t i = 0; rc == 0 && i < flow->qps; i++) {
		rc = next_address(from, &address, err);
		if (rc == 0)
			rc = flow->drv->ep_offer(flow->eps[i].ep, &address, err);
	}
	return rc;
}

int flow_connect_some(struct flow *flow, uint32_t first, uint32_t count, struct cursor *from, int64_t deadline_ns,
		      struct error *err)
{
	struct cursor address;
	int rc = 0;

	for (uint32_t i = first; rc == 0 && i < first + count; i++) {
		rc = next_address(from, &address, err);
		if (rc == 0)
			rc = flow->drv->ep_connect(flow->eps[i].ep, &address, deadline_ns, err);
		if (rc == 0)
			rc = check_interrupt(flow, err);
	}
	return rc;
}

int flow_connect(struct flow *flow, struct cursor *from, int64_t deadline_ns, struct error *err)
{
	const int rc = check_count(flow, from, err);

	return rc < 0 ? rc : flow_connect_some(flow, 0, flow->qps, from, deadline_ns, err);
}
