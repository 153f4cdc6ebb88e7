/* The operations of an iteration, and what follows from the set of them. */
#include "spec/spec.h"

#include <string.h>

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
