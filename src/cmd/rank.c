/* A rank of a scenario, started by mpirun: learns what to do, plans its share, takes part; rank 0 hands out the results. */
#include "base/clock.h"
#include "base/topo.h"
#include "base/wait.h"
#include "cmd/cmd.h"
#include "cmd/job.h"
#include "orch/channel.h"
#include "orch/comm_mpi.h"
#include "orch/many.h"
#include "plan/plan.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SAY_NS 10000000000LL /* for mpirun to take what rank 0 says */
#define JOB_NS 60000000000LL /* for the job to come, and to be told to all */

struct rank {
	struct clock clock;
	struct topo *topo;
	struct comm *comm;
	struct channel channel; /* rank 0 */
	struct job job;
	struct plan *plan;
	const char **names;
	atomic_int interrupted;
};

static struct patience patience(const struct rank *rank, int64_t ns)
{
	return (struct patience){ .clock = &rank->clock, .deadline_ns = clock_now(&rank->clock) + ns };
}

/* Rank 0's ear: whatever comes from the command that was typed, its end included, means to stop. */
static void *listen_for_stop(void *argument)
{
	struct rank *rank = argument;
	struct buf payload = BUF_INIT;
	struct error err = { 0 };
	unsigned type;
	int rc;

	do {
		const struct patience until = patience(rank, JOB_NS);

		rc = channel_take(&rank->channel, &type, &payload, &until, &err);
	} while (rc == -ETIMEDOUT);
	buf_release(&payload);
	rank->interrupted = 1;
	return NULL;
}

static int start_listening(struct rank *rank, struct error *err)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, listen_for_stop, rank);

	if (rc)
		return error_sys(err, -rc, "cannot start the thread that listens to the command");
	pthread_detach(thread);
	return 0;
}

static int greet(struct rank *rank, struct error *err)
{
	const struct patience until = patience(rank, SAY_NS);
	struct buf packed = BUF_INIT;
	struct hello hello;
	int rc;

	hello_init(&hello);
	hello_pack(&hello, &packed);
	rc = channel_send(&rank->channel, FRAME_WELCOME, &packed, &until, err);
	buf_release(&packed);
	return rc;
}

/* Rank 0: the job from the command that was typed. */
static int take_job(struct rank *rank, struct buf *ret, struct error *err)
{
	const struct patience until = patience(rank, JOB_NS);
	unsigned type;
	int rc = greet(rank, err);

	if (rc == 0)
		rc = channel_take(&rank->channel, &type, ret, &until, err);
	if (rc == 0 && type != FRAME_BCAST)
		rc = error_set(err, -EPROTO, "something else than a job came to rank 0");
	if (rc < 0)
		return error_set(err, rc, "no job comes to rank 0");
	return start_listening(rank, err);
}

static int understand(struct rank *rank, const struct buf *data, struct error *err)
{
	int rc = job_unpack(&rank->job, data, err);

	if (rc == 0)
		rc = plan_build(&rank->plan, &rank->job.scenario, err);
	scenario_release(&rank->job.scenario); /* a file of sizes may be large */
	if (rc == 0 && (rank->plan->hosts != rank->comm->size || rank->job.ranks != rank->comm->size))
		rc = error_set(err, -EPROTO, "mpirun started %u ranks for %u hosts", rank->comm->size,
			       rank->plan->hosts);
	return rc;
}

static int name_ranks(struct rank *rank, struct error *err)
{
	rank->names = calloc(rank->plan->hosts, sizeof(*rank->names));
	if (!rank->names)
		return error_set(err, -ENOMEM, "no memory for the names of hosts");
	for (uint32_t i = 0; i < rank->plan->hosts; i++)
		rank->names[i] = rank->plan->host[i].name;
	rank->comm->names = rank->names;
	return comm_mpi_renumber(rank->comm, rank->job.rank_of, err);
}

/* The job goes to all, who all understand it or end. */
static int learn(struct rank *rank, struct error *err)
{
	const int64_t deadline = clock_now(&rank->clock) + JOB_NS;
	struct buf data = BUF_INIT;
	struct error mine = { 0 };
	int rc;

	if (rank->comm->rank == 0)
		take_job(rank, &data, &mine);
	rc = comm_agree(rank->comm, &mine, deadline, err);
	if (rc == 0)
		rc = comm_bcast(rank->comm, &data, deadline, err);
	if (rc == 0) {
		understand(rank, &data, &mine);
		rc = comm_agree(rank->comm, &mine, deadline, err);
	}
	buf_release(&data);
	return rc == 0 ? name_ranks(rank, err) : rc;
}

