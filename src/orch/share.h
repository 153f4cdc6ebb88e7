/* A rank's share of a scenario: its ends of the plan's connections, and the workers that carry them (private to orch/). */
#ifndef ORCH_SHARE_H
#define ORCH_SHARE_H

#include "base/buf.h"
#include "counters/counters.h"
#include "engine/burst.h"
#include "engine/engine.h"
#include "orch/clocks.h"
#include "orch/comm.h"
#include "orch/many.h"
#include "orch/run.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* One end of a connection: its queue pairs in each flow of its group are number slot * qps and those behind it. */
struct member {
	struct connection c;
	bool active; /* the requestor's end; else the responder's */
	uint32_t peer; /* rank of the other end */
	uint32_t group, slot;
	uint32_t qps; /* of each flow */
	struct cursor address; /* what the other end sent: inside share->from[peer] */
	uint64_t expected; /* messages that the other end has sent */
	struct error *error; /* it cannot be used, although the rest goes on; NULL: none */
};

/*
 * Ends that have workers in common: those of one endpoint in one test and role, with messages of one size. Where a figure belongs to the worker (all
 * samples of latency, a schedule), or the driver's port knows one peer only, each end is a group of its own.
 */
struct group {
	uint32_t test, endpoint;
	bool active;
	uint32_t first, members; /* in share->member */
	uint32_t first_flow, workers;
	struct spec spec; /* of this end, with the queue pairs of all members */
	struct core_list cores;
	int node;
	struct rank_result result; /* of its workers */
};

struct share {
	const struct plan *plan;
	uint32_t rank;
	uint32_t members, groups, flows;
	struct member *member; /* group by group */
	struct member **by_key; /* by test, key and role */
	struct member **in_turn; /* the order in which they are connected: the same on all ranks */
	struct group *group;
	struct flow *flow; /* group by group */
	struct flow_control control; /* of all flows */
	bool cores_shared; /* with each other or with another rank of this machine */
	struct buf *to, *from; /* by rank: an exchange's messages */
	struct error closing; /* what a device did not take back at the end */
};

/* Whether a rank could make its share of each point (of rounds, the first is as large as any). */
int share_check(const struct plan *plan, uint32_t rank, struct error *err);
int share_make(struct share *ret, const struct plan *plan, uint32_t rank, struct stage stage, struct error *err);
void share_release(struct share *share);
/* This rank's end of a connection; NULL when it has none. */
struct member *share_find(const struct share *share, uint32_t test, uint64_t key, bool active);
/* An end as messages name it, and this rank's end of a connection whose other end a peer names; NULL when it has none. */
void member_name(const struct member *member, struct buf *to);
struct member *share_named(const struct share *share, uint32_t peer, struct cursor *from);
static inline struct flow *member_flow(const struct share *share, const struct member *member, uint32_t worker)
{
	return &share->flow[share->group[member->group].first_flow + worker];
}

/* What a rank tells all others before anything is opened. */
struct attendance {
	char machine[64]; /* the same text on two ranks of one machine */
	uint32_t threads; /* workers that it will run */
	struct sockaddr_storage address;
};

#define LIVE_SUMS 8 /* intervals whose rates may be under way to rank 0 */

/* Messages of tests of bandwidth, and their bits: so far, or a second. */
struct live_rate {
	double messages, bits;
};

/* Live lines (share_live.c). Instants are of this rank's clock. */
struct many_live {
	uint32_t phase; /* number of it; what comes late from the one before is no part of it */
	int64_t start_ns, last_ns, next_ns;
	struct live_rate last;
	struct live_sum {
		uint64_t number; /* of the interval, the first is 1 */
		uint32_t ranks; /* that have told theirs */
		struct live_rate rate;
	} sum[LIVE_SUMS];
};

struct watch; /* share_traffic.c */

#define RESYNC_TRACK 4096u

/* This rank's clock against rank 0's while bursts run: rank 0's minus the own one, by the own one. */
struct resync {
	bool on;
	bool shared; /* it is rank 0's, as far as pings allow */
	int64_t every_ns, next_ns; /* when it is asked again; INT64_MAX: never */
	int64_t offset_ns; /* own clock minus rank 0's, as the start was computed */
	struct burst_grid slots; /* whose gaps it is asked in */
	struct clockfit fit; /* of the latest points, for what comes */
	uint64_t points; /* so far; the last ones are there, number i at i % RESYNC_TRACK */
	struct clock_offset track[RESYNC_TRACK]; /* for what was */
};

