/* What a sender keeps of its bursts, and what the bursts of all senders come to: skew, overlap, lengths, skipped slots. */
#ifndef SPEC_BURST_H
#define SPEC_BURST_H

#include "base/hist.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cursor;
struct rank_result;
struct result;

#define BURST_KEPT    4096 /* a worker's last bursts, one by one */
#define BURST_LATE_NS 10000 /* a first message that much behind its instant makes the burst a late one */

/* One burst. Instants are ns of the sender's clock. */
struct burst_record {
	uint64_t number; /* of its slot, counted from the start of the traffic */
	int64_t offset_ns; /* that clock minus rank 0's at that time, where it was followed */
	int64_t due_ns;
	int64_t begun_ns, rung_ns; /* before the first post, and when that had returned: the doorbell rang in between */
	int64_t posted_ns; /* the last post had returned */
	int64_t done_ns; /* its last completion was taken; 0: never seen */
	uint32_t qp; /* storage: whose; else 0 */
	uint32_t messages;
};

/* Of one worker, over the slots that were due in the window. With storage each queue pair has slots of its own. */
struct burst_stats {
	uint64_t slots;
	uint64_t bursts; /* slots that had one; the others: */
	uint64_t skipped; /* passed while the worker was away, */
	uint64_t full; /* had no room, as earlier bursts were not done */
	uint64_t late; /* bursts whose first message was late */
	uint64_t messages;
	bool by_device; /* which paces them: a slot is a burst whose last completion was taken in the window */
	uint64_t flows; /* with storage: queue pairs of which two bursts or more were seen, */
	double rate; /* and the sum of their rates from first to last burst, messages per second, */
	double slowest, fastest; /* the least and the largest of them, */
	int64_t span_ns; /* and the shortest time from first to last; */
	uint64_t unrated; /* and those of which fewer were seen */
	struct hist lateness; /* ns from the instant to rung */
	struct hist length; /* ns from rung to done */
	struct hist gap; /* ns from rung (by_device: done) to the next one's, no slot between them */
	bool followed; /* the clock was measured again and again meanwhile: */
	int64_t clock_error_ns, clock_u95_ns; /* how wrong the records' offsets may be, and are in 5 of 100 cases */
	uint64_t kept; /* records ever; the last BURST_KEPT are there, number i at i % BURST_KEPT */
	struct burst_record record[BURST_KEPT];
};

struct burst_stats *burst_stats_new(void); /* NULL: no memory */
/* Takes a burst that is over. */
void burst_keep(struct burst_stats *stats, const struct burst_record *record);
/* Of a queue pair with storage: messages from the first burst to the last, without its own, in so long. */
void burst_keep_rate(struct burst_stats *stats, uint64_t messages, int64_t span_ns);
void burst_stats_pack(const struct burst_stats *stats, struct buf *to);
int burst_stats_unpack(struct burst_stats **ret, struct cursor *from); /* -EPROTO, -ENOMEM; bounded */

/* The oldest record that is there. */
static inline uint64_t burst_first_kept(const struct burst_stats *stats)
{
	return stats->kept > BURST_KEPT ? stats->kept - BURST_KEPT : 0;
}

/* Its instants become those of rank 0's clock; its offset, where the clock was not followed, that in the rank's result. */
void burst_in_root(struct burst_record *record, const struct burst_stats *stats, const struct rank_result *rank);

/* us; NAN where nothing was seen. */
struct burst_spread {
	uint64_t count;
	double p1, p50, p95, p99, max;
};

/* At the receivers, each by its own clock. */
struct arrival_summary {
	uint32_t receivers;
	uint64_t bursts, whole; /* slots of which something came; of them, with all that all senders have in a burst */
	struct burst_spread span; /* from the first arrival to the last one, of the latter */
	double slowdown; /* the median's multiple of ideal_us; NAN */
};

/* The volley before the bursts, where several senders have one receiver. */
struct volley_summary {
	uint32_t senders; /* all of whose messages came; fewer than 2: nothing can be said */
	struct burst_spread
		posted; /* from the first post to the last one, by the senders' clocks as they were synchronised */
	struct burst_spread arrived; /* from the first arrival to the last one, by the receiver's clock alone */
	double apart_us; /* by which the senders' quickest messages differ: clocks and paths together */
	double serial_us; /* what the receiver's link needs for all messages but one; NAN */
};

struct burst_summary {
	uint32_t senders; /* workers that had bursts; */
	uint32_t by_device; /* of them, those whose device paces */
	uint64_t slots, bursts, skipped, full, late, messages;
	struct burst_spread lateness, length, gap;
	double period_us; /* sync_burst */
	double burst_gbps; /* of a sender while its burst lasts: median; NAN */
	double flow_gbps; /* storage: mean of the queue pairs' average rates; NAN, */
	double slowest_gbps, fastest_gbps; /* the least and the largest of them, */
	double span; /* the shortest time from first to last burst, s, */
	uint64_t unrated; /* and queue pairs without a rate */
	/* training, sync_burst: bursts of which all senders' slots are known */
	uint64_t compared, complete, valid; /* so many; all senders had it; and none was late */
	uint64_t first_compared; /* number of the first of them */
	struct burst_spread skew; /* of the senders' first doorbells, of complete ones */
	double clock_us; /* bound of the skew's error: the two largest of senders' clocks together */
	double clock_u95_us; /* it is less in 95 of 100 cases */
	uint32_t half; /* at least so many senders, */
	struct burst_spread overlap_all, overlap_half; /* at once, from first doorbell to last completion */
	struct burst_spread completion; /* from the first sender's doorbell to the last one's last completion */
	double ideal_us, slowdown; /* what the busiest link needs for it, and the median's multiple; NAN */
	struct arrival_summary arrivals;
	struct volley_summary volley;
};

struct burst_spread burst_spread_of(const struct hist *hist); /* of ns */

/* Sums up senders, one after another; what they kept is copied. */
struct burst_sum;
struct burst_sum *burst_sum_new(const struct spec *spec); /* NULL: no memory */
/* number: of the rank, whose clock all its workers and connections share. -ENOMEM. */
int burst_sum_add(struct burst_sum *sum, uint32_t number, const struct rank_result *rank);
/* Of one test between two hosts; false: it has no bursts, or there is no memory. */
bool result_bursts(const struct result *result, struct burst_summary *ret);
/* share: messages that the busiest link carries in a burst of all, in parts of what one queue pair sends. */
void burst_sum_end(struct burst_sum *sum, double share, struct burst_summary *ret);
void burst_sum_free(struct burst_sum *sum);

#endif
