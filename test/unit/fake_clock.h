/* A clock that only tests move, in place of the one in base/clock.c, and a null port that sleeps on it. Each look takes TICK_NS, which stands before the include. */
#ifndef TEST_FAKE_CLOCK_H
#define TEST_FAKE_CLOCK_H

#include "base/clock.h"
#include "driver/null.h"

static struct {
	int64_t now;
	int64_t stall_at, stall; /* the worker loses its core then, for so long */
} fake;

int64_t clock_system_ns(void)
{
	fake.now += TICK_NS;
	if (fake.stall && fake.now >= fake.stall_at) {
		fake.now += fake.stall;
		fake.stall = 0;
	}
	return fake.now;
}

void clock_init(struct clock *clock, bool force_system)
{
	(void)force_system;
	*clock = (struct clock){ .read_cost_ns = TICK_NS };
}

double clock_drift_ppm(const struct clock *clock)
{
	(void)clock;
	return 0;
}

/* Instead of polling through the time until something happens. */
static int sleep_on(struct port *base, int64_t timeout_ns)
{
	const struct null_port *port = (const struct null_port *)base;

	if (port->head != port->tail) {
		const uint64_t due = port->runs[port->head % NULL_RUNS].due >> FRACTION_BITS;
		const int64_t left = port->epoch_ns + (int64_t)due - fake.now;

		timeout_ns = left < timeout_ns ? left : timeout_ns;
	}
	fake.now += timeout_ns > 0 ? timeout_ns : 0;
	return 0;
}

#endif
