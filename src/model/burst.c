/* Closed forms of bursts into one queue: lengths, rates, peak, loss, knee, drain and overlap. */
#include "model/burst.h"

#include <math.h>

/* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, preamble and gap 20 bytes; an RDMA write's first packet has 16 more. */
#define PACKET_OVERHEAD 82
#define PACKET_MORE     36 /* IPv6 has 20 more than IPv4 */

double link_payload(double link, double packet)
{
	return link * packet / (packet + PACKET_OVERHEAD);
}

double payload_least(double packet)
{
	return packet / (packet + PACKET_OVERHEAD + PACKET_MORE);
}

double burst_length(const struct burst *burst)
{
	return burst->bytes / burst->rate;
}

double burst_net(const struct burst *burst)
{
	return burst->senders * burst->rate - burst->drain;
}

/* What a sender brings in the long run: bursts longer than their cycle follow one another. */
static double mean_rate(const struct burst *burst)
{
	return burst->cycle > 0 ? fmin(burst->bytes / burst->cycle, burst->rate) : 0;
}

bool burst_overloads(const struct burst *burst)
{
	return burst->senders * mean_rate(burst) > burst->drain * (1 + 1e-9);
}

double burst_fill(const struct burst *burst)
{
	if (burst_net(burst) <= 0)
		return INFINITY;
	if (burst_overloads(burst) && burst_unlimited(burst) < burst->limit)
		return burst->limit / (burst->senders * mean_rate(burst) - burst->drain);
	return burst->limit / burst_net(burst);
}

/* All that arrives, less what drains from the first start to the last end. */
double burst_unlimited(const struct burst *burst)
{
	const double all = burst->senders * burst->bytes;
	const double queued = all - burst->drain * (burst_length(burst) + burst->skew);

	return queued > 1e-9 * all ? queued : 0; /* less is rounding */
}

double burst_peak(const struct burst *burst)
{
	return burst_overloads(burst) ? burst->limit : fmin(burst_unlimited(burst), burst->limit);
}

/* Beyond the limit; where the pause doesn't drain what is left of one burst before the next, all that doesn't drain in a cycle. */
double burst_drop(const struct burst *burst)
{
	const double all = burst->senders * burst->bytes, over = burst_unlimited(burst) - burst->limit;

	if (isinf(burst->limit))
		return 0;
	if (burst_overloads(burst))
		return fmax(over, all * (1 - burst->drain / (burst->senders * mean_rate(burst))));
	return fmax(over, 0);
}

/* N * S - C * (S / R + w) = L, solved for S; in cycles no more than drains in one. */
double burst_knee(const struct burst *burst)
{
	const double net = burst->senders - burst->drain / burst->rate;
	const double once = net > 0 ? (burst->limit + burst->drain * burst->skew) / net : INFINITY;
	const double lasting = burst->drain * burst->cycle / burst->senders;

	return net > 0 && burst->cycle > 0 && isfinite(burst->limit) ? fmin(once, lasting) : once;
}

/* Sender i is active from i * w / (N - 1) for T: at least m from the m-th start to the m-th last end. */
double burst_overlap(const struct burst *burst, uint32_t senders)
{
	const double n = burst->senders, m = senders;

	if (senders > burst->senders)
		return 0;
	if (burst->senders < 2)
		return burst_length(burst);
	return fmax(burst_length(burst) + burst->skew * (n - 2 * m + 1) / (n - 1), 0);
}

double burst_sender_average(const struct burst *burst)
{
	return mean_rate(burst);
}

bool burst_is_exact(const struct burst *burst)
{
	if (burst->skew <= 0 || burst->senders < 2)
		return true;
	return burst->rate >= burst->drain && burst->skew / (burst->senders - 1) <= burst_length(burst);
}

double burst_in_flight(uint32_t senders, uint64_t queue_pairs, uint64_t outstanding, double message)
{
	return senders * (double)queue_pairs * (double)outstanding * message;
}
