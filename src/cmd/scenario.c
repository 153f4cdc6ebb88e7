/* A scenario over many hosts: plans it, starts a rank on each host by mpirun, hands them the job and hands on what comes of it. */
#include "cmd/scenario.h"
#include "base/clock.h"
#include "base/wait.h"
#include "cmd/cmd.h"
#include "cmd/job.h"
#include "driver/driver.h"
#include "orch/channel.h"
#include "orch/comm.h"
#include "orch/launch.h"
#include "orch/many.h"
#include "orch/mpirun.h"
#include "orch/reach.h"
#include "plan/outcome.h"
#include "plan/wire.h"
#include "report/many.h"
#include "report/plan.h"
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SAY_NS  10000000000LL
#define STEP_NS 70000000000LL /* the ranks tell within a minute that one of them does not answer */
#define TOLD_NS 1000000000LL

struct starter {
	const struct request *request;
	struct clock clock;
	struct job job;
	struct buf scenario; /* packed */
	struct plan *plan;
	struct outcome outcome;
	struct mpirun mpirun;
	struct launch *launch;
	struct channel channel;
	struct progress_view view;
	atomic_int *interrupted;
	bool sent_job; /* rank 0 has it */
	bool told_stop;
	double total; /* s of traffic */
	struct live_line live; /* the next one */
	int64_t begun_ns;
	int64_t quiet_until_ns; /* the next word must come until then */
	int64_t told_ns; /* a rank that lost others has said so, and mpirun ends, unless it waits for them */
	bool over; /* rank 0 has told how it ended */
};

static struct patience patience(const struct starter *s, int64_t ns)
{
	return (struct patience){ .clock = &s->clock, .deadline_ns = clock_now(&s->clock) + ns };
}

static int start(struct starter *s, struct error *err)
{
	const struct patience until = { .clock = &s->clock, .interrupted = s->interrupted };
	const char **host = calloc(s->plan->hosts, sizeof(*host));
	int rc = host ? 0 : error_set(err, -ENOMEM, "no memory for %u hosts", s->plan->hosts);

	for (uint32_t i = 0; host && i < s->plan->hosts; i++)
		host[i] = s->plan->host[i].name;
	s->job.ranks = s->plan->hosts;
	s->job.rank_of = calloc(s->plan->hosts, sizeof(*s->job.rank_of));
	if (rc == 0 && !s->job.rank_of)
		rc = error_set(err, -ENOMEM, "no memory for %u hosts", s->plan->hosts);
	s->mpirun = (struct mpirun){ .command = s->request->mpirun,
				     .ssh = s->request->ssh,
				     .interfaces = s->request->mpi_interfaces,
				     .server_exe = s->request->server_exe,
				     .connected = s->plan->test[0].sweep.spec[0].control_class,
				     .connect_timeout_ns = s->request->connect_timeout_ns,
				     .ranks = s->plan->hosts,
				     .host = host };
	if (rc == 0 && !getenv("SLURM_JOB_ID")) /* there mpirun starts its ranks without ssh */
		rc = muster_hosts(s->request, host, s->plan->hosts, &until, err);
	if (rc == 0)
		rc = mpirun_start(&s->mpirun, &s->clock, s->job.rank_of, &s->launch, err);
	return rc;
}

/* Ctrl-C while all of it runs: rank 0 is told, ends the traffic everywhere and reports what was measured; before, all ends. */
static int stop_once(struct starter *s, struct error *err)
{
	const struct patience until = patience(s, SAY_NS);

	if (*s->interrupted && !s->sent_job)
		return error_set(err, -EINTR, "interrupted");
	if (*s->interrupted && !s->told_stop)
		channel_note(&s->channel, NOTE_STOP, 0, &until, NULL);
	s->told_stop = *s->interrupted;
	return 0;
}

_Static_assert(MANY_STEPS + 1 == OUTCOME_PHASES, "each step is a phase");
static const char *const steps[MANY_STEPS] = {
	[MANY_ATTEND] = "Preparing",     [MANY_OPEN] = "Preparing",   [MANY_JOIN] = "Connecting",
	[MANY_CLOCKS] = "Synchronising", [MANY_TRAFFIC] = "Starting", [MANY_GATHER] = "Finalizing",
};

static double seconds(const struct starter *s)
{
	return (double)(clock_now(&s->clock) - s->begun_ns) / 1e9;
}

static void take_step(struct starter *s, uint64_t step)
{
	if (step < MANY_STEPS) {
		progress_preparing(&s->view, steps[step], seconds(s));
		outcome_begin(&s->outcome, (enum outcome_phase)(step + 1), seconds(s));
	}
	if (step == MANY_TRAFFIC && !s->outcome.done)
		s->outcome.setup_seconds = seconds(s);
}

