/* The scenario in the result document: every option that has a JSON key, with its value as the run had it. */
#include "report/parts.h"

#include "report/tree.h"
#include "spec/legal.h"
#include "spec/spec.h"
#include "spec/sweep.h"

#include <string.h>

/* AUTO that was never resolved, because the run failed before, stays what the user would write. */
static json_t *number(const struct option_row *row, uint64_t value)
{
	if ((row->flags & OPTION_AUTO) && value == SPEC_AUTO)
		return json_string("auto");
	return tree_count(value);
}

/* What a bare number of the row means, in its base unit. */
static double bare(const struct option_row *row)
{
	if (row->type == OPTION_TIME)
		return row->bare && !strcmp(row->bare, "ms") ? 1e6 : 1e9;
	return row->bare ? 1e9 : 1;
}

static json_t *percentiles(const double *list)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < SPEC_MAX_PERCENTILES && list[i] > 0; i++)
		tree_append(&array, tree_real(list[i]));
	return array;
}

/* As option_set reads it: names, cores, device names, auto / on / off. */
static json_t *text(const struct request *request, int row)
{
	char value[OPTION_VALUE_MAX];

	if (option_rows[row].type == OPTION_WORD)
		return tree_text(*(const char *const *)((const char *)request + option_rows[row].offset));
	return tree_text(option_get(request, row, value, sizeof(value)));
}

/* A list of values, ranges written out. */
static json_t *numbers(const struct option_row *row, const char *list)
{
	uint64_t value[SWEEP_MAX];
	json_t *array = json_array();
	unsigned count = 0;

	list_parse(row, list, value, &count, NULL); /* it was checked when it was set */
	for (unsigned i = 0; i < count; i++)
		tree_append(&array, tree_count(value[i]));
	return array;
}

static json_t *option_value(const struct request *request, int index)
{
	const struct option_row *row = &option_rows[index];
	const char *list = list_of(request, index);
	const char *field = (const char *)request + row->offset;

	if (*list && row->flags & OPTION_ZIPPED)
		return tree_text(list);
	if (*list)
		return numbers(row, list);
	switch (row->type) {
	case OPTION_FLAG:
		return row->names ? json_string(row->names[*(const bool *)field]) : json_boolean(*(const bool *)field);
	case OPTION_INT:
	case OPTION_SIZE:
		return number(row, *(const uint64_t *)field);
	case OPTION_RATE:
		return row->bare ? tree_real((double)*(const uint64_t *)field / bare(row))
				 : number(row, *(const uint64_t *)field);
	case OPTION_LOAD:
		break;
	case OPTION_TIME:
		return tree_real((double)*(const int64_t *)field / bare(row));
	case OPTION_REAL:
		return tree_real(*(const double *)field);
	case OPTION_PERCENTILES:
		return percentiles((const double *)field);
	case OPTION_CHOICE:
	case OPTION_ENUM:
	case OPTION_TEXT:
	case OPTION_WORD:
	case OPTION_CORES:
	case OPTION_OPERATIONS:
		break;
	}
	return text(request, index);
}

json_t *part_spec(const struct spec *spec)
{
	json_t *object = json_object();
	struct request request;

	request_init(&request);
	request.spec = *spec;
	for (int row = 0; row < (int)option_count; row++) {
		const bool own = row == ROW(spec.bidirectional) || row == ROW(spec.device) || row == ROW(spec.gpu);

		if ((option_rows[row].flags & OPTION_WIRE) && !own)
			tree_put(&object, option_rows[row].json, option_value(&request, row));
	}
	return object;
}

json_t *part_scenario(const struct request *request)
{
	json_t *object = json_object();

	for (size_t i = 0; i < option_count; i++)
		if (option_rows[i].json)
			tree_put(&object, option_rows[i].json, option_value(request, (int)i));
	return object;
}
