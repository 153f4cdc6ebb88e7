/* Expands ranges in brackets into names, and says which item is wrong and how it is written right. */
#include "plan/names.h"

#include "base/error.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN  80 /* bytes of an item that a sentence repeats */
#define DIGITS 9 /* of a number in brackets */

/* An item while it is expanded: its text, and the name as far as it is made. */
struct item {
	struct names *names;
	const char *text;
	int len;
	char made[NAME_MAX_LEN + 1];
	struct error *err;
};

/* A range as it is written; width: digits of its numbers, 0 = as many as they have. */
struct range {
	uint64_t first, last;
	int width;
};

void names_release(struct names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct names){ 0 };
}

int names_add(struct names *names, const char *name, struct error *err)
{
	if (names->count == NAMES_MAX)
		return error_set(err, -E2BIG, "the list has more than %d names", NAMES_MAX);
	if (names->count == names->cap) {
		const uint32_t cap = names->cap ? 2 * names->cap : 16;
		char **bigger = reallocarray(names->name, cap, sizeof(*bigger));

		if (!bigger)
			return error_set(err, -ENOMEM, "no memory for %u names", cap);
		names->name = bigger;
		names->cap = cap;
	}
	names->name[names->count] = strdup(name);
	if (!names->name[names->count])
		return error_set(err, -ENOMEM, "no memory for %u names", names->count + 1);
	names->count++;
	return 0;
}

static int bad(const struct item *item, const char *why)
{
	return error_set(item->err, -EINVAL, "'%.*s': %s", item->len < SHOWN ? item->len : SHOWN, item->text, why);
}

/* Digits at *at, which moves behind them. */
static int read_number(const struct item *item, const char **at, uint64_t *ret, int *ret_digits)
{
	char digits[DIGITS + 1];
	int count = 0;

	while (isdigit((unsigned char)(*at)[count]))
		count++;
	if (!count)
		return bad(item, "brackets hold numbers and ranges, as [0-3] or [0,2,5-7]");
	if (count > DIGITS)
		return bad(item, "a number in brackets has at most 9 digits");
	snprintf(digits, sizeof(digits), "%.*s", count, *at);
	*at += count;
	*ret_digits = count;
	return units_parse_int(digits, ret, item->err);
}

/* "7" or "08-12" at *at, which moves behind it. */
static int read_range(const struct item *item, const char **at, struct range *ret)
{
	const bool padded = **at == '0';
	int digits = 0, last_digits = 0;
	int rc = read_number(item, at, &ret->first, &digits);
	const char *last = *at + 1;

	ret->last = ret->first;
	ret->width = padded ? digits : 0;
	if (rc || **at != '-')
		return rc;
	rc = read_number(item, &last, &ret->last, &last_digits);
	if (rc)
		return rc;
	if ((*at)[1] == '0' && last_digits != digits)
		return bad(item, "both numbers of a range with leading zeros have the same width, as [08-12]");
	if (ret->last < ret->first)
		return bad(item, "the range ends below its start");
	*at = last;
	return 0;
}

static int expand(struct item *item, const char *rest, size_t len);

/* Each number of the range, followed by what comes behind the bracket. */
static int expand_range(struct item *item, const struct range *range, const char *behind, size_t len)
{
	int rc = 0;

	for (uint64_t i = range->first; rc == 0 && i <= range->last; i++) {
		const size_t room = sizeof(item->made) - len;
		const size_t more = (size_t)snprintf(item->made + len, room, "%0*" PRIu64, range->width, i);

		rc = more < room ? expand(item, behind, len + more) : bad(item, "a name has at most 255 bytes");
	}
	return rc;
}

/* All numbers and ranges of the bracket that at is in. */
static int expand_bracket(struct item *item, const char *at, size_t len)
{
	const char *const end = item->text + item->len;
	const char *behind = memchr(at, ']', (size_t)(end - at));
	int rc = 0;

	if (!behind)
		return bad(item, "a bracket is not closed");
	for (;; at++) {
		struct range range;

		rc = read_range(item, &at, &range);
		if (rc == 0)
			rc = expand_range(item, &range, behind + 1, len);
		if (rc || *at != ',')
			break;
	}
	return rc || *at == ']' ? rc : bad(item, "brackets hold numbers and ranges, as [0-3] or [0,2,5-7]");
}

/* The rest of the item behind the len bytes that are made. */
static int expand(struct item *item, const char *rest, size_t len)
{
	const char *const end = item->text + item->len;
	size_t literal = 0;

	while (rest + literal < end && !strchr("[]", rest[literal]))
		literal++;
	if (len + literal >= sizeof(item->made))
		return bad(item, "a name has at most 255 bytes");
	memcpy(item->made + len, rest, literal);
	item->made[len + literal] = '\0';
	if (rest + literal == end)
		return names_add(item->names, item->made, item->err);
	if (rest[literal] == ']')
		return bad(item, "a bracket is closed that was not opened");
	return expand_bracket(item, rest + literal + 1, len + literal);
}

/* Bytes up to the next comma outside of brackets. */
static size_t item_length(const char *text)
{
	bool inside = false;
	size_t len = 0;

	for (; text[len] && (inside || text[len] != ','); len++) {
		if (text[len] == '[')
			inside = true;
		else if (text[len] == ']')
			inside = false;
	}
	return len;
}

int names_expand(struct names *names, const char *text, struct error *err)
{
	int rc = 0;

	for (;; text++) {
		const size_t len = item_length(text);
		struct item item = { .names = names, .text = text, .len = (int)len, .err = err };

		if (!len)
			return error_set(err, -EINVAL, "a list has no empty item: names are separated by one comma");
		rc = expand(&item, text, 0);
		text += len;
		if (rc || !*text)
			break;
	}
	return rc;
}
