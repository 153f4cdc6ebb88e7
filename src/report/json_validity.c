/* Data validation in the result document: counts, and where the first wrong messages are wrong. */
#include "report/parts.h"

#include "report/tree.h"

static json_t *position(const struct invalid *at)
{
	const uint64_t numbers[] = { at->worker, at->qp, at->message, at->byte, at->expected, at->found, at->bytes };
	json_t *row = json_array();

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		tree_append(&row, tree_count(numbers[i]));
	return row;
}

json_t *part_validity(const struct result *result)
{
	struct validity v;
	json_t *object, *positions;

	if (!result->measured || !result_validity(result, &v))
		return json_null();
	object = json_object();
	positions = json_array();
	for (uint32_t i = 0; i < v.logged; i++)
		tree_append(&positions, position(&v.log[i]));
	tree_put(&object, "validatedMessages", tree_count(v.messages));
	tree_put(&object, "invalidDataSampleCount", tree_count(v.invalid));
	tree_put(&object, "invalidBytes", tree_count(v.invalid_bytes));
	tree_put(&object, "invalidPositions", positions);
	return object;
}
