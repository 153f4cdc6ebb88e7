/* Computes when messages are due: evenly spaced, or with exponential gaps drawn from a seed. */
#include "engine/pace.h"

#include <math.h>

#define STEP_MAX INT64_C(0x1000000000000000) /* later than any test ends */
#define NEVER    (INT64_MAX / 2)

struct span {
	int64_t ns;
	uint64_t fraction;
};

/* count messages' time at the asked load of the whole test. */
static struct span span_of(const struct spec *spec, uint64_t count)
{
	const unsigned __int128 bits = spec->load.in_messages ? 1 : (unsigned __int128)spec->size * 8;
	const unsigned __int128 time = bits * count * 1000000000u;
	const uint64_t rate = spec->load.per_second;

	if (time / rate >= STEP_MAX)
		return (struct span){ .ns = STEP_MAX };
	return (struct span){ .ns = (int64_t)(time / rate), .fraction = (uint64_t)(((time % rate) << 64) / rate) };
}

/* What is due later than any test ends stays there. */
static void add(struct pace *pace, struct span span)
{
	if (pace->due_ns >= NEVER)
		return;
	pace->fraction += span.fraction;
	pace->due_ns += span.ns + (pace->fraction < span.fraction);
}

static void advance_evenly(struct pace *pace)
{
	add(pace, (struct span){ pace->step_ns, pace->step_fraction });
}

static void advance_by_lot(struct pace *pace)
{
	const double gap = pace->mean_ns * lot_exponential(&pace->lot);
	const int64_t ns = gap < (double)STEP_MAX ? (int64_t)gap : STEP_MAX;
	const double rest = gap - (double)ns;

	add(pace, (struct span){ ns, rest < 1 ? (uint64_t)(rest * 0x1p64) : 0 });
}

/* Of evenly spaced messages each worker has every n-th of the whole test's; of random ones it draws its own. */
void pace_init(struct pace *pace, const struct spec *spec, unsigned worker, int64_t start_ns)
{
	const struct span step = span_of(spec, spec->workers);

	*pace = (struct pace){ .due_ns = start_ns,
			       .step_ns = step.ns,
			       .step_fraction = step.fraction,
			       .mean_ns = (double)step.ns + (double)step.fraction * 0x1p-64,
			       .advance = spec->arrivals == ARRIVALS_POISSON ? advance_by_lot : advance_evenly };
	lot_init(&pace->lot, spec->seed, 2 * (uint64_t)worker);
	if (spec->arrivals == ARRIVALS_POISSON)
		pace_advance(pace);
	else
		add(pace, span_of(spec, worker));
}

uint64_t pace_until(const struct pace *pace, int64_t ns)
{
	const double left = (double)(ns - pace->due_ns);

	return left > 0 ? (uint64_t)ceil(left / pace->mean_ns) : 0;
}
