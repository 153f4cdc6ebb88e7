/* Writes each burst of each sender, as far as they were kept, as a table of comma-separated values. */
#include "report/burst_log.h"

#include "plan/outcome.h"
#include "spec/arrivals.h"
#include "spec/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* arrivals: of a scenario, where receivers may tell what came of the bursts. */
static void head(FILE *to, bool arrivals)
{
	fprintf(to,
		"test,sender,worker,qp,burst,planned_ns,begun_ns,doorbell_ns,last_post_ns,last_completion_ns,messages,"
		"clock_offset_ns%s\n",
		arrivals ? ",first_arrival_ns,last_arrival_ns,arrived" : "");
}

/* What came in the test, by test; told: its receivers tell it. */
struct came {
	struct arrival_sum *sum;
	bool told;
};

/* What came of the burst at all receivers, all senders' together; empty where none tells it. */
static void arrival(FILE *to, uint64_t number, const struct came *came)
{
	struct burst_arrival arrival;

	if (came->told && arrival_sum_find(came->sum, number, &arrival))
		fprintf(to, ",%" PRId64 ",%" PRId64 ",%" PRIu64, arrival.first_ns, arrival.last_ns, arrival.messages);
	else
		fputs(came->told ? ",,,0" : ",,,", to);
}

static void row(FILE *to, unsigned test, const char *sender, uint32_t worker, const struct burst_record *record,
		const struct came *came)
{
	fprintf(to, "%u,%s,%u,%u,%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", test, sender, worker,
		record->qp, record->number, record->due_ns, record->begun_ns, record->rung_ns, record->posted_ns);
	if (record->done_ns)
		fprintf(to, "%" PRId64, record->done_ns);
	fprintf(to, ",%u,%" PRId64, record->messages, record->offset_ns);
	if (came)
		arrival(to, record->number, came);
	fputc('\n', to);
}

static void rank(FILE *to, unsigned test, const char *sender, const struct rank_result *rank, const struct came *came)
{
	for (uint32_t w = 0; rank && w < rank->workers; w++) {
		const struct burst_stats *stats = rank->worker[w].bursts;

		for (uint64_t i = stats ? burst_first_kept(stats) : 0; stats && i < stats->kept; i++) {
			struct burst_record record = stats->record[i % BURST_KEPT];

			burst_in_root(&record, stats, rank);
			row(to, test, sender, w, &record, came);
		}
	}
}

void burst_log_results(FILE *to, void *of)
{
	const struct results *results = of;

	head(to, false);
	for (unsigned i = 0; i < results->begun; i++)
		if (results->result[i].measured)
			rank(to, i + 1, result_sender(&results->result[i])->host, result_sender(&results->result[i]),
			     NULL);
}

/* Its receiver's part of it, or rows of its sender's bursts. */
static void take(FILE *to, const struct outcome *outcome, unsigned at, const struct connection *c,
		 const struct result *result, struct came *came)
{
	char label[PLAN_LABEL];

	if (to)
		rank(to, at * outcome->plan->tests + c->test + 1, plan_label(outcome->plan, c->from, label),
		     result_sender(result), &came[c->test]);
	else if (result_receiver(result) && came[c->test].sum)
		arrival_sum_add(came[c->test].sum, c->to, result_receiver(result));
}

static void go_through(FILE *to, struct outcome *outcome, unsigned at, struct came *came)
{
	struct result *scratch = &outcome->scratch;
	struct plan_cursor cursor;
	struct connection c;
	struct error err = { 0 };

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		if (outcome_ran(outcome, &c, at) && outcome_result(outcome, &c, at, scratch, &err) == 0)
			take(to, outcome, at, &c, scratch, came);
		result_release(scratch);
	}
}

static void gather(struct outcome *outcome, unsigned at, struct came *came)
{
	for (uint32_t i = 0; i < outcome->plan->tests; i++)
		came[i].sum = arrival_sum_new();
	go_through(NULL, outcome, at, came);
	for (uint32_t i = 0; i < outcome->plan->tests; i++) {
		struct arrival_summary summary = { 0 };

		if (came[i].sum)
			arrival_sum_end(came[i].sum, &outcome->plan->test[i].sweep.spec[at], 1, &summary);
		came[i].told = summary.bursts > 0;
	}
}

void burst_log_outcome(FILE *to, void *of)
{
	struct outcome *outcome = of;
	const uint32_t tests = outcome->plan->tests;
	struct came *came = calloc(tests, sizeof(*came));

	head(to, true);
	for (unsigned at = 0; came && at < plan_points(outcome->plan); at++) {
		gather(outcome, at, came);
		go_through(to, outcome, at, came);
		for (uint32_t i = 0; i < tests; i++)
			arrival_sum_free(came[i].sum);
	}
	free(came);
}
