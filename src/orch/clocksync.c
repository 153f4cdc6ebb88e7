/* Measures another rank's clock offset: what all ping-pongs together allow, which is at most the fastest one's round trip. */
#include "orch/clocksync.h"

#include "orch/comm.h"

#include <errno.h>
#include <stdbool.h>

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

/*
 * What all ping-pongs so far allow: the true offset is above each one's least and below each one's most. It may have
 * drifted since, by as much as any clock does.
 */
struct allowed {
	int64_t low, high, at_ns;
};

/* Whether it was narrowed. -EPROTO: this ping-pong contradicts those before. */
static int narrow(struct allowed *allowed, const struct ping *ping)
{
	const int64_t drift = (ping->t4 - allowed->at_ns) / (1000000 / CLOCK_DRIFT_PPM) + 1;
	const int64_t low = ping->t3 - ping->t4, high = ping->t2 - ping->t1;
	const int64_t before = allowed->high - allowed->low;

	allowed->low -= drift;
	allowed->high += drift;
	allowed->at_ns = ping->t4;
	if (low > allowed->high || high < allowed->low)
		return -EPROTO;
	allowed->low = low > allowed->low ? low : allowed->low;
	allowed->high = high < allowed->high ? high : allowed->high;
	return allowed->high - allowed->low < before;
}

/* As good as it is to be, or as can be had in a time that is bearable with many ranks. */
static bool is_good(const struct allowed *allowed, int64_t passed_ns)
{
	return allowed->high - allowed->low <= 2 * CLOCKSYNC_GOOD_NS || passed_ns > CLOCKSYNC_LONG_NS;
}

static int jumps(const struct comm *comm, unsigned rank, struct error *err)
{
	return error_set(err, -EPROTO, "the clock of host '%s' jumps: its answers to pings contradict each other",
			 comm->names ? comm->names[rank] : comm->peer_name);
}

/* What is known of one rank while it is asked. */
struct asked {
	unsigned rank; /* its place among those that are measured */
	unsigned done, since; /* ping-pongs; those that told nothing new since one did */
	int64_t begun_ns;
	struct allowed allowed;
};

/* One more ping-pong has told something. */
static int learn(struct asked *asked, const struct ping *ping, const struct comm *comm, unsigned rank,
		 struct error *err)
{
	struct clock_offset one;
	int rc = 1;

	if (clocksync_judge(ping, &one) < 0)
		return error_set(err, -EPROTO, "host '%s' stamps its answers to pings with impossible times",
				 comm->names ? comm->names[rank] : comm->peer_name);
	if (asked->done++) {
		rc = narrow(&asked->allowed, ping);
	} else {
		asked->allowed = (struct allowed){ ping->t3 - ping->t4, ping->t2 - ping->t1, ping->t4 };
		asked->begun_ns = ping->t1;
	}
	asked->since = rc ? 0 : asked->since + 1;
	return rc < 0 ? jumps(comm, rank, err) : 0;
}

static bool is_enough(const struct asked *asked, unsigned rounds)
{
	const bool good = is_good(&asked->allowed, asked->allowed.at_ns - asked->begun_ns);

	return asked->done >= rounds || asked->since >= (good ? CLOCKSYNC_PATIENT : 5 * CLOCKSYNC_PATIENT);
}

static void conclude(const struct asked *asked, struct clock_offset *ret)
{
	const struct allowed *allowed = &asked->allowed;

	ret[asked->rank] = (struct clock_offset){ .offset_ns = allowed->low + (allowed->high - allowed->low) / 2,
						  .error_ns = (allowed->high - allowed->low + 1) / 2,
						  .at_ns = allowed->at_ns,
						  .rounds = asked->done };
}

/*
 * Some at once, so that the way there and back is waited for by all of them together; no more than need be, as answers
 * that come together delay each other.
 */
static unsigned at_once(unsigned count)
{
	const unsigned wish = 1 + count / CLOCKSYNC_RANKS;

	return wish < CLOCKSYNC_AT_ONCE ? wish : CLOCKSYNC_AT_ONCE;
}

int clocksync_measure_all(struct comm *comm, unsigned first, unsigned count, unsigned rounds, struct clock_offset *ret,
			  int64_t deadline_ns, struct error *err)
{
	struct asked asked[CLOCKSYNC_AT_ONCE];
	struct ping ping[CLOCKSYNC_AT_ONCE];
	unsigned rank[CLOCKSYNC_AT_ONCE], next = 0, open = 0;

	rounds = rounds ? rounds : CLOCKSYNC_ROUNDS;
	while (open || next < count) {
		int rc;

		for (; open < at_once(count) && next < count; next++) {
			rank[open] = first + next;
			asked[open++] = (struct asked){ .rank = next };
		}
		rc = comm_ping(comm, rank, open, ping, deadline_ns, err);
		for (unsigned i = 0; rc == 0 && i < open; i++)
			rc = learn(&asked[i], &ping[i], comm, rank[i], err);
		if (rc < 0)
			return rc;
		for (unsigned i = open; i-- > 0;) {
			if (!is_enough(&asked[i], rounds))
				continue;
			conclude(&asked[i], ret);
			asked[i] = asked[--open];
			rank[i] = rank[open];
		}
	}
	return 0;
}

int clocksync_measure(struct comm *comm, unsigned rank, unsigned rounds, struct clock_offset *ret, int64_t deadline_ns,
		      struct error *err)
{
	return clocksync_measure_all(comm, rank, 1, rounds, ret, deadline_ns, err);
}