static void take_live(struct starter *s, uint32_t kind, uint64_t value)
{
	if (kind == CHANNEL_BITS)
		s->live.gbps = (double)value / 1e9;
	else if (kind == CHANNEL_MESSAGES)
		s->live.mpps = (double)value / 1e6;
	else if (kind == CHANNEL_LIVE) {
		s->live.at = (double)value / 1e9;
		progress_live(&s->view, stderr, &s->live);
	}
}

static int take_note(struct starter *s, struct cursor *from, struct error *err)
{
	const uint32_t kind = cursor_u32(from);
	const uint64_t value = cursor_u64(from);

	if (from->failed)
		return error_set(err, -EPROTO, "a note of rank 0 cannot be read");
	if (kind == CHANNEL_STEP)
		take_step(s, value);
	else if (kind == CHANNEL_TOTAL)
		s->total = (double)value / 1e9;
	else if (kind == CHANNEL_PROGRESS)
		progress_traffic(&s->view, (double)value / 1e9, s->total);
	else
		take_live(s, kind, value);
	return 0;
}

static int take_part(struct starter *s, struct cursor *from, struct error *err)
{
	const uint32_t rank = cursor_u32(from);
	struct buf part = BUF_INIT;
	int rc;

	buf_put(&part, from->data, from->left);
	if (from->failed || part.failed)
		return error_set(err, -EPROTO, "a rank's results cannot be read");
	rc = rank == s->plan->hosts ? outcome_add_clocks(&s->outcome, &part, err)
				    : outcome_add(&s->outcome, rank, &part, err);
	buf_release(&part);
	return rc;
}

/* Rank 0's last word: how it ended. */
static int take_end(struct starter *s, struct cursor *from, struct error *err)
{
	const uint32_t code = cursor_u32(from);
	char text[sizeof(err->text)];

	cursor_text(from, text, sizeof(text));
	s->over = true;
	outcome_begin(&s->outcome, PHASE_RESULTS, seconds(s));
	if (from->failed || code > 4095)
		return error_set(err, -EPROTO, "rank 0's last word cannot be read");
	return code ? error_set(err, -(int)code, "%s", text) : 0;
}

static int take(struct starter *s, unsigned type, const struct buf *payload, struct error *err)
{
	const struct patience until = patience(s, SAY_NS);
	struct buf job = BUF_INIT;
	struct cursor from;
	int rc = 0;

	cursor_init(&from, payload->data, payload->len);
	switch (type) {
	case FRAME_WELCOME:
		job_pack(&s->job, &s->scenario, &job);
		rc = channel_send(&s->channel, FRAME_BCAST, &job, &until, err);
		s->sent_job = rc == 0;
		buf_release(&job);
		return rc;
	case FRAME_NOTE:
		return take_note(s, &from, err);
	case FRAME_GATHER:
		return take_part(s, &from, err);
	case FRAME_REFUSED:
		return take_end(s, &from, err);
	default:
		return error_set(err, -EPROTO, "rank 0 sent what it may not");
	}
}

/* Longest silence of rank 0: the traffic itself may last. */
static int64_t silence(const struct starter *s)
{
	return STEP_NS + s->request->connect_timeout_ns;
}

/* Nothing came for a while. */
static int check_silence(struct starter *s, struct error *err)
{
	const int64_t now = clock_now(&s->clock);

	s->told_ns = !s->told_ns && mpirun_told(s->launch) ? now : s->told_ns;
	if (s->told_ns && now > s->told_ns + TOLD_NS)
		return mpirun_explain(&s->mpirun, s->launch, s->job.rank_of, err);
	if (now < s->quiet_until_ns)
		return 0;
	return error_set(err, -ETIMEDOUT, "nothing came from the ranks for %lld s",
			 (long long)(silence(s) / 1000000000));
}

static int listen_to_ranks(struct starter *s, struct error *err)
{
	struct buf payload = BUF_INIT;
	int rc = 0;

	s->quiet_until_ns = clock_now(&s->clock) + silence(s);
	while (rc == 0 && !s->over) {
		const struct patience until = { .clock = &s->clock,
						.deadline_ns = clock_now(&s->clock) + 200000000,
						.interrupted = s->told_stop ? NULL : s->interrupted };
		unsigned type;

		rc = channel_take(&s->channel, &type, &payload, &until, err);
		if (rc == 0) {
			rc = take(s, type, &payload, err);
			s->quiet_until_ns = clock_now(&s->clock) + silence(s);
		} else if (rc == -EINTR) {
			rc = stop_once(s, err);
		} else if (rc == -ETIMEDOUT) {
			rc = check_silence(s, err);
		} else if (rc == -ECHILD) {
			rc = mpirun_explain(&s->mpirun, s->launch, s->job.rank_of, err);
		}
	}
	buf_release(&payload);
	return rc;
}

/* Who sends how much to whom, before the traffic. */
static void show_sizes(const struct starter *s)
{
	for (uint32_t i = 0; i < s->plan->tests; i++) {
		if (!s->plan->test[i].bytes || s->request->print_json)
			continue;
		report_sizes(stdout, s->plan, i);
		fputc('\n', stdout);
		fflush(stdout);
	}
}

