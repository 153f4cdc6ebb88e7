/* What a scenario's connections come to: sums, pairs, the best and the worst; their matrix, with and without colour. */
#include "plan/outcome.h"
#include "report/many.h"
#include "report/page.h"

#include <math.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* One test that ran, each connection with figures that follow from its ends: from sends 10 * (from + 1) + to + 1. */
struct bench {
	struct plan *plan;
	struct outcome outcome;
	struct result result;
};

static double rate(uint32_t from, uint32_t to)
{
	return 10 * (from + 1) + to + 1;
}

/* A result whose two ends have a worker each that took a second. */
static void make_result(struct bench *b, const struct connection *c)
{
	struct result *result = &b->result;

	result_init(result, &b->outcome.request, 2);
	plan_spec(b->plan, c, true, 0, &result->request.spec);
	result->request.spec.driver = DRIVER_NULL;
	result->measured = true;
	for (unsigned i = 0; i < 2; i++) {
		struct rank_result *rank = &result->rank[i];
		const double gbps = i ? rate(c->to, c->from) : rate(c->from, c->to);

		assert_int_equal(rank_result_alloc(rank, 1, false), 0);
		rank->active = i == 0;
		rank->delivery = true;
		rank->worker[0].begin_ns = 1;
		rank->worker[0].end_ns = 1000000001;
		rank->worker[0].both_ways = c->both;
		rank->worker[0].qps = 1;
		rank->worker[0].sent = (uint64_t)llround(gbps * 1e9 / 8 / 1000);
	}
}

static void run(struct bench *b)
{
	struct plan_cursor cursor;
	struct connection c;
	uint64_t number = 0;

	plan_begin(&cursor, b->plan, PLAN_ALL_HOSTS);
	for (; plan_next(&cursor, &c); number++) {
		struct outcome_test *test = outcome_test(&b->outcome, 0, c.test);

		make_result(b, &c);
		b->outcome.figure[number] = result_rate(&b->result).gbps;
		outcome_add_sums(&b->outcome, &c, 0, number, &b->result);
		test->connections++;
		test->mean = test->sum = 1;
		result_release(&b->result);
	}
	outcome_end_sums(&b->outcome, 0, 0, 1);
}

static struct bench *open_bench(const char *hosts, enum traffic_direction direction, double threshold)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct scenario scenario = { .tests = 1, .test = calloc(1, sizeof(*scenario.test)) };
	struct scenario_test *test = scenario.test;
	struct request request;
	struct error err = { 0 };

	request_init(&request);
	request.spec.size = 1000;
	request.spec.bw_threshold = threshold;
	request.spec.bidirectional = direction == DIRECTION_BIDIR;
	test->pattern = PATTERN_ALL_TO_ALL;
	test->direction = direction;
	test->nodes = 1;
	test->node = calloc(1, sizeof(*test->node));
	test->node->hosts = strdup(hosts);
	test->node->devices = strdup("d0");
	assert_int_equal(sweep_alloc(&test->sweep, 1, &err), 0);
	test->sweep.spec[0] = request.spec;
	assert_int_equal(plan_build(&b->plan, &scenario, &err), 0);
	scenario_release(&scenario);
	assert_int_equal(outcome_init(&b->outcome, &request, b->plan, &err), 0);
	run(b);
	return b;
}

static void close_bench(struct bench *b)
{
	outcome_release(&b->outcome);
	plan_free(b->plan);
	free(b);
}

static char *report(const struct bench *b)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	report_many(to, &b->outcome);
	fclose(to);
	return text;
}

static void sums_of_devices_and_hosts(void **state)
{
	struct bench *b = open_bench("node[1-3]", DIRECTION_UNIDIR, 0);
	struct outcome_sum *host;

	(void)state;
	assert_int_equal(outcome_hosts(&b->outcome, 0, 0, &host), 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct outcome_sum *device = outcome_device(&b->outcome, 0, 0, i);
		const struct outcome_sum *process = outcome_process(&b->outcome, 0, 0, i, 0);
		double sends = 0, receives = 0;

		for (uint32_t k = 0; k < 3; k++) {
			sends += k == i ? 0 : rate(i, k);
			receives += k == i ? 0 : rate(k, i);
		}
		assert_true(fabs(device[0].figure - sends) < 1e-6 && fabs(device[1].figure - receives) < 1e-6);
		assert_true(fabs(process[0].figure - sends) < 1e-6 && fabs(process[1].figure - receives) < 1e-6);
		assert_true(fabs(host[2 * i].figure - sends) < 1e-6 && fabs(host[2 * i + 1].figure - receives) < 1e-6);
		assert_int_equal(host[2 * i].connections, 2);
	}
	free(host);
	close_bench(b);
}

static void pairs(void **state)
{
	const enum traffic_direction two[] = { DIRECTION_BIDIR, DIRECTION_DUAL_UNIDIR };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bench *b = open_bench("node[1-3]", two[i], 0);
		struct outcome_pairs pairs;
		char *text = report(b);

		assert_int_equal(outcome_pairs(&b->outcome, 0, 0, &pairs), 0);
		assert_int_equal(pairs.pairs, 3);
		assert_true(fabs(pairs.min - 33) < 1e-6 && fabs(pairs.max - 55) < 1e-6 &&
			    fabs(pairs.mean - 44) < 1e-6); /* 12 + 21, 13 + 31, 23 + 32 */
		assert_non_null(strstr(text, "(node1:d0 <-> node2:d0)"));
		assert_non_null(strstr(text, "2 d0                     21.00         -     23.00     44.00\n"));
		assert_non_null(strstr(text, "receives                 52.00     44.00     36.00\n"));
		free(text);
		close_bench(b);
	}
}

