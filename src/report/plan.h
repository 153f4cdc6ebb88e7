/* A plan for people and as JSON: what would be connected, and what it takes. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include "plan/totals.h"
#include "report/predict.h"

#include <stdio.h>

struct error;

/* A plan with what follows from it. */
struct report_plan {
	const struct plan *plan;
	const struct plan_totals *totals;
	const struct plan_prediction *prediction;
	bool summary; /* no connections, but their number */
};

/* Tests, totals, what is predicted of bursts, hosts and connections. */
void report_plan(FILE *to, const struct report_plan *report);
/* The matrix of message sizes of test number index, which has one for each pair; of more than 16 endpoints what it comes to. */
void report_sizes(FILE *to, const struct plan *plan, uint32_t index);
/* docs/plan.schema.json; the connections are written one by one, so that any number of them fits. -ENOMEM. */
int report_plan_json(FILE *to, const struct report_plan *report, struct error *err);

#endif
