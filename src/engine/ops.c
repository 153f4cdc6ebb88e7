/* The operations of a test as its rings repeat them: each has a region of its own in every slot. */
#include "engine/engine.h"

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
