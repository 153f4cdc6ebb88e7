/* The engines there are. */
#include "engine/engine.h"
#include "engine/bandwidth.h"
#include "engine/latency.h"

#include <stddef.h>

const struct engine *const engines[] = { &engine_bandwidth, &engine_latency, NULL };

const struct engine *engine_find(enum metric metric)
{
	for (size_t i = 0; engines[i]; i++) {
		if (engines[i]->metric == metric)
			return engines[i];
	}
	return NULL;
}
