/* Lays out lines of text: value columns, tones, wrapping, and nothing that could move the cursor. */
#include "report/page.h"

#include "base/units.h"
#include "spec/clean.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_TEXT 1400
#define LABEL_WIDTH   19 /* least width of a condition's label */
#define CLIENT_WIDTH  24 /* least and largest width of the client's column */
#define CLIENT_MOST   48
#define WRAP_WIDTH    76 /* of a condition's value */

static const char *const tones[] = {
	[TONE_PLAIN] = "",        [TONE_HEADING] = "\033[1m", [TONE_GOOD] = "\033[32m", [TONE_BAD] = "\033[31m",
	[TONE_DIM] = "\033[2m",   [TONE_COLD] = "\033[1;31m", [TONE_COOL] = "\033[31m", [TONE_MILD] = "\033[33m",
	[TONE_WARM] = "\033[32m", [TONE_HOT] = "\033[1;32m",
};

void page_init(struct page *page, FILE *to)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	const bool dumb = term && strcmp(term, "dumb") == 0;
	const int fd = fileno(to);

	*page = (struct page){ .to = to, .label_width = LABEL_WIDTH, .client_width = CLIENT_WIDTH };
	page->colour = !(no_color && *no_color) && !dumb && fd >= 0 && isatty(fd);
}

static void write_text(const struct page *page, enum tone tone, const char *text)
{
	const bool colour = page->colour && tone != TONE_PLAIN && *text;
	char clean[LINE_MAX_TEXT];

	fprintf(page->to, "%s%s%s", colour ? tones[tone] : "", text_clean(text, clean, sizeof(clean)),
		colour ? "\033[0m" : "");
}

static void write_args(const struct page *page, enum tone tone, const char *format, va_list args)
{
	char text[LINE_MAX_TEXT];

	vsnprintf(text, sizeof(text), format, args);
	write_text(page, tone, text);
}

void page_part(const struct page *page, enum tone tone, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_args(page, tone, format, args);
	va_end(args);
}

void page_line(const struct page *page, enum tone tone, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_args(page, tone, format, args);
	va_end(args);
	fputc('\n', page->to);
}

enum tone page_heat(double goodness)
{
	const int steps = TONE_HOT - TONE_COLD + 1, step = (int)(goodness * steps);

	return (enum tone)(TONE_COLD + (step < 0 ? 0 : step < steps ? step : steps - 1));
}

void page_blank(const struct page *page)
{
	fputc('\n', page->to);
}

void page_text(const struct page *page, const char *label, const char *value, const char *unit, const char *remark)
{
	const int width = PAGE_VALUE_END - page->indent - (int)strlen(label) - 1;

	page_line(page, TONE_PLAIN, "%*s%s:%*s [%s]%s%s%s", page->indent, "", label, width, value, unit,
		  remark ? "  (" : "", remark ? remark : "", remark ? ")" : "");
}

void page_figure(const struct page *page, const char *label, double value, const char *unit)
{
	char text[UNITS_TEXT];

	page_text(page, label, units_format_figure(value, text), unit, NULL);
}

void page_count(const struct page *page, const char *label, unsigned long long value, const char *unit)
{
	char text[UNITS_TEXT];

	snprintf(text, sizeof(text), "%llu", value);
	page_text(page, label, text, unit, NULL);
}

/* Length of the next line of at most width characters, broken at the last space that fits. */
static int wrap(const char *text, size_t width)
{
	const size_t len = strlen(text);
	size_t at = width;

	if (len <= width)
		return (int)len;
	while (at > 0 && text[at] != ' ')
		at--;
	return (int)(at ? at : width);
}

void page_condition(const struct page *page, const char *label, const char *format, ...)
{
	char text[LINE_MAX_TEXT];
	const char *rest = text;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	do {
		const int len = wrap(rest, WRAP_WIDTH);

		page_line(page, TONE_PLAIN, "  %-*s  %.*s", page->label_width, rest == text ? label : "", len, rest);
		rest += len;
		rest += strspn(rest, " ");
	} while (*rest);
}

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

void page_fit(struct page *page, const char *label, const char *client)
{
	const int label_width = (int)strlen(label), client_width = (int)strlen(client);

	if (label_width > page->label_width)
		page->label_width = label_width;
	if (client_width > page->client_width && client_width <= CLIENT_MOST)
		page->client_width = client_width;
}

void page_pair(const struct page *page, const char *label, const char *client, const char *server)
{
	const char *left = or_dash(client), *right = or_dash(server);

	if (strcmp(left, "-") == 0 && strcmp(right, "-") == 0)
		return;
	if (strcmp(left, right) == 0)
		right = "same";
	if (strlen(left) > (size_t)page->client_width) {
		page_line(page, TONE_PLAIN, "  %-*s  %s", page->label_width, label, left);
		label = left = "";
	}
	page_line(page, TONE_PLAIN, "  %-*s  %-*s  %s", page->label_width, label, page->client_width, left, right);
}
