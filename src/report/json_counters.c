/* Counters of NICs in the result document: each as it was read before and after, and by how much it moved. */
#include "counters/counters.h"
#include "report/parts.h"
#include "report/tree.h"

static json_t *counter_object(const struct port_counter *counter)
{
	const struct meaning meaning = counter_meaning(counter->name);
	json_t *object = json_object();
	uint64_t moved;
	const bool known = counter_moved(counter, &moved) && moved <= INT64_MAX / meaning.scale;

	tree_put(&object, "source", tree_text(counter->source));
	tree_put(&object, "name", tree_text(counter->name));
	tree_put(&object, "kind", json_string(counter_kind_name(meaning.kind)));
	tree_put(&object, "before", tree_count(counter->before));
	tree_put(&object, "after", tree_count(counter->after));
	tree_put(&object, "difference", known ? tree_count(moved * meaning.scale) : json_null());
	tree_put(&object, "unit", json_string(meaning.unit));
	tree_put(&object, "wrapped", json_boolean(counter_wrapped(counter)));
	return object;
}

json_t *part_counters(const struct port_counters *counters)
{
	json_t *array;

	if (!counters->count)
		return json_null();
	array = json_array();
	for (uint32_t i = 0; i < counters->count; i++)
		tree_append(&array, counter_object(&counters->counter[i]));
	return array;
}
