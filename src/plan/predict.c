/* From the bursts of a plan to numbers: who sends how much, when, into a port of what switch. */
#include "plan/predict.h"

#include "plan/pressure.h"

#include <errno.h>
#include <math.h>

#define NS      1e-9
#define PACKET  4096 /* where --mtu doesn't tell */
#define UNKNOWN (-1)

static struct buffer buffer_of(const struct spec *spec)
{
	return (struct buffer){
		.pool = (double)spec->buffer,
		.alpha = spec->alpha,
		.limit = spec->buffer_limit ? (double)spec->buffer_limit : INFINITY,
	};
}

static struct ecn ecn_of(const struct spec *spec)
{
	if (!spec->ecn_kmin)
		return (struct ecn){ .kmin = INFINITY, .kmax = INFINITY };
	return (struct ecn){ .kmin = (double)spec->ecn_kmin, .kmax = (double)spec->ecn_kmax, .pmax = spec->ecn_pmax };
}

static double cycle_of(const struct spec *spec)
{
	switch (spec->burst_profile) {
	case BURST_TRAINING:
		return ((double)spec->burst_ns + (double)(spec->pause_min_ns + spec->pause_max_ns) / 2) * NS;
	case BURST_STORAGE:
		return 8 * (double)spec->size * (double)spec->burst_size / (double)spec->rate_limit;
	default:
		return (double)spec_burst_period_ns(spec) * NS;
	}
}

/* Sockets have a window instead; what nobody acknowledges has no bound. */
static double in_flight_of(const struct spec *spec)
{
	if (!transport_is_reliable(spec->transport) || transport_is_socket(spec->transport) ||
	    spec->tx_depth == SPEC_AUTO)
		return 0;
	return burst_in_flight(1, spec->qps * spec->workers, spec->tx_depth, (double)spec->size);
}

/* Payload of a packet on average: the last one of a message is shorter. */
static double mean_packet(const struct spec *spec, uint32_t packet)
{
	return (double)spec->size / ceil((double)spec->size / packet);
}

static struct predict_case case_of(const struct spec *spec, const struct pressure *pressure)
{
	const double line = (double)spec->link_rate / 8;
	const bool known = spec->mtu != SPEC_AUTO;
	const uint32_t packet = known ? (uint32_t)spec->mtu : PACKET;
	const double payload = known ? link_payload(1, mean_packet(spec, packet)) : 1; /* share of a rate */

	return (struct predict_case){
		.senders = pressure->senders,
		.ports = pressure->ports,
		.sent = pressure->sent,
		.link = line * payload,
		.sender = (spec->sender_rate ? (double)spec->sender_rate / 8 : line) * payload,
		.line = line,
		.message = (double)spec->size,
		.queues = spec->qps * spec->workers,
		.messages = (double)spec->burst_size * (double)(spec->qps * spec->workers),
		.time = spec->burst_profile == BURST_TRAINING ? (double)spec->burst_ns * NS : 0,
		.cycle = cycle_of(spec),
		.free_phases = spec->burst_profile == BURST_STORAGE,
		.skew = (double)spec->start_skew_ns * NS,
		.in_flight = in_flight_of(spec),
		.packet = packet,
		.buffer = buffer_of(spec),
		.ecn = ecn_of(spec),
		.xoff = spec->pfc_xoff ? (double)spec->pfc_xoff : INFINITY,
		.cable = spec->cable > 0 || spec->pfc_xoff ? spec->cable : UNKNOWN,
		.seed = spec->seed,
	};
}

static bool names_switch(const struct spec *spec)
{
	return spec->buffer || spec->buffer_limit || spec->start_skew_ns || spec->ecn_kmin || spec->pfc_xoff ||
	       spec->cable > 0;
}

/* One that is too long is left out. */
static int run(const struct predict_case *of, struct plan_prediction *ret, struct error *err)
{
	const int rc = predict_simulate(of, false, &ret->simulation, err);

	ret->simulated = rc == 0;
	if (rc != -ELOOP)
		return rc;
	ret->left_out = *err;
	error_clear(err);
	return 0;
}

int plan_predict(const struct plan *plan, bool simulate, struct plan_prediction *ret, struct error *err)
{
	struct predict_case of;
	struct pressure pressure;
	int rc = 0;

	*ret = (struct plan_prediction){ 0 };
	for (uint32_t i = 0; rc == 0 && !ret->there && i < plan->tests; i++) {
		const struct spec *const spec = &plan->test[i].sweep.spec[0];

		if (!spec_bursts(spec) || !spec->link_rate)
			continue;
		rc = plan_pressure(plan, &pressure, err);
		if (rc < 0)
			break;
		of = case_of(spec, &pressure);
		ret->there = true;
		ret->test = i;
		ret->profile = spec->burst_profile;
		ret->switch_named = names_switch(spec);
		ret->headers = spec->mtu != SPEC_AUTO;
		rc = predict(&of, &ret->is, err);
		if (rc == 0 && simulate)
			rc = run(&of, ret, err);
	}
	return rc;
}