/* A run over many ranks while it is carried through. */
struct many {
	struct comm *comm;
	const struct many_conf *conf;
	struct stage stage; /* at hand */
	struct share share; /* of it */
	struct attendance *here; /* by rank */
	unsigned before, threads; /* workers of ranks before this one on its machine, and of all there */
	struct clocks clocks; /* measured before the traffic and after it */
	struct rank_result mine; /* what is the same in all results of this rank */
	struct nics nics; /* whose counters are read */
	struct port_counters stage_counters, counters; /* of the stage at hand, of all so far */
	struct watch *watch; /* while traffic runs: how far it is */
	struct resync resync;
	bool volley; /* the phase at hand is one */
	struct many_live live;
	bool interrupted, stuck;
};

/* Whether a connection that fails leaves the others going: rounds, which would be in vain else. */
static inline bool many_goes_on(const struct many *many)
{
	return many->stage.round > 0;
}

#define FOR_EVER_NS  (INT64_C(1) << 60) /* as a deadline, where others see that it ends */
#define STEP_MOST_NS 60000000000LL /* longest that one step of the set-up may take */
#define RESULT_NS    2000000LL /* longest that rank 0 may be at the results of one connection */

static inline int64_t many_deadline(const struct many *many)
{
	return clock_now(many->conf->clock) + STEP_MOST_NS;
}

/* Until all results are where they are to go. */
static inline int64_t many_results_deadline(const struct many *many)
{
	return many_deadline(many) + (int64_t)many->conf->plan->connections * RESULT_NS;
}

void many_begins(const struct many *many, enum many_step step);
void many_host_name(const char *name, char *ret, size_t size); /* "node1" of "node1%2" */

/* attend.c: who is here, with which address and how many workers; all ranks that cannot take part are named. */
int many_attend(struct many *many, struct error *err);

/* share_open.c: ports, memory, endpoints of all groups, joined to their peers'. */
int share_open(struct many *many, struct error *err);
int share_join(struct many *many, struct error *err);
/* What stands in share->to goes to each rank, what they have for this one into share->from. */
int share_swap(struct many *many, int64_t deadline_ns, struct error *err);
void share_close(struct share *share);

/* share_spare.c: ends that cannot be used, when the others go on. */
void member_fail(struct share *share, struct member *member, const struct error *why);
/* Each end knows of the other one. */
int share_tell_failed(struct many *many, struct error *err);

/* share_traffic.c */
int share_traffic(struct many *many, struct error *err);
/* Rank 0's instant so long from now, and whether somebody interrupts, for all. */
int traffic_agree_start(struct many *many, int64_t lead_ns, int64_t deadline_ns, int64_t *ret, struct error *err);
/* From here on, or no longer, what the others say is taken while a collective call waits. */
void traffic_hear(struct many *many, bool on);
/* Takes what the others say, at most for so long; says itself that it must end. */
int traffic_attend(struct many *many, int64_t timeout_ns, struct error *err);

/* All ranks carry out a phase of the traffic. */
int traffic_phase(struct many *many, bool measure, struct error *err);

/* share_volley.c: where several endpoints send bursts to one; before the first stage's traffic. */
int share_volley(struct many *many, struct error *err);

/* share_live.c: traffic begins; an interval may be over; what other ranks tell rank 0. */
void live_begin(struct many *many, int64_t start_ns);
int live_step(struct many *many, struct error *err);
void live_told(void *context, struct cursor *from);

/* share_step.c: iterations in step. */
static inline bool plan_in_step(const struct plan *plan)
{
	return plan->test[0].iteration_sync; /* all tests are, or none */
}
int step_open(const struct share *share, const struct group *group, struct flow *flow, struct error *err);
void step_close(struct flow *flow);
/* What a worker has of one end, whose own messages alone count: without those that only announce. */
void step_collect(const struct flow *flow, const struct member *member, struct worker_result *worker,
		  struct rank_result *end);
int step_run(struct many *many, bool measure, int64_t start_ns, struct error *err);
/* All ranks: rank 0 hears whether anybody wants to end it, and tells so with the next start. */
int step_wishes(struct many *many, int64_t deadline_ns, struct error *err);

/* share_resync.c */
void resync_begin(struct many *many, int64_t start_ns);
int resync_step(struct many *many, struct error *err);
/* All stands still, and the clocks were measured again: the offset at each burst. */
void resync_end(struct many *many);

/* share_collect.c: this rank's part of the results (spec/pairs.h). */
void share_collect(struct many *many, struct buf *ret);
void share_count_before(struct many *many); /* of the NICs, right before the traffic */
void share_count_after(struct many *many);

#endif
