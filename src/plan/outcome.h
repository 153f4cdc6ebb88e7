/* What became of a plan: the parts of all ranks, and each connection's result put together from its two ends. */
#ifndef PLAN_OUTCOME_H
#define PLAN_OUTCOME_H

#include "plan/plan.h"
#include "spec/part.h"

struct outcome_end {
	uint32_t test, rank;
	uint64_t key;
	bool active;
	struct cursor result; /* inside the rank's part */
};

/* What the connections of a test come to. */
struct outcome_test {
	uint64_t connections, failed, missed; /* in all; without a figure; below their threshold */
	double sum, mean, min, max; /* of the figures: Gb/s, or us; NAN when there is none */
	struct connection lowest, highest;
	uint64_t sent, received, lost; /* messages, of the connections whose receiver counts */
	bool counted; /* there are such */
};

struct outcome {
	const struct plan *plan;
	struct request request; /* what all tests have in common: how the results are to be shown */
	enum run_status status;
	struct error error; /* why, when status is RUN_FAILED or RUN_INTERRUPTED */
	int64_t started_unix_ns;
	double setup_seconds; /* from the start of mpirun to the start of the traffic */
	bool measured; /* all parts are here */
	int64_t begin_ns[2], end_ns[2]; /* earliest and latest of all windows, on rank 0's clock */
	struct buf *part; /* by rank, as they came */
	struct part_head *head; /* by rank; host empty: no part */
	struct part_clock *clock; /* by rank */
	struct closure closure;
	double *figure; /* by connection, as plan_next() gives them: Gb/s, or us in the median; NAN: it failed */
	struct outcome_test *test; /* by test */
	struct result scratch; /* while one is looked at: too large for a stack */
	uint32_t ends, cap;
	struct outcome_end *end; /* by test, key and role once all are here */
};

int outcome_init(struct outcome *ret, const struct request *request, const struct plan *plan, struct error *err);
void outcome_release(struct outcome *outcome);

/* Takes over a rank's part; -EPROTO: it is not one, or of other connections than planned. */
int outcome_add(struct outcome *outcome, uint32_t rank, struct buf *part, struct error *err);
int outcome_add_clocks(struct outcome *outcome, const struct buf *clocks, struct error *err);
/* All parts are here. -EPROTO: an end is missing, or is there twice. */
int outcome_complete(struct outcome *outcome, struct error *err);

/* The figures of all connections and what they come to: status, error, figure, test. */
int outcome_judge(struct outcome *outcome, struct error *err);

/* One result: failed where no message completed, missed where a threshold is. */
void outcome_judge_result(struct result *result);

/*
 * Spread of the windows' begins and ends over all workers of all ranks, on rank 0's clock; the largest bound of a rank's clock's
 * error, and what holds in 95 of 100 cases; s.
 */
struct outcome_skew {
	double begin, end, clock_error, clock_u95;
};
bool outcome_skew(const struct outcome *outcome, struct outcome_skew *ret);

/* One connection as a result between two ranks, requestor first; to be released. Its status tells whether it failed. */
int outcome_result(const struct outcome *outcome, const struct connection *connection, struct result *ret,
		   struct error *err);

#endif
