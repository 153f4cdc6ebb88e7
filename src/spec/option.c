/* Finds rows of the option table by name and sets, gets and compares the fields they describe. */
#include "spec/option.h"

#include "base/error.h"
#include "base/near.h"
#include "spec/spec.h"
#include "spec/sweep.h"
#include "spec/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int option_find(const char *key)
{
	for (size_t i = 0; i < option_count; i++)
		if (near_same(option_rows[i].key, key) ||
		    (option_rows[i].alias && near_same(option_rows[i].alias, key)))
			return (int)i;
	return -1;
}

int option_find_letter(char letter)
{
	for (size_t i = 0; letter && i < option_count; i++)
		if (option_rows[i].letter == letter)
			return (int)i;
	return -1;
}

const char *option_nearest(const char *key)
{
	const char *nearest = NULL;
	unsigned best = NEAR_NOT;

	for (size_t i = 0; i < option_count; i++) {
		const bool hidden = option_rows[i].flags & OPTION_HIDDEN;
		const unsigned off = hidden ? NEAR_NOT : near_miss(option_rows[i].key, key);

		if (off < best) {
			best = off;
			nearest = option_rows[i].key;
		}
	}
	return nearest;
}

static void *field_of(struct request *request, const struct option_row *row)
{
	return (char *)request + row->offset;
}

static const void *field_in(const struct request *request, const struct option_row *row)
{
	return (const char *)request + row->offset;
}

static void mark(struct request *request, int row, const char *shown)
{
	const uint64_t bit = 1ull << (row % 64);

	request->given[row / 64] |= bit;
	if (!strncmp(shown, "--", 2))
		request->spelled[row / 64] |= bit;
	if (option_rows[row].flags & OPTION_VALUE_OPTIONAL)
		*((bool *)request + option_rows[row].present) = true;
}

/* What the bare option means, or NULL when it needs a value. */
static const char *bare_value(const struct option_row *row)
{
	if (row->type == OPTION_FLAG || row->type == OPTION_CHOICE)
		return "on";
	return row->flags & OPTION_VALUE_OPTIONAL ? row->def : NULL;
}

/* The list's text stays, its first value goes into the field. */
static int set_list(struct request *request, const struct option_row *row, const char *text, struct error *err)
{
	uint64_t value[SWEEP_MAX];
	unsigned count;
	int rc;

	if (strlen(text) >= SPEC_TEXT)
		return error_set(err, -EINVAL, "the list has more than %d bytes: write ranges, as 1:64:*2",
				 SPEC_TEXT - 1);
	if (row->flags & OPTION_ZIPPED) {
		strcpy((char *)request + row->list, text);
		return 0;
	}
	rc = list_parse(row, text, value, &count, err);
	if (rc)
		return rc;
	strcpy((char *)request + row->list, text);
	memcpy(field_of(request, row), value, sizeof(value[0]));
	return 0;
}

static bool is_list(const struct option_row *row, const char *text)
{
	return row->list && (row->flags & OPTION_ZIPPED ? strpbrk(text, ",[") != NULL : list_is(text));
}

int option_set(struct request *request, int row, const char *shown, const char *value, struct error *err)
{
	const struct option_row *const option = &option_rows[row];
	const char *const text = value ? value : bare_value(option);
	char allowed[OPTION_VALUE_MAX];
	struct error why = { 0 };

	if (!text || (value && !*value))
		return error_set(err, -EINVAL, "%s needs a value: %s", shown, option_allowed(option, allowed));
	if (is_list(option, text) ? set_list(request, option, text, &why)
				  : value_parse(option, text, field_of(request, option), &why))
		return error_set(err, -EINVAL, "%s: %s", shown, why.text);
	if (option->list && !is_list(option, text))
		memset((char *)request + option->list, 0, SPEC_TEXT);
	mark(request, row, shown);
	return 0;
}

char *option_get(const struct request *request, int row, char *ret, size_t size)
{
	if (*list_of(request, row)) {
		snprintf(ret, size, "%s", list_of(request, row));
		return ret;
	}
	return value_format(&option_rows[row], field_in(request, &option_rows[row]), ret, size);
}

bool option_given(const struct request *request, int row)
{
	return request->given[row / 64] >> (row % 64) & 1;
}

/* A row's default into its field; the table is right by test, so this does not fail. */
static void set_default(struct request *request, const struct option_row *row)
{
	value_parse(row, row->def, field_of(request, row), NULL);
}

bool option_inherited(const struct request *request, int row)
{
	return request->inherited[row / 64] >> (row % 64) & 1;
}

void option_reset(struct request *request, int row)
{
	set_default(request, &option_rows[row]);
	if (option_rows[row].list)
		memset((char *)request + option_rows[row].list, 0, SPEC_TEXT);
	request->given[row / 64] &= ~(UINT64_C(1) << (row % 64));
	request->inherited[row / 64] &= ~(UINT64_C(1) << (row % 64));
}

bool option_is_default(const struct request *request, int row)
{
	struct request defaults;

	memset(&defaults, 0, sizeof(defaults));
	set_default(&defaults, &option_rows[row]);
	return value_equal(&option_rows[row], field_in(request, &option_rows[row]),
			   field_in(&defaults, &option_rows[row]));
}

void request_init(struct request *request)
{
	memset(request, 0, sizeof(*request));
	for (size_t i = 0; i < option_count; i++)
		set_default(request, &option_rows[i]);
}
