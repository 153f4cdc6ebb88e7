/* The schedule of an open loop: when each message is due, by absolute instants that do not drift. */
#ifndef ENGINE_PACE_H
#define ENGINE_PACE_H

#include "base/lot.h"
#include "spec/spec.h"

#include <stdint.h>

/* Instants are ns with a fraction of 2^-64 ns, so that a period of any number of ns is kept exactly enough for ever. */
struct pace {
	int64_t due_ns; /* when the next message is due */
	uint64_t fraction;
	int64_t step_ns; /* periodic: from one message to the next */
	uint64_t step_fraction;
	double mean_ns; /* the same on average */
	struct lot lot;
	void (*advance)(struct pace *pace);
};

/* The share that one of spec->workers workers has of the asked load, from start_ns on. */
void pace_init(struct pace *pace, const struct spec *spec, unsigned worker, int64_t start_ns);

/* Goes on to the next message. */
static inline void pace_advance(struct pace *pace)
{
	pace->advance(pace);
}

/* Messages that are due before an instant from the current one on: exact when periodic, else their mean. */
uint64_t pace_until(const struct pace *pace, int64_t ns);

#endif
