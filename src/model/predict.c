/* A prediction: the closed forms of the bursts that meet at a port, and where they don't hold, the fluid simulation. */
#include "model/predict.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>

#define ROUND_TRIP 5e-6 /* s from a mark to the sender that slows down, at least: a few hops and a notification */
#define MAX_FRAME  82 /* bytes that a frame has beyond its packet's payload */

/* What meets by chance meets at one port, not at all of them. */
uint32_t predict_ports(const struct predict_case *of)
{
	return of->free_phases ? 1 : of->ports;
}

/* In free phases a connection may have its port to itself; else a port's connections share it. */
struct burst predict_burst(const struct predict_case *of)
{
	const double rate = of->free_phases ? of->sender : of->sender / of->sent;

	return (struct burst){
		.senders = of->senders,
		.bytes = of->time > 0 ? of->time * rate : of->messages * of->message,
		.rate = rate,
		.drain = of->link,
		.skew = of->free_phases ? 0 : of->skew,
		.cycle = of->cycle,
		.limit = buffer_limit(&of->buffer, predict_ports(of)),
	};
}

/* Reliable senders wait for what is under way, so that no more than that is ever queued. */
static void bound(struct prediction *ret, const struct predict_case *of)
{
	ret->in_flight = of->in_flight > 0 ? of->senders * of->in_flight : INFINITY;
	if (ret->in_flight > ret->burst.limit)
		return;
	ret->peak = fmin(ret->peak, ret->in_flight);
	ret->usual = isnan(ret->usual) ? NAN : fmin(ret->usual, ret->in_flight);
	ret->drop = 0;
	ret->fill = ret->knee = INFINITY;
}

static void react(struct prediction *ret, const struct predict_case *of)
{
	const struct pfc_port port = { .link = of->line, .cable = of->cable, .mtu = of->packet + MAX_FRAME };

	ret->mark = isfinite(of->ecn.kmin) ? ecn_time(&ret->burst, of->ecn.kmin) : NAN;
	if (ret->peak <= of->ecn.kmin)
		ret->mark = isfinite(of->ecn.kmin) ? INFINITY : NAN;
	ret->uncontrolled = isfinite(ret->mark) ? ecn_uncontrolled(&ret->burst, of->ecn.kmin, ROUND_TRIP) : NAN;
	ret->headroom = of->cable >= 0 ? pfc_headroom(&port) : NAN;
}

/* What no closed form says: gaps between starts, and bursts that meet by chance. */
static int follow(struct prediction *ret, const struct predict_case *of, struct error *err)
{
	struct simulation simulation;
	const int rc = predict_simulate(of, true, &simulation, err);

	ret->unfollowed = rc == -ELOOP;
	if (ret->unfollowed)
		error_clear(err);
	if (rc < 0)
		return ret->unfollowed ? 0 : rc;
	if (of->free_phases)
		ret->usual = simulation.fluid.peak;
	if (ret->overload)
		return 0;
	if (!of->free_phases)
		ret->peak = simulation.fluid.peak;
	ret->drop = simulation.fluid.dropped / (double)simulation.bursts;
	return 0;
}

/* Messages. A larger burst of storage comes less often, so that the long run limits either none or all. */
static double knee(const struct predict_case *of, const struct burst *burst)
{
	struct burst once = *burst;

	if (!of->free_phases)
		return burst_knee(burst) / of->message;
	once.cycle = 0;
	return burst_overloads(burst) ? 0 : burst_knee(&once) / of->message;
}

/*
 * Of messages of one packet as many as packets; else, at worst, all that are not whole when the queue is first full. Starts
 * evenly apart put that off by half of the skew or more, and the last sender by all of it.
 */
static double hit(const struct prediction *is)
{
	const double begun = fmin(fmax(is->fill - is->of.skew / 2, 0) / is->length, 1); /* of the last one's burst */
	const double queues = is->of.queues ? (double)is->of.queues : 1;
	const double each = floor(is->burst.bytes / is->of.message / queues);

	if (is->of.message <= is->of.packet || is->share <= 0)
		return is->share;
	if (is->overload || is->of.free_phases || each < 1)
		return 1;
	return fmax(1 - floor(begun * each) / each, is->share);
}

int predict(const struct predict_case *of, struct prediction *ret, struct error *err)
{
	const struct burst burst = predict_burst(of);
	int rc;

	*ret = (struct prediction){
		.of = *of,
		.burst = burst,
		.length = burst_length(&burst),
		.node_length = of->sent * burst.bytes / of->sender,
		.fill_rate = fmax(burst_net(&burst), 0),
		.fill = burst_fill(&burst),
		.peak = burst_peak(&burst),
		.drop = burst_drop(&burst),
		.knee = knee(of, &burst),
		.overlap = of->free_phases ? NAN : burst_overlap(&burst, burst.senders),
		.sender_average = fmin(of->sent * burst_sender_average(&burst), of->sender),
		.usual = NAN,
		.exact = !of->free_phases && burst_is_exact(&burst),
		.overload = burst_overloads(&burst),
	};
	rc = ret->exact ? 0 : follow(ret, of, err);
	if (rc < 0)
		return rc;
	bound(ret, of);
	ret->share = ret->drop / (burst.senders * burst.bytes);
	ret->hit = hit(ret);
	ret->drain = ret->peak / burst.drain;
	ret->receiver_average = fmin(burst.senders * burst_sender_average(&burst) * (1 - ret->share), burst.drain);
	react(ret, of);
	return 0;
}
