/* The time of a test: a signal at each tick, the last at its end, lets no call sleep past that or the other end's. */
#include "qperf/run.h"

#include "qperf/rdma.h"
#include "qperf/wire.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define TICK_NS     10000000L
#define LAT_TICK_NS 50000000L /* each tick wakes a processor: every 10 ms they would be 0.4 % of a latency */

/* Being delivered ends a call that sleeps; the mark tells loops that do not. */
static void on_tick(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code == SI_TIMER)
		((struct qperf_run *)info->si_value.sival_ptr)->ticked = 1;
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

/* The next tick: at the end where that is nearer. */
static int wind(const struct qperf_run *run, int64_t now)
{
	const long tick = run->test->figure == SHOW_LATENCY ? LAT_TICK_NS : TICK_NS;
	const int64_t left = run->end_ns > now ? run->end_ns - now : 1;
	const struct itimerspec time = { .it_interval.tv_nsec = tick, .it_value.tv_nsec = left < tick ? left : tick };

	return timer_settime(run->timer, 0, &time, NULL) < 0 ? -errno : 0;
}

static int start_timer(struct qperf_run *run, struct error *err)
{
	const struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO }; /* no SA_RESTART */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM, .sigev_value.sival_ptr = run };
	int rc;

	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &run->timer) < 0)
		return error_sys(err, -errno, "cannot make a timer");
	run->has_timer = true;
	rc = wind(run, clock_now(run->clock));
	return rc ? error_sys(err, rc, "cannot start a timer") : 0;
}

int qperf_run_begin(struct qperf_run *run, struct error *err)
{
	const bool counted = run->params.no_msgs > 0;
	int rc = pin(run, err);

	if (rc == 0)
		rc = qperf_sync(run->channel, BEFORE_TEST, err);
	if (rc)
		return rc;
	run->err = err;
	qperf_stat_begin(&run->stat, run->clock);
	run->end_ns = counted ? INT64_MAX : clock_now(run->clock) + (int64_t)run->params.time_ns;
	run->ticked = 1; /* whether the other end is there is seen to at once */
	return start_timer(run, err);
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
	if (run->stat.end[CLOCK_REAL] == qperf_ticks(heard_ns))
		return;
	run->stat.end[CLOCK_REAL] = 0; /* more came after the end that was noted */
	qperf_stat_end(&run->stat, run->clock);
	run->stat.end[CLOCK_REAL] = qperf_ticks(heard_ns);
}

bool qperf_run_quiet(struct qperf_run *run, int64_t heard_ns)
{
	const int64_t quiet_ns = clock_now(run->clock) - heard_ns;

	if (quiet_ns >= QPERF_STILL_NS)
		qperf_run_end_at(run, heard_ns);
	return quiet_ns >= QPERF_QUIET_NS;
}

bool qperf_run_tick(struct qperf_run *run)
{
	int64_t now;

	if (run->stop)
		return run->over = true;
	run->ticked = 0;
	now = clock_now(run->clock);
	run->over = now >= run->end_ns || qperf_channel_look(run->channel, run->err) < 0;
	if (run->over)
		qperf_stat_end(&run->stat, run->clock);
	else if (run->end_ns - now < LAT_TICK_NS)
		wind(run, now);
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
