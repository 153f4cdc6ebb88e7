/* The stages of a scenario and the steps of each, the same on every rank: attend, open, join, run, gather. */
#include "orch/many.h"

#include "orch/share.h"
#include "spec/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void many_begins(const struct many *many, enum many_step step)
{
	const struct many_conf *conf = many->conf;

	if (conf->step && many->comm->rank == 0)
		conf->step(conf->context, step);
}

/* A rank's clock at the first and the last time that it was measured. */
static void describe_clock(const struct clocks *clocks, unsigned rank, struct part_clock *ret)
{
	const struct clockfit *fit = &clocks->fit[rank];
	const unsigned at[] = { fit->points == CLOCKFIT_POINTS ? fit->next : 0,
				(fit->next + CLOCKFIT_POINTS - 1) % CLOCKFIT_POINTS };
	struct clock_reading reading;

	*ret = (struct part_clock){ .shared = clocks->shared[rank] };
	for (unsigned i = 0; fit->points && i < 2; i++) {
		clockfit_at(fit, fit->point[at[i]].at_ns, &reading);
		ret->offset_ns[i] = reading.offset_ns;
		ret->error_ns[i] = reading.bound_ns;
		ret->u95_ns[i] = reading.u95_ns;
		ret->at_ns[i] = fit->point[at[i]].at_ns;
	}
}

/* Rank 0: everybody's part goes out as it is, and the clocks that only this rank knows. */
static int hand_out(const struct many *many, const struct buf *all, struct error *err)
{
	const struct many_conf *conf = many->conf;
	struct buf clocks = BUF_INIT;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < many->comm->size; i++)
		rc = conf->part(conf->context, i, &all[i], err);
	for (unsigned i = 0; i < many->comm->size; i++) {
		struct part_clock clock;

		describe_clock(&many->clocks, i, &clock);
		part_clock_pack(&clock, &clocks);
	}
	part_closure_pack(&many->clocks.closure, &clocks);
	if (rc == 0)
		rc = conf->part(conf->context, many->comm->size, &clocks, err);
	buf_release(&clocks);
	return rc;
}

static int gather(struct many *many, struct error *err)
{
	struct buf mine = BUF_INIT, *all = calloc(many->comm->size, sizeof(*all));
	int rc;

	share_collect(many, &mine);
	rc = mine.failed || !all ? error_set(err, -ENOMEM, "no memory for the results")
				 : comm_gather(many->comm, &mine, all, many_results_deadline(many), err);
	if (rc == 0 && many->comm->rank == 0)
		rc = hand_out(many, all, err);
	for (unsigned i = 0; all && i < many->comm->size; i++)
		buf_release(&all[i]);
	free(all);
	buf_release(&mine);
	return rc;
}

static int plan_share(struct many *many, struct error *err)
{
	struct error mine = { 0 };

	share_make(&many->share, many->conf->plan, many->comm->rank, many->stage, &mine);
	return comm_agree(many->comm, &mine, many_deadline(many), err);
}

static int set_up(struct many *many, struct error *err)
{
	int rc;

	many_begins(many, MANY_ATTEND);
	rc = plan_share(many, err);
	if (rc == 0)
		rc = many_attend(many, err);
	if (rc == 0) {
		many_begins(many, MANY_OPEN);
		rc = share_open(many, err);
	}
	if (rc == 0) {
		many_begins(many, MANY_JOIN);
		rc = share_join(many, err);
	}
	return rc;
}

static int run_stage(struct many *many, struct error *err)
{
	struct comm *comm = many->comm;
	int rc;

	error_clear(&many->mine.error);
	comm->interrupted = many->conf->interrupted;
	rc = set_up(many, err);
	comm->interrupted = NULL; /* from here on Ctrl-C ends the traffic and keeps what was measured */
	if (rc < 0)
		return rc;
	many_begins(many, MANY_CLOCKS);
	rc = share_traffic(many, err);
	if (rc == 0) {
		many_begins(many, MANY_GATHER);
		rc = gather(many, err);
	}
	if (many->stuck)
		return rc;
	share_close(&many->share);
	return rc == 0 ? comm_agree(comm, &many->share.closing, many_results_deadline(many), err) : rc;
}

/* Whether another stage follows: all ranks agree, also where only some have seen that somebody interrupts. */
static bool goes_on(struct many *many, int *rc, struct error *err)
{
	const atomic_int *interrupted = many->conf->interrupted;
	struct error stop = { 0 }, said = { 0 };

	if (many->interrupted || (interrupted && *interrupted))
		error_set(&stop, -EINTR, "interrupted");
	*rc = comm_agree(many->comm, &stop, many_deadline(many), &said);
	if (*rc == -EINTR)
		*rc = 0;
	else if (*rc < 0)
		error_set(err, *rc, "%s", said.text);
	return !said.code;
}

/* One after another, until one fails or somebody interrupts. */
static int carry_out(struct many *many, struct error *err)
{
	const struct plan *plan = many->conf->plan;
	const uint64_t stages = plan_stages(plan);
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < stages && (!i || goes_on(many, &rc, err)); i++) {
		many->stage = plan_stage(plan, i);
		rc = run_stage(many, err);
		if (many->stuck) /* a worker still uses it */
			return rc;
		share_close(&many->share);
		share_release(&many->share);
	}
	return rc;
}

static int make(struct many *many, struct error *err)
{
	const struct many_conf *conf = many->conf;
	const struct plan *plan = conf->plan;
	struct error mine = { 0 };

	gethostname(many->mine.host, sizeof(many->mine.host) - 1);
	memcpy(many->mine.version, FABPERF_VERSION, sizeof(FABPERF_VERSION));
	many->mine.clock_error_ns = -1;
	clocks_init(&many->clocks, many->comm->size, &mine);
	many->here = calloc(many->comm->size, sizeof(*many->here));
	if (!many->here)
		error_set(&mine, -ENOMEM, "no memory for %u ranks", many->comm->size);
	if (plan->hosts != many->comm->size)
		error_set(&mine, -EPROTO, "%u ranks were started for %u hosts", many->comm->size, plan->hosts);
	if (plan->test[0].sweep.spec[0].control_class)
		comm_mark(many->comm, (unsigned)plan->test[0].sweep.spec[0].control_class, &mine);
	if (comm_agree(many->comm, &mine, many_deadline(many), err) < 0)
		return err->code;
	return clocks_share(&many->clocks, many->comm, conf->clock, many_deadline(many), err);
}

int many_run(struct comm *comm, const struct many_conf *conf, struct error *err)
{
	struct many *many = calloc(1, sizeof(*many));
	int rc;

	if (!many)
		return error_set(err, -ENOMEM, "no memory for a run");
	many->comm = comm;
	many->conf = conf;
	comm->told = live_told;
	comm->told_context = many;
	rc = make(many, err);
	if (rc == 0)
		rc = carry_out(many, err);
	if (many->stuck)
		return rc;
	comm->told = NULL;
	free(many->here);
	clocks_release(&many->clocks);
	port_counters_release(&many->counters);
	port_counters_release(&many->stage_counters);
	free(many);
	return rc;
}
