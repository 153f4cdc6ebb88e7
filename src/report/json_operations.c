/* Operations in the result document: verb and size, and of a list what was counted of each. */
#include "report/parts.h"

#include "report/tree.h"

json_t *part_operation(const struct spec_op *op)
{
	json_t *object = json_object();

	tree_put(&object, "verb", json_string(verb_name(op->verb)));
	tree_put(&object, "msgSize", op->size == SPEC_AUTO ? json_null() : tree_count(op->size));
	return object;
}

json_t *part_operations(const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	json_t *array;
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(spec, op);

	if (!result->measured || !spec_has_list(spec) || rank_rate(result, result_sender(result)).seconds <= 0)
		return json_null();
	array = json_array();
	for (unsigned i = 0; i < ops; i++) {
		const struct rate rate = result_op_rate(result, i);
		json_t *object = part_operation(&op[i]);

		tree_put(&object, "messages", tree_count(rate.messages));
		tree_put(&object, "bytes", tree_count(rate.bytes));
		tree_put(&object, "bwGbSec", tree_real(rate.gbps));
		tree_put(&object, "msgRateMpps", tree_real(rate.mpps));
		tree_append(&array, object);
	}
	return array;
}