static void one_direction_has_no_pairs(void **state)
{
	struct bench *b = open_bench("node[1-3]", DIRECTION_UNIDIR, 0);
	struct outcome_pairs pairs;

	(void)state;
	assert_int_equal(outcome_pairs(&b->outcome, 0, 0, &pairs), 0);
	assert_int_equal(pairs.pairs, 0);
	close_bench(b);
}

/* Ten at each end, in order; with 17 endpoints they take the matrix's place. */
static void best_and_worst(void **state)
{
	struct bench *b = open_bench("rack-[01-17]", DIRECTION_UNIDIR, 0);
	struct outcome_extreme row[OUTCOME_EXTREMES];
	char *text = report(b);

	(void)state;
	assert_int_equal(outcome_extremes(&b->outcome, 0, 0, true, row), 10);
	for (unsigned i = 0; i < 10; i++)
		assert_true(fabs(row[i].figure - (186 - i)) < 1e-6);
	assert_int_equal(outcome_extremes(&b->outcome, 0, 0, false, row), 10);
	assert_true(fabs(row[0].figure - 12) < 1e-6 && fabs(row[9].figure - 21) < 1e-6);
	assert_null(strstr(text, "from \\ to"));
	assert_non_null(strstr(text, "Best 10 connections\n     186.0  rack-17:d0 -> rack-16:d0\n"));
	assert_non_null(strstr(text, "Worst 10 connections\n     12.00  rack-01:d0 -> rack-02:d0\n"));
	free(text);
	close_bench(b);
}

/* What all hosts' names begin with stands above the matrix once; a connection that failed has no figure and no part in sums. */
static void names_and_failures(void **state)
{
	struct bench *b = open_bench("rack-a-node[08-10].lan", DIRECTION_UNIDIR, 0);
	char *text;

	(void)state;
	b->outcome.figure[0] = (double)NAN;
	text = report(b);
	assert_non_null(strstr(text, "Hosts: rack-a-node*\n"));
	assert_non_null(strstr(text, "from \\ to               08.lan    09.lan    10.lan     sends\n"));
	assert_non_null(strstr(text, "08.lan d0                    -    failed     13.00     25.00\n"));
	free(text);
	close_bench(b);
}

/* What a terminal gets. */
static void on_terminal(double threshold, char *ret, size_t size)
{
	struct bench *b = open_bench("node[1-3]", DIRECTION_UNIDIR, threshold);
	int master, slave;
	size_t len = 0;
	ssize_t n;
	FILE *to;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	to = fdopen(slave, "w");
	report_many(to, &b->outcome);
	fclose(to);
	while (len < size - 1 && (n = read(master, ret + len, size - 1 - len)) > 0)
		len += (size_t)n;
	ret[len] = '\0';
	close(master);
	close_bench(b);
}

static void colours(void **state)
{
	char text[8192];

	(void)state;
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	on_terminal(0, text, sizeof(text));
	assert_non_null(strstr(text, "\033[1;31m12.00\033[0m"));
	assert_non_null(strstr(text, "\033[33m23.00\033[0m"));
	assert_non_null(strstr(text, "\033[1;32m32.00\033[0m"));
	on_terminal(23, text, sizeof(text));
	assert_non_null(strstr(text, "\033[31m21.00\033[0m"));
	assert_non_null(strstr(text, "\033[32m23.00\033[0m"));
	setenv("NO_COLOR", "1", 1);
	on_terminal(0, text, sizeof(text));
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "12.00"));
	unsetenv("NO_COLOR");
}

static size_t length_of_summary(const char *hosts)
{
	struct bench *b = open_bench(hosts, DIRECTION_UNIDIR, 0);
	size_t length;
	char *text;

	b->outcome.request.results_detail = DETAIL_SUMMARY;
	text = report_many_json(&b->outcome, &b->result);
	assert_non_null(text);
	assert_null(strstr(text, "connectionId"));
	length = strlen(text);
	free(text);
	close_bench(b);
	return length;
}

/* Three times as many endpoints have nine times as many connections, and a summary three times as long, at most. */
static void a_summary_is_bounded(void **state)
{
	(void)state;
	assert_true(length_of_summary("n[1-60]") < 3 * length_of_summary("n[1-20]"));
}

static void heat(void **state)
{
	(void)state;
	assert_int_equal(page_heat(-1), TONE_COLD);
	assert_int_equal(page_heat(0), TONE_COLD);
	assert_int_equal(page_heat(0.5), TONE_MILD);
	assert_int_equal(page_heat(0.8), TONE_HOT);
	assert_int_equal(page_heat(1), TONE_HOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_devices_and_hosts),  cmocka_unit_test(pairs),
		cmocka_unit_test(one_direction_has_no_pairs), cmocka_unit_test(best_and_worst),
		cmocka_unit_test(names_and_failures),         cmocka_unit_test(colours),
		cmocka_unit_test(a_summary_is_bounded),       cmocka_unit_test(heat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
