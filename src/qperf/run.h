/* One test at one end while it runs: its parameters, its counts, its time, and the connections it is carried by. */
#ifndef QPERF_RUN_H
#define QPERF_RUN_H

#include "base/hist.h"
#include "qperf/channel.h"
#include "qperf/stat.h"
#include "qperf/test.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define QPERF_LOST_NS  100000000LL /* where messages may be lost: an answer that takes longer is one of them */
#define QPERF_STILL_NS 2000000LL /* by count: nothing has come for so long, that may have been the last one */
#define QPERF_QUIET_NS 500000000LL /* by count: nothing has come for so long, the rest is lost */

struct qperf_rdma;

struct qperf_run {
	struct qperf_channel *channel;
	const struct qperf_test *test;
	struct qperf_params params; /* this end's */
	bool client; /* this end; else the server */
	bool ours; /* the other end is this program, too; a client learns it with the data port */
	bool poll; /* sockets never sleep */
	struct qperf_stat stat;
	struct hist *hist; /* client: round trips or operations, ns; NULL: none are taken */
	bool whole; /* of them: an operation's time is not halved */

	bool told_end; /* client: the text after the test has been sent */
	struct qperf_rdma *rdma; /* until the results are exchanged: the other end may still need it */

	/* The loop's own */
	const struct clock *clock;
	int64_t end_ns; /* when it is over */
	bool over;
	const atomic_bool *stop; /* one stream of several: says when the test is over; NULL: it finds out itself */
	timer_t timer;
	bool has_timer;
	volatile sig_atomic_t ticked; /* since the loop looked last */
	cpu_set_t cpus; /* as they were before the test pinned itself */
	bool pinned;
	struct error *err;
};

/* Whether this end sends (first, in a ping-pong): the client, or the server when roles are exchanged. */
static inline bool qperf_run_sends(const struct qperf_run *run)
{
	return run->client != (run->params.flip && run->ours);
}

/* The common course: pins, synchronises, starts the timer and takes the first snapshot. */
int qperf_run_begin(struct qperf_run *run, struct error *err);
/* Takes the last snapshot (once) and stops the timer. */
void qperf_run_end(struct qperf_run *run);
/* By count a receiver that loses messages ends some time after the last arrival, which is its end. */
void qperf_run_end_at(struct qperf_run *run, int64_t heard_ns);
/* Nothing came now: whether for so long that nothing will. The processors' clocks are read soon after the last arrival. */
bool qperf_run_quiet(struct qperf_run *run, int64_t heard_ns);
/* A tick came, or the streams were stopped: looks whether time is up or the other end has gone. */
bool qperf_run_tick(struct qperf_run *run);

/* Whether the test is over; cheap: no clock is read between two messages. */
static inline bool qperf_run_over(struct qperf_run *run)
{
	const bool look = run->stop ? atomic_load_explicit(run->stop, memory_order_relaxed) : run->ticked;

	return run->over || (look && qperf_run_tick(run));
}

/* A whole test from set-up to the last message; qperf_run_close() once the results are exchanged. */
int qperf_run_test(struct qperf_run *run, struct error *err);
void qperf_run_close(struct qperf_run *run);

/* A test over sockets from set-up to the last message; counts are in run->stat. */
int qperf_socket_test(struct qperf_run *run, struct error *err);

#endif
