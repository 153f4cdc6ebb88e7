/* Simulates the bursts of a prediction: its flows and its switch, as a fluid and packet by packet. */
#include "model/predict.h"

#include "base/error.h"
#include "base/lot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SYNC_BURSTS  3
#define FREE_BURSTS  100
#define MOST_STEPS   1e8 /* of the fluid: each event looks at every flow */
#define MOST_PACKETS 2e7
#define MAX_FRAME    82 /* bytes that a frame has beyond its packet's payload */

static struct sim_switch switch_of(const struct predict_case *of)
{
	const struct pfc_port port = { .link = of->line, .cable = fmax(of->cable, 0), .mtu = of->packet + MAX_FRAME };

	return (struct sim_switch){
		.buffer = of->buffer,
		.ecn = of->ecn,
		.xoff = of->senders * of->xoff,
		.xon = of->senders * of->xoff / 2,
		.delay = pfc_delay(&port),
	};
}

/* Senders that start at one instant are one flow. */
static uint32_t flows_of(const struct predict_case *of)
{
	return of->free_phases || of->skew > 0 ? of->senders : 1;
}

static uint64_t bursts_of(const struct predict_case *of, bool brief)
{
	const double flows = flows_of(of), most = of->free_phases ? FREE_BURSTS : SYNC_BURSTS;
	const double can = MOST_STEPS / (2 * flows * flows);

	return brief && !of->free_phases ? 1 : (uint64_t)fmax(fmin(most, can), 1);
}

static void fill(struct sim_flow *flow, const struct predict_case *of, uint64_t bursts)
{
	const struct burst burst = predict_burst(of);
	const uint32_t flows = flows_of(of);
	struct lot lot;

	lot_init(&lot, of->seed, 0);
	for (uint32_t i = 0; i < flows; i++) {
		flow[i] = (struct sim_flow){
			.senders = of->senders / flows,
			.rate = burst.rate,
			.bytes = burst.bytes,
			.packet = fmin(of->packet, of->message),
			.period = of->cycle,
			.bursts = bursts,
		};
		if (of->free_phases)
			flow[i].start = of->cycle * lot_uniform(&lot);
		else if (flows > 1)
			flow[i].start = of->skew * i / (flows - 1);
	}
}

static double packets_of(const struct sim *sim)
{
	double count = 0;

	for (uint32_t i = 0; i < sim->flows; i++)
		count += sim->flow[i].senders * (double)sim->flow[i].bursts *
			 ceil(sim->flow[i].bytes / sim->flow[i].packet);
	return count;
}

int predict_simulate(const struct predict_case *of, bool brief, struct simulation *ret, struct error *err)
{
	const struct sim_queue queue = { .drain = of->link, .copies = predict_ports(of) };
	struct sim sim = { .box = switch_of(of), .queue = &queue, .queues = 1, .flows = flows_of(of) };
	struct sim_flow *flow = calloc(sim.flows, sizeof(*flow));
	int rc;

	*ret = (struct simulation){ .bursts = bursts_of(of, brief) };
	if (!flow)
		return error_set(err, -ENOMEM, "no memory to simulate %u flows", sim.flows);
	fill(flow, of, ret->bursts);
	sim.flow = flow;
	sim.until = of->free_phases ? of->cycle * (double)ret->bursts : INFINITY;
	rc = sim_fluid(&sim, &ret->fluid, &ret->events, err);
	if (rc == 0 && !brief && packets_of(&sim) <= MOST_PACKETS)
		rc = sim_packets(&sim, &ret->packet, &ret->packets, err);
	free(flow);
	return rc;
}