static int run(struct starter *s, struct error *err)
{
	int rc, looked;

	progress_preparing(&s->view, "Starting", 0);
	s->begun_ns = clock_now(&s->clock);
	rc = start(s, err);
	if (rc < 0)
		return rc;
	show_sizes(s);
	channel_init(&s->channel, s->launch->out, s->launch->in);
	rc = listen_to_ranks(s, err);
	channel_release(&s->channel);
	mpirun_stop(s->launch, s->over);
	progress_end(&s->view);
	looked = outcome_complete(&s->outcome, rc == 0 ? err : NULL); /* what was done before a failure, too */
	return rc == 0 ? looked : rc;
}

static int carry_out(struct starter *s, struct error *err)
{
	const struct request *request = s->request;
	int rc = report_file_check(request->json_path, "-j", err);

	if (rc == 0)
		rc = report_file_check(request->burst_log, "--burst_log", err);
	if (rc == 0)
		rc = run(s, err);
	return rc;
}

/* What the outcome is, so that it can be told: also of a run that failed. */
static int judge(struct starter *s, int rc, struct error *err)
{
	struct outcome *outcome = &s->outcome;

	if (rc < 0) {
		outcome->status = *s->interrupted ? RUN_INTERRUPTED : RUN_FAILED;
		outcome->error = *err;
	}
	if (!outcome->measured || outcome_judge(outcome, err) == 0)
		return rc;
	outcome->status = RUN_FAILED;
	outcome->error = *err;
	return err->code;
}

/* Whether all hosts are this one; elsewhere a device may be that is not here. */
static bool all_here(const char *list)
{
	return strncmp(list, "localhost", 9) == 0 && !strchr(list, '.');
}

/* What is known of the hosts before any of them was asked: this one's devices, and that others may have RDMA. */
static void describe_hosts(const struct request *request, struct request_host *ret)
{
	const struct driver *ibv = driver_find(DRIVER_IBV), *ofi = driver_find(DRIVER_OFI);
	const struct spec *spec = &request->spec;
	const bool has_rdma = (ibv && ibv->has_device("")) || !all_here(request->host);

	*ret = (struct request_host){ .has_rdma = has_rdma };
	if (spec->driver == DRIVER_AUTO && spec->device[0])
		ret->device_is_provider = ofi && ofi->has_device(spec->device);
	ret->device_is_rdma = spec->device[0] && has_rdma && !ret->device_is_provider;
	ret->shm = all_here(request->host);
}

static int make_plan(struct starter *s, struct request *request, struct error *err)
{
	struct request_host host;
	int rc;

	describe_hosts(request, &host);
	if (getrandom(&host.lot, sizeof(host.lot), 0) < 0)
		return error_sys(err, -errno, "cannot draw a random number");
	rc = scenario_of_request(&s->job.scenario, request, &host, err);
	if (rc < 0)
		return rc;
	scenario_pack(&s->job.scenario, &s->scenario);
	if (s->scenario.failed)
		return error_set(err, -ENOMEM, "no memory for the scenario");
	rc = plan_build(&s->plan, &s->job.scenario, err);
	if (rc < 0)
		return rc;
	s->job.live_ns = request->spec.report_interval_ns; /* also where a file describes the tests */
	request->spec = s->plan->test[0].sweep.spec[0];
	request->spec.report_interval_ns = s->job.live_ns;
	return scenario_check_limits(s->plan, request, err);
}

static int run_plan(struct starter *s, scenario_tell_fn *tell, void *context, struct error *err)
{
	int rc = outcome_init(&s->outcome, s->request, s->plan, err);

	s->outcome.started_unix_ns = cmd_unix_now();
	if (rc == 0)
		rc = carry_out(s, err);
	rc = judge(s, rc, err);
	return tell(context, &s->outcome, rc);
}

int scenario_run(struct request *request, atomic_int *interrupted, scenario_tell_fn *tell, void *context)
{
	struct starter *s = calloc(1, sizeof(*s));
	struct error err = { 0 };
	int rc;

	if (!s)
		return EXIT_FAILED;
	s->request = request;
	s->interrupted = interrupted;
	clock_init(&s->clock, false);
	progress_init(&s->view, stderr, !request->non_interactive);
	memcpy(s->job.version, FABPERF_VERSION, sizeof(FABPERF_VERSION));
	memcpy(s->job.cuda_lib_path, request->cuda_lib_path, sizeof(s->job.cuda_lib_path));
	memcpy(s->job.sysfs, request->sysfs, sizeof(s->job.sysfs));
	rc = make_plan(s, request, &err) < 0 ? cmd_complain(&err) : tell ? run_plan(s, tell, context, &err) : EXIT_DONE;
	outcome_release(&s->outcome);
	plan_free(s->plan);
	job_release(&s->job);
	buf_release(&s->scenario);
	free((void *)(uintptr_t)s->mpirun.host);
	free(s);
	return rc;
}
