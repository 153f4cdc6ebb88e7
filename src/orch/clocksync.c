/* Measures another rank's clock offset from the fastest of some ping-pongs; the error is at most half its round trip. */
#include "orch/clocksync.h"

#include "orch/comm.h"

#include <errno.h>

/*
 * With delays d1 there and d2 back, both >= 0, and the true offset o: t2 = t1 + d1 + o and t4 = t3 + d2 - o, hence
 * t3 - t4 <= o <= t2 - t1: an interval as wide as the round trip without the other side's own time, and its middle.
 */
int clocksync_judge(const struct ping *ping, struct clock_offset *ret)
{
	int64_t high, low, trip;

	if (__builtin_sub_overflow(ping->t2, ping->t1, &high) || __builtin_sub_overflow(ping->t3, ping->t4, &low) ||
	    __builtin_sub_overflow(high, low, &trip) || trip < 0 || ping->t3 < ping->t2)
		return -EPROTO;
	ret->error_ns = trip / 2 + trip % 2;
	ret->offset_ns = low + trip / 2;
	ret->at_ns = ping->t4;
	ret->rounds = 1;
	return 0;
}

int clocksync_measure(struct comm *comm, unsigned rank, unsigned rounds, struct clock_offset *ret, int64_t deadline_ns,
		      struct error *err)
{
	struct clock_offset best = { .error_ns = INT64_MAX }, now;
	unsigned done, since = 0;
	struct ping ping;
	int rc;

	rounds = rounds ? rounds : CLOCKSYNC_ROUNDS;
	for (done = 0; done < rounds && since < CLOCKSYNC_PATIENT; done++) {
		rc = comm_ping(comm, rank, &ping, deadline_ns, err);
		if (rc < 0)
			return rc;
		if (clocksync_judge(&ping, &now) < 0)
			return error_set(err, -EPROTO, "host '%s' stamps its answers to pings with impossible times",
					 comm->peer_name);
		since = now.error_ns < best.error_ns ? 0 : since + 1;
		if (!since)
			best = now;
	}
	best.rounds = done;
	*ret = best;
	return 0;
}
