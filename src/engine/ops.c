/* The operations of a test as its rings repeat them: regions in a slot, and how many of each were done. */
#include "engine/engine.h"

#include <string.h>

static uint32_t round_up(uint32_t value, uint32_t step)
{
	return (value + step - 1) / step * step;
}

uint32_t ops_stride(const struct spec *spec, uint32_t align)
{
	struct spec_op op[SPEC_OPS];
	unsigned ops = spec_ops(spec, op);
	uint32_t stride = 0;

	for (unsigned i = 0; i < ops; i++)
		stride += round_up((uint32_t)op[i].size, align);
	return stride;
}

struct work flow_work(const struct flow *flow, enum work_kind kind, uint32_t batch)
{
	struct work work = { .kind = kind, .signal = (uint32_t)flow->spec->cq_mod, .batch = batch };
	struct spec_op op[SPEC_OPS];
	unsigned ops = spec_ops(flow->spec, op);
	uint32_t offset = 0;

	for (unsigned i = 0; i < ops; i++) {
		if (kind == WORK_TX || ops == 1 || verb_is_two_sided((enum verb)op[i].verb))
			work.op[work.ops++] = (struct op){
				.verb = (enum verb)op[i].verb,
				.size = (uint32_t)op[i].size,
				.offset = offset,
			};
		offset += round_up((uint32_t)op[i].size, flow->caps.stride_align);
	}
	return work;
}

/* Of one endpoint: its ring's order tells, or where they complete in any order its driver. */
static void add_sent(const struct flow *flow, const struct flow_ep *fep, unsigned ops, uint64_t ret[SPEC_OPS])
{
	struct counters c;

	if (flow->caps.counts_ops)
		flow->drv->counters(fep->ep, &c);
	for (unsigned j = 0; j < ops; j++)
		ret[j] += flow->caps.counts_ops ? c.op_sent[j] : fep->sent / ops + (j < fep->sent % ops);
}

void ops_sent(const struct flow *flow, uint64_t ret[SPEC_OPS])
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(flow->spec, op);

	memset(ret, 0, SPEC_OPS * sizeof(ret[0]));
	for (uint32_t i = 0; i < flow->qps; i++)
		add_sent(flow, &flow->eps[i], ops, ret);
}

static uint64_t two_sided(const struct flow *flow)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(flow->spec, op);
	uint64_t sent[SPEC_OPS], count = 0;

	ops_sent(flow, sent);
	for (unsigned i = 0; i < ops; i++)
		count += verb_is_two_sided((enum verb)op[i].verb) ? sent[i] : 0;
	return count;
}

uint64_t ops_expected(const struct flow *flows, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += spec_has_list(flows[i].spec) ? two_sided(&flows[i])
						    : atomic_load_explicit(&flows[i].live_sent, memory_order_relaxed);
	return sum;
}

uint64_t ops_received_bytes(const struct flow *flow)
{
	const struct work work = flow_work(flow, WORK_RX, 1);
	uint64_t bytes;

	if (!flow->received)
		return 0;
	bytes = flow->received * work_largest(&work)->size;
	for (uint32_t i = 0; i < flow->qps; i++) {
		struct counters c;

		flow->drv->counters(flow->eps[i].ep, &c);
		bytes -= c.shortfall;
	}
	return bytes;
}

uint64_t ops_bytes(const struct flow *flow)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(flow->spec, op);
	uint64_t sent[SPEC_OPS], bytes = ops_received_bytes(flow);

	ops_sent(flow, sent);
	for (unsigned i = 0; i < ops; i++)
		bytes += sent[i] * op[i].size;
	return bytes;
}
