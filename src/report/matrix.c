/* The matrix of a test's connections for people: who sends how much to whom, coloured by how much that is. */
#include "report/matrix.h"

#include "base/units.h"
#include "report/labels.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL      10 /* least and largest width of a column */
#define CELL_MOST 24
#define NARROW    0.1 /* figures that are no further apart have the same colour, for the most part */

struct cell {
	double figure; /* NAN: it failed */
	bool planned, missed; /* the threshold */
};

struct matrix {
	const struct page *page;
	const struct outcome *outcome;
	unsigned point;
	uint32_t test;
	uint32_t endpoint[MATRIX_MAX];
	uint32_t count;
	struct labels labels;
	int label_width, cell_width;
	double least, most;
	bool latency, judged; /* judged: there is a threshold */
	struct cell cell[MATRIX_MAX * MATRIX_MAX];
};

/* The endpoints of a test in the order of its positions, each once; false: too many. */
static bool find_endpoints(struct matrix *m)
{
	const struct plan_test *test = &m->outcome->plan->test[m->test];

	for (uint32_t i = 0; i < test->positions; i++) {
		uint32_t k = 0;

		while (k < m->count && m->endpoint[k] != test->endpoint[i])
			k++;
		if (k < m->count)
			continue;
		if (m->count == MATRIX_MAX)
			return false;
		m->endpoint[m->count++] = test->endpoint[i];
	}
	return true;
}

static uint32_t place(const struct matrix *m, uint32_t wanted)
{
	uint32_t i = 0;

	while (i < m->count && m->endpoint[i] != wanted)
		i++;
	return i;
}

static void put(struct matrix *m, uint32_t from, uint32_t to, struct cell cell)
{
	m->cell[place(m, from) * m->count + place(m, to)] = cell;
	if (isnan(cell.figure))
		return;
	m->least = isnan(m->least) || cell.figure < m->least ? cell.figure : m->least;
	m->most = isnan(m->most) || cell.figure > m->most ? cell.figure : m->most;
}

static bool is_missed(const struct spec *spec, double figure)
{
	return spec->metric == METRIC_LAT ? spec->lat_threshold > 0 && figure > spec->lat_threshold
					  : spec->bw_threshold > 0 && figure < spec->bw_threshold;
}

/* A connection of both directions is judged by their sum, and has a cell for each. */
static void fill(struct matrix *m)
{
	const struct outcome *outcome = m->outcome;
	const struct spec *spec = &outcome->plan->test[m->test].sweep.spec[m->point];
	uint64_t number = m->point * outcome->plan->connections;
	struct plan_cursor cursor;
	struct connection c;

	m->least = m->most = (double)NAN;
	m->latency = spec->metric == METRIC_LAT;
	m->judged = spec->bw_threshold > 0 || spec->lat_threshold > 0;
	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	for (; plan_next(&cursor, &c); number++) {
		const double figure = outcome->figure[number];
		struct cell cell = { .figure = figure, .planned = true, .missed = is_missed(spec, figure) };

		if (c.test != m->test)
			continue;
		if (c.both && !isnan(figure)) {
			cell.figure = outcome->way[2 * number + 1];
			put(m, c.to, c.from, cell);
			cell.figure = outcome->way[2 * number];
		} else if (c.both) {
			put(m, c.to, c.from, cell);
		}
		put(m, c.from, c.to, cell);
	}
}

/* How good a figure is among those of the matrix: 0 ... 1, the best one. */
static double goodness(const struct matrix *m, double figure)
{
	const double narrow = NARROW * (m->latency ? m->least : m->most), apart = m->most - m->least;
	const double range = apart > narrow ? apart : narrow;

	if (range <= 0)
		return 1;
	return 1 - (m->latency ? figure - m->least : m->most - figure) / range;
}

static enum tone tone_of(const struct matrix *m, const struct cell *cell)
{
	if (!cell->planned)
		return TONE_DIM;
	if (isnan(cell->figure))
		return TONE_BAD;
	if (m->judged)
		return cell->missed ? TONE_BAD : TONE_GOOD;
	return page_heat(goodness(m, cell->figure));
}

static void print_cell(const struct matrix *m, const struct cell *cell)
{
	char text[UNITS_TEXT];

	if (!cell->planned)
		snprintf(text, sizeof(text), "-");
	else if (isnan(cell->figure))
		snprintf(text, sizeof(text), "failed");
	else
		units_format_figure(cell->figure, text);
	page_part(m->page, TONE_PLAIN, "%*s", m->cell_width - (int)strlen(text), "");
	page_part(m->page, tone_of(m, cell), "%s", text);
}

static void print_sum(const struct matrix *m, const struct outcome_sum *sum)
{
	char text[UNITS_TEXT];

	if (!sum->connections)
		page_part(m->page, TONE_DIM, "%*s", m->cell_width, "-");
	else
		page_part(m->page, TONE_PLAIN, "%*s", m->cell_width,
			  isnan(sum->figure) ? "failed" : units_format_figure(sum->figure, text));
}

/* Whether what goes out of an endpoint, and into it, has sums: not latency, and not iterations of different sizes. */
static bool has_sums(const struct matrix *m)
{
	const struct plan_test *test = &m->outcome->plan->test[m->test];

	return !m->latency && !(test->iteration_sync && test->bytes);
}

static void print_row(const struct matrix *m, uint32_t y)
{
	char device[PLAN_LABEL];

	page_part(m->page, TONE_PLAIN, "%-*s%s%-*.*s", m->labels.host_width, labels_host(&m->labels, y),
		  m->labels.device_width ? " " : "",
		  m->label_width - m->labels.host_width - (m->labels.device_width > 0), m->labels.device_width,
		  labels_device(&m->labels, y, device));
	for (uint32_t x = 0; x < m->count; x++)
		print_cell(m, &m->cell[y * m->count + x]);
	if (has_sums(m))
		print_sum(m, outcome_device(m->outcome, m->point, m->test, m->endpoint[y]));
	page_line(m->page, TONE_PLAIN, "%s", "");
}

