/* Lists and ranges of an option's values: "8,64,4K", "1:64K:*2", "16:128:+16". */
#include "spec/sweep.h"

#include "base/error.h"
#include "base/units.h"
#include "spec/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ITEM_MAX 80

/* What is known while a list is read. */
struct list {
	const struct option_row *row;
	uint64_t *value;
	unsigned count;
	unsigned item; /* the one at hand, from 1 */
};

bool list_is(const char *text)
{
	return strpbrk(text, ",:") != NULL;
}

const char *list_of(const struct request *request, int row)
{
	return option_rows[row].list ? (const char *)request + option_rows[row].list : "";
}

static int bad(const struct list *list, const char *item, const char *why, struct error *err)
{
	return error_set(err, -EINVAL, "item %u, '%s': %s", list->item, item, why);
}

static int read_value(const struct list *list, const char *text, uint64_t *ret, struct error *err)
{
	struct error why = { 0 };

	if (!*text)
		return error_set(err, -EINVAL, "item %u has an empty value", list->item);
	if (!strcasecmp(text, "auto"))
		return bad(list, text, "a list names its values, so auto cannot be one", err);
	if (value_parse(list->row, text, ret, &why))
		return error_set(err, -EINVAL, "item %u: %s", list->item, why.text);
	return 0;
}

static int add(struct list *list, uint64_t value, struct error *err)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->value[i] == value)
			return error_set(err, -EINVAL, "item %u: the value %" PRIu64 " is there twice", list->item,
					 value);
	if (list->count == SWEEP_MAX)
		return error_set(err, -E2BIG, "item %u: the list has more than %d values", list->item, SWEEP_MAX);
	list->value[list->count++] = value;
	return 0;
}

/* How a range goes on. */
struct step {
	bool factor; /* else a summand */
	uint64_t by;
};

static int read_step(const struct list *list, const char *item, const char *text, struct step *ret, struct error *err)
{
	const bool size = list->row->type == OPTION_SIZE;
	int rc = -EINVAL;

	*ret = (struct step){ .factor = *text == '*' };
	if (*text == '*')
		rc = units_parse_int(text + 1, &ret->by, NULL);
	else if (*text == '+')
		rc = size ? units_parse_size(text + 1, &ret->by, NULL) : units_parse_int(text + 1, &ret->by, NULL);
	if (rc || ret->by < (ret->factor ? 2 : 1))
		return bad(list, item,
			   "a step is *N with N from 2 on, or +N with N from 1 on, as in 1:64:*2 or 8:64:+8", err);
	return 0;
}

/* What comes after value, or more than end. */
static uint64_t next(uint64_t value, uint64_t end, const struct step *step)
{
	if (step->factor)
		return value > end / step->by ? UINT64_MAX : value * step->by;
	return step->by > end - value ? UINT64_MAX : value + step->by;
}

/* start:end:step */
static int add_range(struct list *list, char *item, struct error *err)
{
	char whole[ITEM_MAX], *end_text = strchr(item, ':'), *step_text = end_text ? strchr(end_text + 1, ':') : NULL;
	uint64_t start = 0, end = 0;
	struct step step;
	int rc;

	memcpy(whole, item, sizeof(whole));
	if (!step_text || strchr(step_text + 1, ':'))
		return bad(list, whole, "a range has a start, an end and a step, as 1:64:*2 or 8:64:+8", err);
	*end_text = *step_text = '\0';
	rc = read_value(list, item, &start, err);
	if (rc == 0)
		rc = read_value(list, end_text + 1, &end, err);
	if (rc == 0)
		rc = read_step(list, whole, step_text + 1, &step, err);
	if (rc)
		return rc;
	if (end < start)
		return bad(list, whole, "the range ends below its start", err);
	if (next(start, end, &step) > end)
		return bad(list, whole, "the first step already passes the end", err);
	for (uint64_t value = start; rc == 0 && value <= end; value = next(value, end, &step))
		rc = add(list, value, err);
	return rc;
}

static int add_item(struct list *list, char *item, struct error *err)
{
	uint64_t value;
	int rc;

	if (!*item)
		return error_set(err, -EINVAL, "item %u is empty", list->item);
	if (strchr(item, ':'))
		return add_range(list, item, err);
	rc = read_value(list, item, &value, err);
	return rc ? rc : add(list, value, err);
}

int list_parse(const struct option_row *row, const char *text, uint64_t *ret, unsigned *ret_count, struct error *err)
{
	struct list list = { .row = row, .value = ret };
	int rc = 0;

	for (;; text++) {
		const size_t len = strcspn(text, ",");
		char item[ITEM_MAX];

		list.item++;
		if (len >= sizeof(item))
			return error_set(err, -EINVAL, "item %u has more than %d bytes", list.item, ITEM_MAX - 1);
		snprintf(item, sizeof(item), "%.*s", (int)len, text);
		rc = add_item(&list, item, err);
		text += len;
		if (rc || !*text)
			break;
	}
	*ret_count = list.count;
	return rc;
}
