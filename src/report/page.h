/* A page of text for people: figures in a fixed column, headings, remarks, two-column tables; colour only where wanted. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum tone {
	TONE_PLAIN,
	TONE_HEADING,
	TONE_GOOD,
	TONE_BAD,
	TONE_DIM,
	TONE_COLD, /* by page_heat(): from the worst to */
	TONE_COOL,
	TONE_MILD,
	TONE_WARM,
	TONE_HOT, /* the best */
};

struct page {
	FILE *to;
	bool colour;
	int indent; /* spaces before a figure's label */
	int label_width, client_width; /* columns of conditions; page_fit makes room */
};

/* Colour on a terminal unless NO_COLOR is set and not empty (no-color.org). */
void page_init(struct page *page, FILE *to);

/* A line, its control characters replaced: what another host said can't move the cursor. */
void page_line(const struct page *page, enum tone tone, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The beginning of a line, or more of it. */
void page_part(const struct page *page, enum tone tone, const char *format, ...) __attribute__((format(printf, 3, 4)));
enum tone page_heat(double goodness); /* of 0 ... 1, the best */
void page_blank(const struct page *page);

/* "label:", the value right-aligned to end in column 46, " [unit]", then the remark in brackets when it isn't NULL. */
#define PAGE_VALUE_END 46
void page_text(const struct page *page, const char *label, const char *value, const char *unit, const char *remark);
void page_figure(const struct page *page, const char *label, double value, const char *unit);
void page_count(const struct page *page, const char *label, unsigned long long value, const char *unit);

/* A condition: label and value; long values go on in lines of their own, broken at spaces. */
void page_condition(const struct page *page, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Widens the columns for a row to come. */
void page_fit(struct page *page, const char *label, const char *client);
/* The same of both sides: "same" when they are equal, "-" where one has none (NULL or empty). */
void page_pair(const struct page *page, const char *label, const char *client, const char *server);

#endif
