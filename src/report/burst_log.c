/* Writes each burst of each sender, as far as they were kept, as a table of comma-separated values. */
#include "report/burst_log.h"

#include "plan/outcome.h"
#include "spec/burst.h"
#include "spec/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void head(FILE *to)
{
	fputs("test,sender,worker,qp,burst,planned_ns,begun_ns,doorbell_ns,last_post_ns,last_completion_ns,messages,"
	      "clock_offset_ns\n",
	      to);
}

static void row(FILE *to, unsigned test, const char *sender, uint32_t worker, const struct burst_record *record)
{
	fprintf(to, "%u,%s,%u,%u,%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", test, sender, worker,
		record->qp, record->number, record->due_ns, record->begun_ns, record->rung_ns, record->posted_ns);
	if (record->done_ns)
		fprintf(to, "%" PRId64, record->done_ns);
	fprintf(to, ",%u,%" PRId64 "\n", record->messages, record->offset_ns);
}

static void rank(FILE *to, unsigned test, const char *sender, const struct rank_result *rank)
{
	for (uint32_t w = 0; rank && w < rank->workers; w++) {
		const struct burst_stats *stats = rank->worker[w].bursts;

		for (uint64_t i = stats ? burst_first_kept(stats) : 0; stats && i < stats->kept; i++) {
			struct burst_record record = stats->record[i % BURST_KEPT];

			burst_in_root(&record, stats, rank);
			row(to, test, sender, w, &record);
		}
	}
}

void burst_log_results(FILE *to, void *of)
{
	const struct results *results = of;

	head(to);
	for (unsigned i = 0; i < results->begun; i++)
		if (results->result[i].measured)
			rank(to, i + 1, result_sender(&results->result[i])->host, result_sender(&results->result[i]));
}

static void point(FILE *to, const struct outcome *outcome, unsigned at, struct result *scratch)
{
	struct plan_cursor cursor;
	struct connection c;
	struct error err = { 0 };
	char label[PLAN_LABEL];

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		if (plan_stage_of(outcome->plan, &c, at) < outcome->done &&
		    outcome_result(outcome, &c, at, scratch, &err) == 0)
			rank(to, at * outcome->plan->tests + c.test + 1, plan_label(outcome->plan, c.from, label),
			     result_sender(scratch));
		result_release(scratch);
	}
}

void burst_log_outcome(FILE *to, void *of)
{
	struct outcome *outcome = of;

	head(to);
	for (unsigned i = 0; i < plan_points(outcome->plan); i++)
		point(to, outcome, i, &outcome->scratch);
}
