/* Bursts: a line of slots at absolute instants, the engine that fills them, and its row in the list of engines. */
#ifndef ENGINE_BURST_H
#define ENGINE_BURST_H

#include "base/lot.h"
#include "spec/burst.h"
#include "spec/spec.h"

#include <stdint.h>

struct flow;

extern const struct engine engine_burst;

/* What prepare made. */
void burst_free(struct flow *flow);

/*
 * Slots in which bursts begin. Instants and steps are ns with a fraction of 2^-64 ns, so that any period is kept exactly
 * enough for ever.
 */
typedef unsigned __int128 burst_instant;
struct burst_grid {
	burst_instant due, step; /* of the next slot; to the one behind it */
	uint64_t number; /* of the next slot */
	int64_t length_ns; /* training: how long a burst lasts; else 0: it has so many messages */
	int64_t pause_min_ns, pause_span_ns; /* training: the pause behind it */
	struct lot lot;
};

/*
 * The slots of a worker from start_ns on. flow: queue pair of storage, whose phases are drawn apart, another number for
 * each of all senders; the other profiles have the same slots everywhere.
 */
void burst_grid_init(struct burst_grid *grid, const struct spec *spec, uint64_t flow, int64_t start_ns);
static inline int64_t burst_due(const struct burst_grid *grid)
{
	return (int64_t)(grid->due >> 64);
}
/* Where the device paces: no slot waits any more but for room; the next one is due now, unless the first is yet to come. */
void burst_grid_now(struct burst_grid *grid, int64_t now);
/* Goes on to the next slot. */
void burst_grid_next(struct burst_grid *grid);
/* Leaves out slots until the next one is that in which now lies; training: or one that is not over. Their number. */
uint64_t burst_grid_skip(struct burst_grid *grid, int64_t now);

#endif
