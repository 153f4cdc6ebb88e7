/* How many send to the receiver that most send to: what bursts of a pattern do to a port of the switch. */
#ifndef PLAN_PRESSURE_H
#define PLAN_PRESSURE_H

#include "plan/plan.h"

/* Ports are devices of hosts, whatever number of GPUs sends by one. */
struct pressure {
	uint32_t senders; /* connections into the port that has most, at a time */
	uint32_t ports; /* that have so many */
	uint32_t sent; /* connections out of a port that sends to one of them; of the busiest */
	uint64_t steps; /* connections looked at */
};

/* Of all tests with bursts together: they run at the same time. -ENOMEM. */
int plan_pressure(const struct plan *plan, struct pressure *ret, struct error *err);

#endif
