/* The matrix of message sizes of a test with a size for each pair: who sends how much to whom, and the sums. */
#include "report/plan.h"

#include "report/labels.h"
#include "report/page.h"
#include "spec/words.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 16 /* most endpoints of a matrix */
#define CELL  24

/* A table while it is printed: columns of the labels and of a cell. */
struct table {
	const struct page *page;
	const struct plan *plan;
	const struct plan_test *test;
	struct labels labels;
	int host_width, device_width, cell_width;
};

static uint64_t sum(const struct table *table, uint32_t position, bool sent)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < table->test->positions; i++)
		total += sent ? plan_size(table->test, position, i) : plan_size(table->test, i, position);
	return total;
}

static void widen(int *width, const char *text)
{
	if ((int)strlen(text) > *width)
		*width = (int)strlen(text);
}

static void widen_for(int *width, uint64_t number)
{
	char text[CELL];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	widen(width, text);
}

static void measure(struct table *table)
{
	char device[PLAN_LABEL];

	for (uint32_t i = 0; i < table->test->positions; i++) {
		widen(&table->host_width, labels_host(&table->labels, i));
		widen(&table->device_width, labels_device(&table->labels, i, device));
		widen(&table->cell_width, labels_host(&table->labels, i));
		widen(&table->cell_width, device);
		widen_for(&table->cell_width, sum(table, i, true));
		widen_for(&table->cell_width, sum(table, i, false));
		for (uint32_t k = 0; k < table->test->positions; k++)
			widen_for(&table->cell_width, plan_size(table->test, i, k));
	}
}

/* A line that grows, printed without the blanks at its end. */
struct line {
	char text[8192];
	size_t len;
};

static void add(struct line *line, const char *text, int width)
{
	if (line->len < sizeof(line->text))
		line->len +=
			(size_t)snprintf(line->text + line->len, sizeof(line->text) - line->len, "%-*s", width, text);
}

/* "|", and the text in the middle of a cell, the odd blank behind it. */
static void add_cell(struct line *line, const struct table *table, const char *text)
{
	const int left = (table->cell_width - (int)strlen(text)) / 2;

	add(line, "| ", 2 + left);
	add(line, text, table->cell_width - left + 1);
}

static void add_number(struct line *line, const struct table *table, uint64_t number)
{
	char text[CELL];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	add_cell(line, table, text);
}

static void print(struct line *line, FILE *to)
{
	if (line->len >= sizeof(line->text))
		line->len = sizeof(line->text) - 1;
	while (line->len && line->text[line->len - 1] == ' ')
		line->len--;
	line->text[line->len] = '\0';
	fprintf(to, "%s\n", line->text);
	line->len = 0;
}

static void head(const struct table *table)
{
	struct line line = { .len = 0 };
	char device[PLAN_LABEL];

	add(&line, "", table->host_width + table->device_width + 2);
	for (uint32_t i = 0; i < table->test->positions; i++)
		add_cell(&line, table, labels_host(&table->labels, i));
	add_cell(&line, table, "Total");
	print(&line, table->page->to);
	add(&line, "", table->host_width + table->device_width + 2);
	for (uint32_t i = 0; i < table->test->positions; i++)
		add_cell(&line, table, labels_device(&table->labels, i, device));
	add_cell(&line, table, "sent");
	print(&line, table->page->to);
}

static void add_rule(struct line *line, int width)
{
	for (int i = 0; i < width; i++)
		add(line, "-", 1);
	add(line, " ", 1);
}

static void rule(const struct table *table)
{
	struct line line = { .len = 0 };

	add_rule(&line, table->host_width);
	add_rule(&line, table->device_width);
	for (uint32_t i = 0; i < table->test->positions + 1; i++) {
		add(&line, "| ", 2);
		add_rule(&line, table->cell_width);
	}
	print(&line, table->page->to);
}

static void row(const struct table *table, uint32_t from)
{
	struct line line = { .len = 0 };
	char device[PLAN_LABEL];

	add(&line, labels_host(&table->labels, from), table->host_width + 1);
	add(&line, labels_device(&table->labels, from, device), table->device_width + 1);
	for (uint32_t to = 0; to < table->test->positions; to++) {
		if (from == to)
			add_cell(&line, table, "-");
		else
			add_number(&line, table, plan_size(table->test, from, to));
	}
	add_number(&line, table, sum(table, from, true));
	print(&line, table->page->to);
	rule(table);
}

static void received(const struct table *table)
{
	struct line line = { .len = 0 };

	add(&line, "Total recv", table->host_width + table->device_width + 2);
	for (uint32_t i = 0; i < table->test->positions; i++)
		add_number(&line, table, sum(table, i, false));
	print(&line, table->page->to);
}

static void matrix(struct table *table)
{
	measure(table);
	page_line(table->page, TONE_PLAIN, "Message Size Matrix [bytes]:");
	head(table);
	rule(table);
	for (uint32_t i = 0; i < table->test->positions; i++)
		row(table, i);
	received(table);
}

void report_sizes(FILE *to, const struct plan *plan, uint32_t index)
{
	const struct plan_test *const test = &plan->test[index];
	const unsigned long long pairs = (unsigned long long)test->positions * (test->positions - 1);
	char left_out[PLAN_LABEL];
	struct page page;
	struct table table = {
		.page = &page, .plan = plan, .test = test, .host_width = 5, .device_width = 4, .cell_width = 5
	};

	page_init(&page, to);
	labels_init(&table.labels, plan, test->endpoint, test->positions);
	page_line(&page, TONE_PLAIN, "Test: %s, endpoints: %u", *test->name ? test->name : "1", test->positions);
	if (table.labels.prefix)
		page_line(&page, TONE_PLAIN, "Hosts: %s", labels_left_out(&table.labels, left_out));
	page_line(&page, TONE_PLAIN, ".ptini counts scaled by datatype %s (%" PRIu64 " bytes per element)",
		  ucc_type_names[test->datatype], ptini_element_bytes(test->datatype));
	if (test->positions <= SHOWN)
		matrix(&table);
	page_line(&page, TONE_PLAIN, "skipped %u/%llu zero-size pairs", test->skipped, pairs);
}