static void print_head(const struct matrix *m)
{
	char device[PLAN_LABEL];

	page_part(m->page, TONE_DIM, "%-*s", m->label_width, "from \\ to");
	for (uint32_t x = 0; x < m->count; x++)
		page_part(m->page, TONE_DIM, " %*.*s", m->cell_width - 1, m->cell_width - 1,
			  labels_host(&m->labels, x));
	page_line(m->page, TONE_DIM, "%*s", has_sums(m) ? m->cell_width : 0, has_sums(m) ? "sends" : "");
	if (!m->labels.device_width)
		return;
	page_part(m->page, TONE_DIM, "%*s", m->label_width, "");
	for (uint32_t x = 0; x < m->count; x++)
		page_part(m->page, TONE_DIM, " %*.*s", m->cell_width - 1, m->cell_width - 1,
			  labels_device(&m->labels, x, device));
	page_line(m->page, TONE_DIM, "%s", "");
}

static void print_received(const struct matrix *m)
{
	page_part(m->page, TONE_DIM, "%-*s", m->label_width, "receives");
	for (uint32_t x = 0; x < m->count; x++)
		print_sum(m, outcome_device(m->outcome, m->point, m->test, m->endpoint[x]) + 1);
	page_line(m->page, TONE_PLAIN, "%s", "");
}

static int between(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

static void print(struct matrix *m)
{
	char left_out[PLAN_LABEL];
	const int widest =
		m->labels.host_width > m->labels.device_width ? m->labels.host_width : m->labels.device_width;

	m->cell_width = between(widest + 1, CELL, CELL_MOST);
	m->label_width = between(m->labels.host_width + 1 + m->labels.device_width, 2 * CELL, PLAN_LABEL);
	page_blank(m->page);
	if (m->labels.prefix)
		page_line(m->page, TONE_DIM, "Hosts: %s", labels_left_out(&m->labels, left_out));
	print_head(m);
	for (uint32_t y = 0; y < m->count; y++)
		print_row(m, y);
	if (has_sums(m))
		print_received(m);
}

static void print_extremes(const struct matrix *m, bool highest, const char *title)
{
	const struct plan *plan = m->outcome->plan;
	struct outcome_extreme row[OUTCOME_EXTREMES];
	const unsigned count = outcome_extremes(m->outcome, m->point, m->test, highest, row);

	if (count)
		page_line(m->page, TONE_DIM, "%s %u connections", title, count);
	for (unsigned i = 0; i < count; i++) {
		const struct spec *spec = &plan->test[m->test].sweep.spec[m->point];
		char from[PLAN_LABEL], to[PLAN_LABEL], figure[UNITS_TEXT];
		const bool good = m->judged ? !is_missed(spec, row[i].figure) : highest != m->latency;

		page_part(m->page, good ? TONE_GOOD : TONE_BAD, "%*s", CELL,
			  units_format_figure(row[i].figure, figure));
		page_line(m->page, TONE_PLAIN, "  %s %s %s", plan_label(plan, row[i].c.from, from),
			  row[i].c.both ? "<->" : "->", plan_label(plan, row[i].c.to, to));
	}
}

void block_matrix(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t test)
{
	const struct spec *spec = &outcome->plan->test[test].sweep.spec[point];
	struct matrix *m = calloc(1, sizeof(*m));

	if (!m)
		return;
	*m = (struct matrix){ .page = page, .outcome = outcome, .point = point, .test = test };
	if (find_endpoints(m)) {
		fill(m);
		labels_init(&m->labels, outcome->plan, m->endpoint, m->count);
		print(m);
	} else {
		m->latency = spec->metric == METRIC_LAT;
		m->judged = spec->bw_threshold > 0 || spec->lat_threshold > 0;
		page_blank(page);
		print_extremes(m, !m->latency, "Best");
		print_extremes(m, m->latency, "Worst");
	}
	free(m);
}

static bool has_several(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->hosts; i++)
		if (plan->host[i].endpoints > 1)
			return true;
	return false;
}

/* What a host has in one direction. */
static void host_cell(const struct outcome_sum *sum, char *ret)
{
	if (!sum->connections)
		snprintf(ret, UNITS_TEXT, "-");
	else if (isnan(sum->figure))
		snprintf(ret, UNITS_TEXT, "failed");
	else
		units_format_figure(sum->figure, ret);
}

void block_hosts(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t test)
{
	const struct plan *plan = outcome->plan;
	const struct plan_test *planned = &plan->test[test];
	const bool latency = planned->sweep.spec[point].metric == METRIC_LAT;
	struct outcome_sum *host;

	if (planned->iteration_sync && planned->bytes) /* sizes differ: there is no sum */
		return;
	if (plan->hosts > MATRIX_MAX || !has_several(plan) || outcome_hosts(outcome, point, test, &host) < 0)
		return;
	page_blank(page);
	page_line(page, TONE_DIM, "%-*s%*s%*s", 2 * CELL, "host", CELL, latency ? "asks" : "sends", CELL,
		  latency ? "answers" : "receives");
	for (uint32_t i = 0; i < plan->hosts; i++) {
		char text[2][UNITS_TEXT];

		for (unsigned k = 0; k < 2; k++)
			host_cell(&host[2 * i + k], text[k]);
		if (host[2 * i].connections || host[2 * i + 1].connections)
			page_line(page, TONE_PLAIN, "%-*s%*s%*s", 2 * CELL, plan->host[i].name, CELL, text[0], CELL,
				  text[1]);
	}
	free(host);
}
