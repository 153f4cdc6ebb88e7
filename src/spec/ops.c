/* The operations of an iteration, and what follows from the set of them. */
#include "spec/spec.h"

#include <string.h>

bool spec_has_list(const struct spec *spec)
{
	return spec->op[0].verb != VERB_AUTO;
}

unsigned spec_ops(const struct spec *spec, struct spec_op ret[SPEC_OPS])
{
	unsigned ops = 0;

	while (ops < SPEC_OPS && spec->op[ops].verb != VERB_AUTO)
		ops++;
	memcpy(ret, spec->op, sizeof(spec->op));
	if (ops)
		return ops;
	ret[0] = (struct spec_op){ .verb = spec->verb, .size = spec->size };
	return 1;
}

uint32_t spec_verbs(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];
	uint32_t verbs = 0;

	for (unsigned ops = spec_ops(spec, op); ops; ops--)
		verbs |= VERB_BIT(op[ops - 1].verb);
	return verbs;
}

uint64_t spec_largest(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];
	uint64_t largest = 0;

	for (unsigned ops = spec_ops(spec, op); ops; ops--)
		largest = op[ops - 1].size > largest ? op[ops - 1].size : largest;
	return largest;
}

uint64_t spec_bytes(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];
	uint64_t bytes = 0;

	for (unsigned ops = spec_ops(spec, op); ops; ops--)
		bytes += op[ops - 1].size;
	return bytes;
}

const char *spec_size_option(const struct spec *spec)
{
	return spec_has_list(spec) ? "operations with" : "msg_size";
}

double spec_mean_size(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];

	return (double)spec_bytes(spec) / spec_ops(spec, op);
}
