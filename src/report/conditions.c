/* The conditions under which the figures hold: the test, then what each side used, side by side. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/topo.h"
#include "base/units.h"
#include "spec/legal.h"
#include "spec/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIR_TEXT    160
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* 0.0123 s as 12.30 ms: a duration in the unit in which it is at least one. */
static char *duration_text(double seconds, char *ret, size_t size)
{
	char figure[UNITS_TEXT];
	const double scale = seconds >= 1 ? 1 : seconds >= 1e-3 ? 1e3 : 1e6;

	snprintf(ret, size, "%s %s", units_format_figure(seconds * scale, figure),
		 seconds >= 1      ? "s"
		 : seconds >= 1e-3 ? "ms"
				   : "us");
	return ret;
}

static void traffic(const struct page *page, const struct spec *spec)
{
	const char *unit = spec_has_list(spec) ? "iterations" : "messages";
	char window[UNITS_TEXT + 32], warmup[UNITS_TEXT + 32], margin[UNITS_TEXT];

	if (spec->burst_count)
		snprintf(window, sizeof(window), "%llu bursts", (unsigned long long)spec->burst_count);
	else if (spec->iterations)
		snprintf(window, sizeof(window), "%llu %s per QP", (unsigned long long)spec->iterations, unit);
	else
		units_format_time(spec->duration_ns, window);
	if (spec->warmup_iterations)
		snprintf(warmup, sizeof(warmup), "%llu %s per QP", (unsigned long long)spec->warmup_iterations, unit);
	else
		units_format_time(spec->warmup_ns, warmup);
	page_condition(page, "Window", "%s, %s%s%s%s", window,
		       spec->warmup_ns || spec->warmup_iterations ? "after a warm-up of " : "no warm-up",
		       spec->warmup_ns || spec->warmup_iterations ? warmup : "",
		       spec->end_margin_ns ? ", end margin " : "",
		       spec->end_margin_ns ? units_format_time(spec->end_margin_ns, margin) : "");
}

static void number_text(uint64_t value, const char *unit, char *ret, size_t size)
{
	if (value == SPEC_AUTO)
		snprintf(ret, size, "auto %s", unit);
	else
		snprintf(ret, size, "%llu %s", (unsigned long long)value, unit);
}

static void queue(const struct page *page, const struct spec *spec)
{
	char depth[64], batch[64];

	number_text(spec->tx_depth, "outstanding per QP", depth, sizeof(depth));
	number_text(spec->post_batch, "a post", batch, sizeof(batch));
	if (spec->workers > 1)
		page_condition(page, "QPs", "%llu per worker x %llu workers = %llu", (unsigned long long)spec->qps,
			       (unsigned long long)spec->workers, (unsigned long long)(spec->qps * spec->workers));
	else
		page_condition(page, "QPs", "%llu, one worker", (unsigned long long)spec->qps);
	if (spec_is_paced(spec))
		page_condition(page, "Messages", "as they are due, at most %s", depth);
	else if (spec->metric == METRIC_LAT)
		page_condition(page, "Messages", "one at a time");
	else if (spec->cq_mod > 1 && spec->cq_mod != SPEC_AUTO && !transport_is_socket(spec->transport))
		page_condition(page, "Messages", "%s, %s, one in %llu signalled", depth, batch,
			       (unsigned long long)spec->cq_mod);
	else
		page_condition(page, "Messages", "%s, %s", depth, batch);
}

static void test(const struct page *page, const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	char setup[64], drain[64], kind[48], text[OPERATION_TEXT];

	snprintf(kind, sizeof(kind), ", %s%s", spec->metric == METRIC_LAT ? "latency" : "bandwidth",
		 spec->bidirectional ? " in both directions" : "");
	page_condition(page, "Test", "%s %s%s, driver %s", transport_name(spec->transport),
		       operation_text(&result->request, kind, text), spec_has_list(spec) ? "" : " a message",
		       driver_kind_name(spec->driver));
	traffic(page, spec);
	queue(page, spec);
	if (result->measured)
		page_condition(page, "Set-up, drain", "%s, %s",
			       duration_text(result->setup_seconds, setup, sizeof(setup)),
			       duration_text(result->drain_seconds, drain, sizeof(drain)));
}

