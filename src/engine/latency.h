/* The latency engine's row, and what it has for round trips that are the device's own. */
#ifndef ENGINE_LATENCY_H
#define ENGINE_LATENCY_H

#include "engine/engine.h"

extern const struct engine engine_latency;

/* Messages of which no completion tells: writes that were seen in memory, or that the device counted. */
static inline void flow_count(struct flow *flow, struct flow_ep *fep, uint64_t count)
{
	fep->received += count;
	flow->received += count;
}

/* trips.c, with caps.times_trips: counts those since the last look, and says what the last one took (ns). */
int64_t flow_count_trips(struct flow *flow, struct flow_ep *fep);
/* The passive side until FLOW_FINISH: counts, and looks for errors; 0 or a negative errno. */
int flow_attend_trips(struct flow *flow);

#endif