static void on_step(void *context, enum many_step step)
{
	struct rank *rank = context;
	const struct patience until = patience(rank, SAY_NS);

	channel_note(&rank->channel, CHANNEL_STEP, step, &until, NULL);
}

static void on_progress(void *context, double elapsed, double total)
{
	struct rank *rank = context;
	const struct patience until = patience(rank, SAY_NS);

	if (channel_note(&rank->channel, CHANNEL_TOTAL, (uint64_t)(total * 1e9), &until, NULL) == 0)
		channel_note(&rank->channel, CHANNEL_PROGRESS, (uint64_t)(elapsed * 1e9), &until, NULL);
}

/* The line's two figures, then its time. */
static void on_live(void *context, double at, double gbps, double mpps)
{
	struct rank *rank = context;
	const struct patience until = patience(rank, SAY_NS);

	if (channel_note(&rank->channel, CHANNEL_BITS, (uint64_t)(gbps * 1e9), &until, NULL) == 0 &&
	    channel_note(&rank->channel, CHANNEL_MESSAGES, (uint64_t)(mpps * 1e6), &until, NULL) == 0)
		channel_note(&rank->channel, CHANNEL_LIVE, (uint64_t)(at * 1e9), &until, NULL);
}

static int on_part(void *context, uint32_t number, const struct buf *part, struct error *err)
{
	struct rank *rank = context;
	const struct patience until = patience(rank, SAY_NS);
	struct buf message = BUF_INIT;
	int rc;

	buf_put_u32(&message, number);
	buf_put(&message, part->data, part->len);
	rc = channel_send(&rank->channel, FRAME_GATHER, &message, &until, err);
	buf_release(&message);
	return rc;
}

static int run(struct rank *rank, struct error *err)
{
	const struct many_conf conf = { .clock = &rank->clock,
					.topo = rank->topo,
					.plan = rank->plan,
					.cuda_lib_path = rank->job.cuda_lib_path,
					.sysfs = rank->job.sysfs,
					.interrupted = &rank->interrupted,
					.step = on_step,
					.progress = on_progress,
					.live = on_live,
					.live_ns = rank->job.live_ns,
					.part = on_part,
					.context = rank };

	return many_run(rank->comm, &conf, err);
}

/* How it ended: to the command that was typed, or, from a rank that lost the others, to mpirun's stderr. */
static void tell_end(struct rank *rank, const struct error *err)
{
	const struct patience until = patience(rank, SAY_NS);
	struct buf verdict = BUF_INIT;

	buf_put_u32(&verdict, (uint32_t)-err->code);
	buf_put_string(&verdict, err->text);
	if (rank->comm && rank->comm->rank == 0)
		channel_send(&rank->channel, FRAME_REFUSED, &verdict, &until, NULL);
	else if (err->code)
		cmd_complain(err);
	buf_release(&verdict);
}

int cmd_rank(void)
{
	struct rank *rank = calloc(1, sizeof(*rank));
	const struct mpi_link *link = NULL;
	struct error err = { 0 };
	int rc;

	if (!rank)
		return EXIT_FAILED;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* of what started us: mpirun, or its daemon on this host */
	clock_init(&rank->clock, false);
	channel_init(&rank->channel, STDIN_FILENO, STDOUT_FILENO);
	rc = interrupt_watch(&rank->interrupted, &err);
	if (rc == 0)
		rc = topo_open(&rank->topo, &err);
	if (rc == 0)
		rc = mpi_load(&link, &err);
	if (rc == 0)
		rc = comm_mpi_open(link, &rank->clock, &rank->comm, &err);
	if (rc == 0)
		rc = learn(rank, &err);
	if (rc == 0)
		run(rank, &err);
	tell_end(rank, &err);
	comm_close(rank->comm);
	/* The listening thread may still look at the rest: it goes with the process. */
	return EXIT_DONE;
}