static void host(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	(void)result;
	snprintf(ret, size, "%s", rank->host);
}

static void version(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	(void)result;
	snprintf(ret, size, "%s", rank->version);
}

static void cores(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	struct core_list list = { 0 };

	(void)result;
	for (uint32_t i = 0; i < rank->workers && i < TOPO_MAX_CORES; i++)
		list.core[list.count++] = (uint16_t)rank->worker[i].core;
	if (rank->workers)
		snprintf(ret + strlen(core_list_format(&list, ret, size)), size - strlen(ret), "%s",
			 rank->cores_shared ? " (shared)" : "");
}

/* The nodes of the workers' buffers, each once; unknown ones are left out. */
static void nodes(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	(void)result;
	for (uint32_t i = 0; i < rank->workers; i++) {
		const int32_t node = rank->worker[i].numa;
		bool new = node >= 0;

		for (uint32_t j = 0; j < i && new; j++)
			new = rank->worker[j].numa != node;
		if (new)
			snprintf(ret + strlen(ret), size - strlen(ret), "%s%d", *ret ? "," : "", node);
	}
}

static void gpus(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	(void)result;
	for (uint32_t i = 0; i < rank->workers; i++) {
		bool new = rank->worker[i].gpu >= 0;

		for (uint32_t j = 0; j < i && new; j++)
			new = rank->worker[j].gpu != rank->worker[i].gpu;
		if (new)
			snprintf(ret + strlen(ret), size - strlen(ret), "%s%d", *ret ? "," : "", rank->worker[i].gpu);
	}
}

static void buffers(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	char bytes[UNITS_TEXT];

	(void)result;
	if (rank->mem == MEM_NULLMR)
		snprintf(ret, size, "none (null memory region)");
	else if (rank->buffer_bytes)
		snprintf(ret, size, "%sB in %s memory", units_format_size(rank->buffer_bytes, bytes),
			 mem_name(rank->mem));
}

static void resident(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	char mib[UNITS_TEXT];

	(void)result;
	if (rank->rss_bytes)
		snprintf(ret, size, "%s MiB", units_format_figure((double)rank->rss_bytes / (1 << 20), mib));
}

static void clock_offset(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	if (rank == result->rank)
		snprintf(ret, size, "0 (reference)");
	else if (rank->clock_error_ns >= 0)
		snprintf(ret, size, "%+.3f ms +- %.1f us", (double)rank->clock_offset_ns / 1e6,
			 (double)rank->clock_error_ns / 1e3);
}

static void window(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	const struct rank_result *first = result->rank;
	struct window window, reference;
	char seconds[UNITS_TEXT];

	if (!rank_window(result, rank, &window))
		return;
	snprintf(ret, size, "%s s", units_format_figure(window.seconds, seconds));
	if (rank != first && rank->clock_error_ns >= 0 && rank_window(result, first, &reference))
		snprintf(ret + strlen(ret), size - strlen(ret), ", began %+.1f us, ended %+.1f us",
			 (double)(window.begin_ns - reference.begin_ns) / 1e3,
			 (double)(window.end_ns - reference.end_ns) / 1e3);
}

/* How far the workers' edges lie apart, and what part of the figure the edges may have cut. */
static void edges(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	struct window window;
	char error[UNITS_TEXT];

	if (!rank_window(result, rank, &window))
		return;
	if (rank->workers > 1)
		snprintf(ret, size, "%.1f us apart", 1e6 * fmax(window.begin_skew, window.end_skew));
	if (!isnan(window.edge_error))
		snprintf(ret + strlen(ret), size - strlen(ret), "%serror %s %%", *ret ? ", " : "",
			 units_format_figure(100 * window.edge_error, error));
}

