/* Reads and writes values that are texts: stored ones, borrowed words, and lists of cores. */
#include "base/error.h"
#include "base/topo.h"
#include "spec/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A document that stands on the command line may have lines. */
static int check_characters(const char *text, struct error *err)
{
	const bool document = *text == '{';

	for (const char *at = text; *at; at++)
		if (((unsigned char)*at < ' ' || *at == 127) && !(document && strchr("\n\r\t", *at)))
			return error_set(err, -EINVAL, "the value has a control character at byte %zu",
					 (size_t)(at - text));
	return 0;
}

int value_parse_text(const struct option_row *row, const char *text, void *field, struct error *err)
{
	const size_t len = strlen(text);

	if (len >= row->size)
		return error_set(err, -EINVAL, "'%.*s...' is too long: %zu bytes, at most %zu", 40, text, len,
				 row->size - 1);
	if (check_characters(text, err))
		return -EINVAL;
	memset(field, 0, row->size);
	memcpy(field, text, len);
	return 0;
}

char *value_format_text(const struct option_row *row, const void *field, char *ret, size_t size)
{
	snprintf(ret, size, "%.*s", (int)row->size, (const char *)field);
	return ret;
}

int value_parse_word(const struct option_row *row, const char *text, void *field, struct error *err)
{
	(void)row;
	if (check_characters(text, err))
		return -EINVAL;
	memcpy(field, &text, sizeof(text));
	return 0;
}

static const char *word_of(const void *field)
{
	const char *word;

	memcpy(&word, field, sizeof(word));
	return word ? word : "";
}

char *value_format_word(const struct option_row *row, const void *field, char *ret, size_t size)
{
	(void)row;
	snprintf(ret, size, "%s", word_of(field));
	return ret;
}

bool value_equal_words(const void *a, const void *b)
{
	return !strcmp(word_of(a), word_of(b));
}

int value_parse_cores(const struct option_row *row, const char *text, void *field, struct error *err)
{
	struct core_list list;
	const int rc = core_list_parse(text, &list, err);

	return rc ? rc : value_parse_text(row, text, field, err);
}
