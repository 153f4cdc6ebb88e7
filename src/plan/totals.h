/* What a plan comes to: connections, queue pairs and memory of each host, rounds, and the time it takes. */
#ifndef PLAN_TOTALS_H
#define PLAN_TOTALS_H

#include "plan/plan.h"

struct host_totals {
	uint64_t connections; /* in which it takes part; those within it once */
	uint64_t qps; /* its ends of them */
	uint64_t side_qps; /* those of them that one of its endpoints has as a requestor, or as a responder: the most */
	uint64_t memory; /* bytes of data buffers and queues; 0 = not known */
};

struct plan_totals {
	uint64_t flows; /* directed: a connection of both directions has two */
	uint64_t qps; /* of all hosts */
	uint64_t memory, most_qps; /* of the host that needs most */
	double seconds; /* warm-ups, windows and margins of all rounds, points and phases, without set-up; < 0: not known, by count */
	struct host_totals *host; /* of each host of the plan */
};

/* memory_of: bytes that one end of a connection needs. -ENOMEM. */
int plan_sum(const struct plan *plan, uint64_t (*memory_of)(const struct spec *spec), struct plan_totals *ret,
	     struct error *err);
void plan_totals_release(struct plan_totals *totals);

#endif
