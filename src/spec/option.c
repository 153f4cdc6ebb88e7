/* Finds rows of the option table by name and sets, gets and compares the fields they describe. */
#include "spec/option.h"

#include "base/error.h"
#include "spec/spec.h"
#include "spec/sweep.h"
#include "spec/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY_MAX 32 /* bytes of a key that are compared when looking for a near one */

static char folded(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static bool same_key(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	return folded(*a) == folded(*b);
}

int option_find(const char *key)
{
	for (size_t i = 0; i < option_count; i++)
		if (same_key(option_rows[i].key, key))
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

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that make b out of a. */
static unsigned distance(const char *a, const char *b)
{
	const size_t a_len = strnlen(a, KEY_MAX), b_len = strnlen(b, KEY_MAX);
	unsigned d[KEY_MAX + 1][KEY_MAX + 1];

	for (unsigned i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			const bool same = folded(a[i - 1]) == folded(b[j - 1]);

			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + !same);
			if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
			    folded(a[i - 2]) == folded(b[j - 1]))
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[a_len][b_len];
}

static bool has_prefix(const char *key, const char *prefix)
{
	while (*prefix && folded(*key) == folded(*prefix)) {
		key++;
		prefix++;
	}
	return !*prefix;
}

/* How far a known key is from a misspelt one; UINT32_MAX when it is not near. */
static unsigned nearness(const struct option_row *row, const char *key)
{
	const size_t len = strlen(key);
	const unsigned allowed = len <= 4 ? 1 : 2, off = distance(row->key, key);

	if (row->flags & OPTION_HIDDEN)
		return UINT32_MAX;
	if (off <= allowed)
		return off;
	return len >= 3 && has_prefix(row->key, key) ? allowed + 1 : UINT32_MAX;
}

const char *option_nearest(const char *key)
{
	const char *nearest = NULL;
	unsigned best = UINT32_MAX;

	for (size_t i = 0; i < option_count; i++) {
		const unsigned off = nearness(&option_rows[i], key);

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
	rc = list_parse(row, text, value, &count, err);
	if (rc)
		return rc;
	strcpy((char *)request + row->list, text);
	memcpy(field_of(request, row), value, sizeof(value[0]));
	return 0;
}

int option_set(struct request *request, int row, const char *shown, const char *value, struct error *err)
{
	const struct option_row *const option = &option_rows[row];
	const char *const text = value ? value : bare_value(option);
	char allowed[OPTION_VALUE_MAX];
	struct error why = { 0 };

	if (!text || (value && !*value))
		return error_set(err, -EINVAL, "%s needs a value: %s", shown, option_allowed(option, allowed));
	if (option->list && list_is(text) ? set_list(request, option, text, &why)
					  : value_parse(option, text, field_of(request, option), &why))
		return error_set(err, -EINVAL, "%s: %s", shown, why.text);
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
