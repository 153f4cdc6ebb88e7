/* The options that made the test: those that were given, and those that the program chose in their place. */
#include "report/blocks.h"
#include "report/page.h"

#include "spec/option.h"
#include "spec/result.h"

#include <string.h>

#define OPTIONS_TEXT 1200

/* Appends one option as it would be written; what does not fit is left out whole. */
static void append(char *text, size_t size, const struct request *request, int row)
{
	const struct option_row *option = &option_rows[row];
	char value[OPTION_VALUE_MAX];
	const size_t len = strlen(text);
	const bool flag = option->type == OPTION_FLAG;
	int added;

	option_get(request, row, value, sizeof(value));
	added = snprintf(text + len, size - len, "%s--%s%s%s", len ? " " : "", option->key, flag ? "" : "=",
			 flag ? "" : value);
	if (added < 0 || (size_t)added >= size - len)
		text[len] = '\0';
}

/* The size of a list of operations is no choice. */
static bool is_chosen(const struct request *request, int row)
{
	if (option_rows[row].offset == offsetof(struct request, spec.size) && spec_has_list(&request->spec))
		return false;
	return !option_is_default(request, row);
}

/* Options of the test itself: those that concern this host only do not change a figure. */
static void list(const struct page *page, const struct request *request, bool given, const char *label)
{
	char text[OPTIONS_TEXT] = "";

	for (size_t row = 0; row < option_count; row++) {
		const bool was_given = option_given(request, (int)row);

		if ((option_rows[row].flags & OPTION_WIRE) && was_given == given &&
		    (given || is_chosen(request, (int)row)))
			append(text, sizeof(text), request, (int)row);
	}
	if (*text)
		page_condition(page, label, "%s", text);
}

void block_options(const struct page *page, const struct result *result)
{
	list(page, &result->request, true, "Given");
	list(page, &result->request, false, "Chosen");
}
