/* Reads and writes the list of operations of an iteration: verb:size, one after another. */
#include "spec/value.h"

#include "base/error.h"
#include "base/units.h"
#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ITEM_MAX 48 /* bytes of an operation as text */

static int parse_verb(const char *text, uint32_t *ret, struct error *err)
{
	for (uint32_t verb = VERB_WRITE; verb <= VERB_ATOMIC_CS; verb++) {
		if (!strcasecmp(text, verb_name(verb))) {
			*ret = verb;
			return 0;
		}
	}
	return error_set(err, -EINVAL, "'%s' is no verb: write, write_imm, read, send, atomic_fa or atomic_cs", text);
}

static int parse_size(const struct option_row *row, const char *text, uint64_t *ret, struct error *err)
{
	int rc = units_parse_size(text, ret, err);

	if (rc == 0 && ((double)*ret < row->min || (double)*ret > row->max))
		rc = error_set(err, -ERANGE, "'%s' is no size of a message: 1 byte to 1Gi", text);
	return rc;
}

/* Reads one item of the list and moves *at behind it. */
static int parse_item(const struct option_row *row, const char **at, struct spec_op *ret, struct error *err)
{
	const size_t len = strcspn(*at, ",");
	char item[ITEM_MAX], allowed[OPTION_VALUE_MAX], *size;
	int rc;

	snprintf(item, sizeof(item), "%.*s", (int)(len < ITEM_MAX ? len : ITEM_MAX), *at);
	size = strchr(item, ':');
	if (!size || len >= ITEM_MAX)
		return error_set(err, -EINVAL, "'%s' is not %s", item, option_allowed(row, allowed));
	*at += len;
	*size++ = '\0';
	rc = parse_verb(item, &ret->verb, err);
	return rc ? rc : parse_size(row, size, &ret->size, err);
}

int value_parse_ops(const struct option_row *row, const char *text, void *field, struct error *err)
{
	struct spec_op op[SPEC_OPS];
	const char *at = text;
	unsigned ops = 0;

	memset(op, 0, sizeof(op));
	for (; *text; at++) {
		int rc;

		if (ops == SPEC_OPS)
			return error_set(err, -EINVAL, "more than %d operations", SPEC_OPS);
		rc = parse_item(row, &at, &op[ops++], err);
		if (rc)
			return rc;
		if (!*at)
			break;
	}
	memcpy(field, op, sizeof(op));
	return 0;
}

char *value_format_ops(const struct option_row *row, const void *field, char *ret, size_t size)
{
	struct spec_op op[SPEC_OPS];
	char text[UNITS_TEXT];
	size_t len = 0;

	(void)row;
	memcpy(op, field, sizeof(op));
	ret[0] = '\0';
	for (unsigned i = 0; i < SPEC_OPS && op[i].verb != VERB_AUTO && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s%s:%s", i ? "," : "", verb_name(op[i].verb),
					units_format_size(op[i].size, text));
	return ret;
}
