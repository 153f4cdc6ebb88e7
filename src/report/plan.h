/* A plan for people and as JSON: what would be connected, and what it takes. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include "plan/totals.h"

#include <stdio.h>

struct error;

/* Tests, totals, hosts and connections; summary: no connections. */
void report_plan(FILE *to, const struct plan *plan, const struct plan_totals *totals, bool summary);
/* The matrix of message sizes of test number index, which has one for each pair; of more than 16 endpoints what it comes to. */
void report_sizes(FILE *to, const struct plan *plan, uint32_t index);
/* docs/plan.schema.json; the connections are written one by one, so that any number of them fits. -ENOMEM. */
int report_plan_json(FILE *to, const struct plan *plan, const struct plan_totals *totals, bool summary,
		     struct error *err);

#endif
