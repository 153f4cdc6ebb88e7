/* A sweep for people: a row for each test, as soon as it is measured. */
#include "report/report.h"

#include "report/page.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

#define CELL 48
#define LIST 400

/* What a cell is made of, computed once a row. */
struct row {
	const struct results *results;
	const struct result *result;
	unsigned number;
	struct rate rate;
	struct latency latency;
	bool has_latency;
};

struct column {
	const char *head;
	int width;
	bool (*shown)(const struct results *results); /* NULL: always */
	void (*write)(const struct row *row, char *ret);
};

static void number(const struct row *row, char *ret)
{
	snprintf(ret, CELL, "%u", row->number);
}

static void size(const struct row *row, char *ret)
{
	snprintf(ret, CELL, "%llu", (unsigned long long)row->result->request.spec.size);
}

static void qps(const struct row *row, char *ret)
{
	snprintf(ret, CELL, "%llu", (unsigned long long)row->result->request.spec.qps);
}

static void depth(const struct row *row, char *ret)
{
	snprintf(ret, CELL, "%llu", (unsigned long long)row->result->request.spec.tx_depth);
}

static void burst(const struct row *row, char *ret)
{
	snprintf(ret, CELL, "%llu", (unsigned long long)row->result->request.spec.burst_size);
}

static void gbps(const struct row *row, char *ret)
{
	units_format_figure(row->rate.gbps, ret);
}

static void mpps(const struct row *row, char *ret)
{
	units_format_figure(row->rate.mpps, ret);
}

static void lost(const struct row *row, char *ret)
{
	uint64_t sent = 0, missing = 0;

	for (unsigned i = 0; i < result_directions(row->result); i++) {
		struct direction way;
		struct loss loss;

		result_direction(row->result, i, &way);
		if (!result_loss(&way.result, &loss))
			return;
		sent += loss.sent;
		missing += loss.lost;
	}
	if (sent)
		units_format_figure(100.0 * (double)missing / (double)sent, ret);
}

static void latency_cell(const struct row *row, double value, char *ret)
{
	if (row->has_latency)
		units_format_figure(value, ret);
}

static void minimum(const struct row *row, char *ret)
{
	latency_cell(row, row->latency.min, ret);
}

static void median(const struct row *row, char *ret)
{
	latency_cell(row, row->latency.median, ret);
}

static void mean(const struct row *row, char *ret)
{
	latency_cell(row, row->latency.mean, ret);
}

static void maximum(const struct row *row, char *ret)
{
	latency_cell(row, row->latency.max, ret);
}

static void samples(const struct row *row, char *ret)
{
	if (row->has_latency)
		snprintf(ret, CELL, "%llu", (unsigned long long)row->latency.samples);
}

/* In brackets where fewer than ten samples lie beyond it. */
static void percentile(const struct row *row, double p, char *ret)
{
	char text[UNITS_TEXT];

	for (unsigned i = 0; row->has_latency && i < row->latency.percentiles; i++) {
		const bool sure = row->latency.percentile[i].significant;

		if (fabs(row->latency.percentile[i].p - p) < 1e-9)
			snprintf(ret, CELL, "%s%s%s", sure ? "" : "(",
				 units_format_figure(row->latency.percentile[i].us, text), sure ? "" : ")");
	}
}

static void p99(const struct row *row, char *ret)
{
	percentile(row, 99, ret);
}

static void p999(const struct row *row, char *ret)
{
	percentile(row, 99.9, ret);
}

static bool has_one_size(const struct results *results)
{
	return !spec_has_list(&results->request.spec);
}

static bool has_qps_list(const struct results *results)
{
	return *results->request.qps_list;
}

static bool has_depth_list(const struct results *results)
{
	return *results->request.depth_list;
}

static bool has_burst_list(const struct results *results)
{
	return *results->request.burst_list;
}

static bool may_lose(const struct results *results)
{
	const struct spec *spec = &results->request.spec;

	return spec->null_loss > 0 || spec->transport == TRANSPORT_UC || spec->transport == TRANSPORT_UD ||
	       spec->transport == TRANSPORT_UDP;
}

static const struct column bandwidth[] = {
	{ "row", 4, NULL, number },
	{ "bytes", 10, has_one_size, size },
	{ "QPs", 6, has_qps_list, qps },
	{ "depth", 6, has_depth_list, depth },
	{ "burst", 6, has_burst_list, burst },
	{ "Gbit/sec", 12, NULL, gbps },
	{ "Mpps", 12, NULL, mpps },
	{ "lost, %", 10, may_lose, lost },
	{ 0 },
};

static const struct column latency[] = {
	{ "row", 4, NULL, number },
	{ "bytes", 10, has_one_size, size },
	{ "QPs", 6, has_qps_list, qps },
	{ "min, usec", 10, NULL, minimum },
	{ "median", 9, NULL, median },
	{ "mean", 9, NULL, mean },
	{ "99 %", 9, NULL, p99 },
	{ "99.9 %", 9, NULL, p999 },
	{ "max", 9, NULL, maximum },
	{ "samples", 10, NULL, samples },
	{ 0 },
};

static const struct column *columns_of(const struct results *results)
{
	return results->request.spec.metric == METRIC_LAT ? latency : bandwidth;
}

static bool is_shown(const struct column *column, const struct results *results)
{
	return !column->shown || column->shown(results);
}

static void title(const struct page *page, const struct results *results, const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	const struct rank_result *sender = result_sender(result), *receiver = result_receiver(result);
	const bool hosts = sender && receiver && *sender->host && *receiver->host;
	const char *arrow = spec->bidirectional ? " <-> " : " -> ";

	page_line(page, TONE_HEADING, "%s: %s %s, %u tests%s%s%s%s",
		  spec->metric == METRIC_LAT ? "Latency" : "Bandwidth", transport_name(spec->transport),
		  verb_name(spec->verb), results->asked, hosts ? ", " : "", hosts ? sender->host : "",
		  hosts ? arrow : "", hosts ? receiver->host : "");
}

static void heads(const struct page *page, const struct results *results)
{
	char line[LIST] = "";
	size_t len = 0;

	for (const struct column *column = columns_of(results); column->head; column++)
		if (is_shown(column, results))
			len += (size_t)snprintf(line + len, sizeof(line) - len, "%*s", column->width + 1, column->head);
	page_line(page, TONE_HEADING, "%s", line);
}

static struct row row_of(const struct results *results, unsigned i)
{
	const struct result *result = &results->result[i];
	struct row row = { .results = results, .result = result, .number = i + 1, .rate = result_rate(result) };

	row.has_latency = result_latency(result, &row.latency);
	return row;
}

void report_row(FILE *to, const struct results *results, unsigned i)
{
	const struct row row = row_of(results, i);
	char line[LIST] = "";
	struct page page;
	size_t len = 0;

	page_init(&page, to);
	if (i == 0) {
		title(&page, results, row.result);
		heads(&page, results);
	}
	for (const struct column *column = columns_of(results); column->head; column++) {
		char cell[CELL] = "-";

		if (!is_shown(column, results))
			continue;
		column->write(&row, cell);
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%*s", column->width + 1, cell);
	}
	page_line(&page, row.result->status == RUN_OK ? TONE_PLAIN : TONE_BAD, "%s", line);
	fflush(to);
}
