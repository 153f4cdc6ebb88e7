/* Round trips that the device makes by itself: the side that asks takes their times, the one that answers counts them. */
#include "engine/latency.h"

int64_t flow_count_trips(struct flow *flow, struct flow_ep *fep)
{
	int64_t ns;

	flow_count(flow, fep, flow->drv->trips(fep->ep, &ns) - fep->received);
	return ns;
}

int flow_attend_trips(struct flow *flow)
{
	int rc;

	do {
		for (uint32_t i = 0; i < flow->qps; i++)
			flow_count_trips(flow, &flow->eps[i]);
		rc = flow_pump(flow);
		if (rc >= 0)
			rc = meter_check(flow);
		if (rc >= 0)
			rc = flow_idle_wait(flow, clock_now(flow->clock));
	} while (rc >= 0 && flow_command(flow) < FLOW_FINISH);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < flow->qps; i++) /* those since, behind which the other side was done */
		flow_count_trips(flow, &flow->eps[i]);
	meter_close(flow, clock_now(flow->clock));
	return 0;
}
