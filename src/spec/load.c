/* The load that is offered to the network: a schedule or bursts, their rate and period, and what ends a test. */
#include "spec/spec.h"

#include <math.h>

#define SILENCE_MAX_NS 1e18 /* fits 63 bits, with what is added to it */

bool spec_is_paced(const struct spec *spec)
{
	return spec->load.per_second > 0;
}

double spec_load_mps(const struct spec *spec)
{
	const double per_second = (double)spec->load.per_second;

	return spec->load.in_messages ? per_second : per_second / (8 * (double)spec->size);
}

bool spec_bursts(const struct spec *spec)
{
	return spec->burst_profile != BURST_NONE;
}

int64_t spec_burst_period_ns(const struct spec *spec)
{
	const double bits =
		8 * (double)spec->size * (double)spec->burst_size; /* of a queue pair: hosts differ in their number */

	return spec->burst_pause_ns +
	       (spec->link_rate ? (int64_t)fmin(bits * 1e9 / (double)spec->link_rate, SILENCE_MAX_NS) : 0);
}

int64_t spec_silence_ns(const struct spec *spec)
{
	const double bits = 8 * (double)spec->size * (double)spec->burst_size;

	switch (spec->burst_profile) {
	case BURST_SYNC:
		return spec_burst_period_ns(spec);
	case BURST_STORAGE:
		return (int64_t)fmin(bits * 1e9 / (double)spec->rate_limit, SILENCE_MAX_NS);
	case BURST_TRAINING:
		return spec->pause_max_ns;
	default:
		return 0;
	}
}

/* Of training nobody knows how many messages a burst has: what matters is that there is an end. */
uint64_t spec_quota(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];

	if (spec_bursts(spec))
		return spec->burst_count * (spec->burst_size ? spec->burst_size : 1);
	return spec->iterations * spec_ops(spec, op);
}
