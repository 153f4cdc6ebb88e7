/* What became of a plan: the parts of all ranks, and each connection's result put together from its two ends. */
#ifndef PLAN_OUTCOME_H
#define PLAN_OUTCOME_H

#include "plan/impact.h"
#include "plan/plan.h"
#include "spec/arrivals.h"
#include "spec/part.h"
#include "spec/volley.h"

struct outcome_end {
	uint64_t stage;
	unsigned point;
	uint32_t test, rank;
	uint64_t key;
	bool active;
	struct cursor result; /* inside the rank's part */
};

/* Earliest and latest of all windows of a stage, on rank 0's clock; the ranks' clocks. */
struct outcome_stage {
	int64_t begin_ns[2], end_ns[2];
	struct part_clock *clock;
	bool interrupted;
};

#define OUTCOME_FAILURES 10 /* most connections that are told with why they failed */

struct outcome_failure {
	unsigned point;
	struct connection c;
	struct error error;
};

/* What the connections of a test come to. */
struct outcome_test {
	uint64_t connections, failed, missed; /* that ran; of them without a figure; below their threshold */
	double sum, mean, min, max; /* of the figures: Gb/s, or us; NAN when there is none; sum: mean of the rounds' */
	struct connection lowest, highest;
	uint64_t sent, received, lost; /* messages, of the connections whose receiver counts */
	bool counted; /* there are such */
	uint64_t steppers;
	double step_mean, step_max; /* in step: an iteration at its sender, s; 0: not in step */
	struct burst_sum *burst_sum; /* while results are looked at */
	struct arrival_sum *arrival_sum;
	struct volley_sum *volley_sum;
	bool has_bursts;
	struct burst_summary bursts;
	struct hist *samples; /* of a victim's connections, while results are looked at */
	bool has_latency;
	struct latency latency; /* of all these samples */
};

/* The connections of an endpoint, of one of its processes or of a host in one direction, and what they come to. */
struct outcome_sum {
	uint64_t connections, good; /* that ran; of them with a figure */
	double figure; /* sum, Gb/s, of rounds their mean; latency: mean of the medians, us; NAN: none */
};

#define OUTCOME_EXTREMES 10 /* most connections that are told as the fastest and the slowest */

struct outcome_extreme {
	struct connection c;
	double figure;
};

/* Pairs of endpoints with both directions: the sum of the two, Gb/s. */
struct outcome_pairs {
	uint64_t pairs; /* with a figure of both */
	double mean, min, max;
	struct connection lowest, highest;
};

/* What a run's time went into: until all ranks are there, and the steps of orch/many.h. */
enum outcome_phase {
	PHASE_START,
	PHASE_ATTEND,
	PHASE_OPEN,
	PHASE_JOIN,
	PHASE_CLOCKS,
	PHASE_TRAFFIC,
	PHASE_RESULTS,
	OUTCOME_PHASES
};

struct outcome {
	const struct plan *plan;
	struct request request; /* what all tests have in common: how the results are to be shown */
	enum run_status status;
	struct error error; /* why, when status is RUN_FAILED or RUN_INTERRUPTED */
	int64_t started_unix_ns;
	double phase[OUTCOME_PHASES]; /* s, of all stages together */
	enum outcome_phase now; /* since phase_begun */
	double phase_begun;
	double setup_seconds; /* from the start of mpirun to the start of the traffic */
	bool measured; /* all parts of a stage are here, or of several */
	uint64_t done; /* stages of which all is here */
	struct outcome_stage *stage;
	uint32_t parts, part_cap;
	struct buf *part; /* as they came */
	struct part_head *head; /* by rank, of the latest stage; host empty: no part */
	struct part_clock *clock; /* by rank, of the latest stage */
	struct closure closure;
	struct port_counters *counters; /* by rank: of its NICs, over all stages */
	double *figure; /* by point and connection, as plan_next() gives them: Gb/s, or us in the median; NAN: none */
	struct outcome_test *test; /* by point and test */
	double *way; /* by point and connection: the figures of its two directions; NULL: no test has both on a connection */
	uint32_t processes; /* most of any endpoint */
	struct outcome_sum *device,
		*process; /* by point, test, endpoint (and process): what it sends [0], receives [1] */
	uint32_t failures;
	struct outcome_failure failure[OUTCOME_FAILURES];
	struct result scratch; /* while one is looked at: too large for a stack */
	uint32_t ends, cap, told; /* ends of the stages that are done */
	struct outcome_end *end; /* by point, test, key and role once all are here */
};

static inline struct outcome_test *outcome_test(const struct outcome *outcome, unsigned point, uint32_t test)
{
	return &outcome->test[point * outcome->plan->tests + test];
}

