/* Names options in the sentences of the rules the way the user wrote them. */
#include "spec/legal.h"

#include <stdio.h>

int option_row_at(size_t offset)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_rows[i].offset == offset)
			return (int)i;
	return -1;
}

static bool has_long_spelling(const struct request *request, int row)
{
	return !option_rows[row].letter || (request->spelled[row / 64] >> (row % 64) & 1);
}

struct naming name_of(const struct request *request, int row)
{
	const struct option_row *const option = &option_rows[row];
	struct naming ret;

	if (request->in_file)
		snprintf(ret.text, sizeof(ret.text), "%s", option->json ? option->json : option->key);
	else if (has_long_spelling(request, row))
		snprintf(ret.text, sizeof(ret.text), "--%s", option->key);
	else
		snprintf(ret.text, sizeof(ret.text), "-%c", option->letter);
	return ret;
}

/* What to say behind a value that the user did not write. */
static const char *origin(const struct request *request, int row)
{
	if (option_given(request, row))
		return "";
	if ((option_rows[row].flags & OPTION_AUTO) || option_is_default(request, row))
		return " (the default)";
	return " (derived)";
}

struct naming naming_of(const struct request *request, int row)
{
	char value[OPTION_VALUE_MAX];
	struct naming ret;

	snprintf(ret.text, sizeof(ret.text), "%.40s %.200s%s", name_of(request, row).text,
		 option_get(request, row, value, sizeof(value)), origin(request, row));
	return ret;
}
