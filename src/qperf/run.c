/* The time of a test: a signal every 10 ms lets no call sleep past the end or past the other end's. */
#include "qperf/run.h"

#include "qperf/rdma.h"
#include "qperf/wire.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define TICK_NS 10000000LL

/* Being delivered is all that the signal is for: it ends a call that sleeps. */
static void on_tick(int number)
{
	(void)number;
}

static int pin(struct qperf_run *run, struct error *err)
{
	cpu_set_t set;

	if (!run->params.affinity)
		return 0;
	CPU_ZERO(&set);
	if (run->params.affinity <= CPU_SETSIZE)
		CPU_SET(run->params.affinity - 1, &set);
	if (sched_getaffinity(0, sizeof(run->cpus), &run->cpus) < 0 || sched_setaffinity(0, sizeof(set), &set) < 0)
		return error_sys(err, -errno, "cannot set processor affinity (cpu %u)", run->params.affinity - 1);
	run->pinned = true;
	return 0;
}

static int start_timer(struct qperf_run *run, struct error *err)
{
	const struct sigaction action = { .sa_handler = on_tick }; /* no SA_RESTART */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	const struct itimerspec time = { .it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS };

	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &run->timer) < 0)
		return error_sys(err, -errno, "cannot make a timer");
	run->has_timer = true;
	return timer_settime(run->timer, 0, &time, NULL) < 0 ? error_sys(err, -errno, "cannot start a timer") : 0;
}

int qperf_run_begin(struct qperf_run *run, struct error *err)
{
	const bool counted = run->params.no_msgs > 0;
	int rc = pin(run, err);

	if (rc == 0)
		rc = qperf_sync(run->channel, BEFORE_TEST, err);
	if (rc == 0)
		rc = start_timer(run, err);
	if (rc)
		return rc;
	run->err = err;
	qperf_stat_begin(&run->stat, run->clock);
	run->look_ns = clock_now(run->clock);
	run->end_ns = counted ? INT64_MAX : run->look_ns + (int64_t)run->params.time_ns;
	qperf_run_tick(run, run->look_ns);
	return 0;
}

void qperf_run_end(struct qperf_run *run)
{
	run->over = true;
	qperf_stat_end(&run->stat, run->clock);
	if (run->has_timer)
		timer_delete(run->timer);
	run->has_timer = false;
	if (run->pinned)
		sched_setaffinity(0, sizeof(run->cpus), &run->cpus); /* the next test may run anywhere */
	run->pinned = false;
}

void qperf_run_end_at(struct qperf_run *run, int64_t heard_ns)
{
	qperf_stat_end(&run->stat, run->clock);
	run->stat.end[CLOCK_REAL] = qperf_ticks(heard_ns);
}

bool qperf_run_tick(struct qperf_run *run, int64_t now)
{
	if (!run->over && now >= run->end_ns)
		run->over = true;
	if (run->stop)
		run->over |= atomic_load_explicit(run->stop, memory_order_relaxed);
	else if (!run->over && qperf_channel_look(run->channel, run->err) < 0)
		run->over = true;
	if (run->over && !run->stop)
		qperf_stat_end(&run->stat, run->clock);
	run->look_ns = run->end_ns - now < TICK_NS ? run->end_ns : now + TICK_NS;
	return run->over;
}

int qperf_run_test(struct qperf_run *run, struct error *err)
{
	return run->test->family == FAMILY_RDMA ? qperf_rdma_run(run, err) : qperf_socket_test(run, err);
}

void qperf_run_close(struct qperf_run *run)
{
	qperf_rdma_close(run->rdma);
	run->rdma = NULL;
}