/* Whether a connection was in a stage that is done. */
static inline bool outcome_ran(const struct outcome *outcome, const struct connection *c, unsigned point)
{
	return plan_runs(outcome->plan, c->test, point) && plan_stage_of(outcome->plan, c, point) < outcome->done;
}

int outcome_init(struct outcome *ret, const struct request *request, const struct plan *plan, struct error *err);
void outcome_release(struct outcome *outcome);
/* Another phase begins, s after the first did, and the one before is over. */
void outcome_begin(struct outcome *outcome, enum outcome_phase phase, double seconds);

/* Takes over a rank's part of the stage that is not done; -EPROTO: it is not one. Clocks are what ends a stage. */
int outcome_add(struct outcome *outcome, uint32_t rank, struct buf *part, struct error *err);
int outcome_add_clocks(struct outcome *outcome, const struct buf *clocks, struct error *err);
/*
 * No more parts come: what is here of stages that are done can be looked at. -EPROTO: an end of them is missing, or is there
 * twice.
 */
int outcome_complete(struct outcome *outcome, struct error *err);

/* The figures of all connections and what they come to: status, error, figure, test. */
int outcome_judge(struct outcome *outcome, struct error *err);

/*
 * Bursts, which belong to a sender's workers: they tell of them with one of their connections. What a test's come to, once all its connections were
 * looked at.
 */
int outcome_add_bursts(struct outcome *outcome, const struct connection *c, unsigned point, const struct result *result,
		       struct error *err);
void outcome_end_bursts(struct outcome *outcome, unsigned point, uint32_t number);
void outcome_drop_bursts(struct outcome *outcome);

/* All samples of a victim of latency (outcome_impact.c), when all its connections were looked at. */
int outcome_add_samples(struct outcome *outcome, const struct connection *c, unsigned point,
			const struct result *result, struct error *err);
void outcome_end_samples(struct outcome *outcome, unsigned point, uint32_t number);
void outcome_drop_samples(struct outcome *outcome);

/* What the load did to one figure of a victim; false: it has no such figure. */
enum impact_figure { IMPACT_MEAN, IMPACT_P99, IMPACT_P999, IMPACT_RATE, IMPACT_FIGURES };
bool outcome_impact(const struct outcome *outcome, uint32_t test, enum impact_figure figure, struct impact *ret);
/* No aggressor failed under load, and that phase ran to its end. */
bool outcome_load_whole(const struct outcome *outcome);

/* Sums (outcome_sums.c). The number is that of the figure. A test's sums are known when all of its connections were added. */
int outcome_make_sums(struct outcome *outcome, struct error *err);
void outcome_drop_sums(struct outcome *outcome);
void outcome_add_sums(struct outcome *outcome, const struct connection *c, unsigned point, uint64_t number,
		      const struct result *result);
void outcome_end_sums(struct outcome *outcome, unsigned point, uint32_t test, uint64_t rounds);
/* Two: what it sends, what it receives; of latency what it asked, what it answered. */
const struct outcome_sum *outcome_device(const struct outcome *outcome, unsigned point, uint32_t test,
					 uint32_t endpoint);
const struct outcome_sum *outcome_process(const struct outcome *outcome, unsigned point, uint32_t test,
					  uint32_t endpoint, uint32_t process);
/* Two of each host, to be freed; -ENOMEM. */
int outcome_hosts(const struct outcome *outcome, unsigned point, uint32_t test, struct outcome_sum **ret);
/* The connections with the lowest, or the highest, figures of a test, the most extreme first; how many there are. */
unsigned outcome_extremes(const struct outcome *outcome, unsigned point, uint32_t test, bool highest,
			  struct outcome_extreme ret[OUTCOME_EXTREMES]);
/* Of no pairs where the test has one direction only, or no pair has both figures. -ENOMEM. */
int outcome_pairs(const struct outcome *outcome, unsigned point, uint32_t test, struct outcome_pairs *ret);

/* One result: failed where no message completed, missed where a threshold is. */
void outcome_judge_result(struct result *result);

/*
 * Spread of the windows' begins and ends over all workers of all ranks, on rank 0's clock, the largest of any stage; the largest bound of a rank's clock's
 * error, and what holds in 95 of 100 cases; s.
 */
struct outcome_skew {
	double begin, end, clock_error, clock_u95;
};
bool outcome_skew(const struct outcome *outcome, struct outcome_skew *ret);

/* One connection at a point as a result between two ranks, requestor first; to be released. Its status tells whether it failed. */
int outcome_result(const struct outcome *outcome, const struct connection *connection, unsigned point,
		   struct result *ret, struct error *err);

#endif
