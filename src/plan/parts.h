/* Private to the files that make a plan: endpoints from nodes, connections from patterns. */
#ifndef PLAN_PARTS_H
#define PLAN_PARTS_H

#include "plan/plan.h"

struct error;

/* endpoints.c: the positions of a test, and the hosts, devices and endpoints that are new in it. */
struct plan_maker;
int plan_maker_open(struct plan_maker **ret, struct plan *plan, struct error *err);
int plan_maker_add(struct plan_maker *maker, struct plan_test *test, const struct scenario_test *from,
		   struct error *err);
void plan_maker_close(struct plan_maker *maker);

/* connections.c: what plan_next() needs of test number index, whose positions are known; and how many connections it has. */
int plan_connect(struct plan *plan, uint32_t index, const struct ptini *sizes, struct error *err);
/* sizes.c: the sizes of each pair of a test; its largest is the size of its spec. */
int plan_read_sizes(struct plan_test *test, const struct ptini *file, struct error *err);

#endif