static void cpu(const struct result *result, const struct rank_result *rank, char *ret, size_t size)
{
	struct cpu_time time;

	(void)result;
	if (rank_cpu(rank, &time))
		snprintf(ret, size, "%.1f %% (%.3f + %.3f s)", time.percent, time.user, time.system);
}

static const struct {
	const char *label;
	void (*write)(const struct result *result, const struct rank_result *rank, char *ret, size_t size);
} side_rows[] = {
	{ "Host", host },
	{ "Version", version },
	{ "Cores", cores },
	{ "NUMA node", nodes },
	{ "GPU", gpus },
	{ "Data buffers", buffers },
	{ "Resident memory", resident },
	{ "Clock offset", clock_offset },
	{ "Window", window },
	{ "Window edges", edges },
	{ "CPU (user + system)", cpu },
};

/* The table of both sides, kept until its columns are known. */
struct table {
	unsigned rows;
	struct pair {
		char label[48], client[PAIR_TEXT], server[PAIR_TEXT];
	} row[2 * RESULT_FACTS + COUNT(side_rows)];
};

/* Labels come from the drivers too: all begin with a capital here. */
static struct pair *add_row(struct table *table, const char *label)
{
	struct pair *pair = &table->row[table->rows++];

	snprintf(pair->label, sizeof(pair->label), "%s", label);
	pair->client[0] = pair->server[0] = '\0';
	if (label[0] >= 'a' && label[0] <= 'z')
		pair->label[0] = (char)(label[0] - 'a' + 'A');
	return pair;
}

static void add_fact(struct table *table, const char *label, const char *client, const char *server)
{
	struct pair *pair = add_row(table, label);

	snprintf(pair->client, sizeof(pair->client), "%s", client ? client : "");
	snprintf(pair->server, sizeof(pair->server), "%s", server ? server : "");
}

static const struct rank_result *other_side(const struct result *result)
{
	return result->ranks > 1 ? &result->rank[1] : NULL;
}

/* Facts of both sides: those of the client in its order, then what only the server has. */
static void add_facts(struct table *table, const struct result *result)
{
	static const struct facts none;
	const struct facts *client = &result->rank[0].facts;
	const struct facts *server = other_side(result) ? &other_side(result)->facts : &none;

	for (unsigned i = 0; i < client->count; i++)
		add_fact(table, client->fact[i].label, client->fact[i].value, facts_get(server, client->fact[i].key));
	for (unsigned i = 0; i < server->count; i++)
		if (!facts_get(client, server->fact[i].key))
			add_fact(table, server->fact[i].label, NULL, server->fact[i].value);
}

static void fill_table(struct table *table, const struct result *result)
{
	const unsigned two = result_directions(result) > 1;
	struct direction client, server;

	/* with two directions each side is shown as the one that sends */
	result_direction(result, 0, &client);
	result_direction(result, two, &server);
	table->rows = 0;
	for (size_t i = 0; i < COUNT(side_rows); i++) {
		struct pair *pair = add_row(table, side_rows[i].label);

		side_rows[i].write(&client.result, &client.rank[0], pair->client, sizeof(pair->client));
		if (other_side(result))
			side_rows[i].write(&server.result, &server.rank[1], pair->server, sizeof(pair->server));
	}
	add_facts(table, result);
}

void block_conditions(const struct page *page, const struct result *result)
{
	struct page wide = *page;
	struct table table;

	if (!result->ranks)
		return;
	fill_table(&table, result);
	for (unsigned i = 0; i < table.rows; i++)
		page_fit(&wide, table.row[i].label, table.row[i].client);
	page_blank(page);
	page_line(page, TONE_HEADING, "Conditions");
	test(&wide, result);
	page_line(page, TONE_HEADING, "  %-*s  %-*s  %s", wide.label_width, "", wide.client_width, "client", "server");
	for (unsigned i = 0; i < table.rows; i++)
		page_pair(&wide, table.row[i].label, table.row[i].client, table.row[i].server);
	block_options(&wide, result);
}
