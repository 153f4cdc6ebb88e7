/* The engines there are. */
#include "engine/engine.h"
#include "engine/bandwidth.h"
#include "engine/burst.h"
#include "engine/latency.h"
#include "engine/openloop.h"

#include <stddef.h>

const struct engine *const engines[] = {
	&engine_bandwidth, &engine_latency, &engine_openloop_bandwidth, &engine_openloop_latency, &engine_burst, NULL,
};

const struct engine *engine_find(const struct spec *spec)
{
	for (size_t i = 0; engines[i]; i++) {
		if (engines[i]->metric == spec->metric && engines[i]->paced == spec_is_paced(spec) &&
		    engines[i]->bursts == spec_bursts(spec))
			return engines[i];
	}
	return NULL;
}
