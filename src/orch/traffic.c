/* Runs the phases of a test: agrees on the start instant, starts the workers, watches, and ends all ranks together. */
#include "orch/clocksync.h"
#include "orch/overdue.h"
#include "orch/run.h"

#include <errno.h>
#include <string.h>

#define LEAD_NS       5000000LL /* from the start message to the start, plus some round trips */
#define TICK_NS       200000000LL /* how often the main thread looks: it takes a worker's core for a moment */
#define LATE_TICK_NS  2000000LL /* when the end is due, or somebody has asked for it */
#define START_NEAR_NS 60000000000LL /* a start instant is that near to now */
#define ABORT_NS      1000000000LL /* a worker that has not ended so long after the run failed never will */
#define QUIET_MIN_NS  50000000LL
#define SYNC_ROUNDS   64

/* What the main thread keeps while a phase runs. */
struct watch {
	struct run *run;
	const struct phase *phase;
	struct overdue overdue;
	bool told_done;
	unsigned done; /* ranks that are done (rank 0 counts) */
	uint64_t expected; /* messages that the other side sent */
	int64_t live_ns;
	uint64_t live_base; /* counted here before the phase */
	uint64_t live_mine, live_other; /* since then, here and there, until live_ns */
};

static int sync_clocks(struct run *run, struct error *err)
{
	struct clock_offset offset;
	int rc;

	if (run->comm->rank != 0)
		return 0;
	rc = clocksync_measure(run->comm, 1, SYNC_ROUNDS, &offset, run_deadline(run), err);
	if (rc < 0)
		return rc;
	run->clock_offset_ns = offset.offset_ns;
	run->clock_error_ns = offset.error_ns;
	run->rtt_ns = 2 * offset.error_ns;
	return 0;
}

static void pack_start(const struct run *run, const struct phase *phase, struct buf *to)
{
	buf_put_u8(to, !run->interrupted);
	buf_put_u64(to, (uint64_t)phase->start_ns);
	buf_put_u64(to, (uint64_t)run->clock_offset_ns);
	buf_put_u64(to, (uint64_t)run->clock_error_ns);
}

/* Rank 0's instant becomes one of this rank's clock; one that is not near now would make the sums overflow. */
static int unpack_start(struct run *run, struct phase *phase, const struct buf *data, struct error *err)
{
	int64_t now = clock_now(run->conf->clock);
	struct cursor from;
	uint64_t start;

	cursor_init(&from, data->data, data->len);
	run->interrupted |= cursor_u8(&from) == 0;
	start = cursor_u64(&from);
	run->clock_offset_ns = (int64_t)cursor_u64(&from);
	run->clock_error_ns = (int64_t)cursor_u64(&from);
	phase->start_ns = (int64_t)(start + (uint64_t)run->clock_offset_ns);
	if (from.failed || phase->start_ns < now - START_NEAR_NS || phase->start_ns > now + START_NEAR_NS ||
	    run->clock_error_ns < 0 || run->clock_error_ns > START_NEAR_NS)
		return error_set(err, -EPROTO, "the start message of %s cannot be right", run->comm->peer_name);
	run->rtt_ns = 2 * run->clock_error_ns;
	return 0;
}

/* Rank 0's instants; the others add the offset of their clock. Whether there is a phase at all is rank 0's word, too. */
static int agree_phase(struct run *run, struct phase *phase, struct error *err)
{
	struct buf data = BUF_INIT;
	int rc;

	if (run->comm->rank == 0)
		pack_start(run, phase, &data);
	rc = comm_bcast(run->comm, &data, run_deadline(run), err);
	if (rc == 0 && run->comm->rank != 0)
		rc = unpack_start(run, phase, &data, err);
	buf_release(&data);
	return rc;
}

static uint64_t flows_sent(const struct run *run)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < run->workers; i++)
		sum += atomic_load_explicit(&run->flows[i].live_sent, memory_order_relaxed);
	return sum;
}

static uint64_t flows_received(const struct run *run)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < run->workers; i++)
		sum += atomic_load_explicit(&run->flows[i].live_received, memory_order_relaxed);
	return sum;
}

static void command(struct run *run, enum flow_command command)
{
	if (atomic_load(&run->control.command) < (int)command)
		atomic_store(&run->control.command, (int)command);
}

/* Ends the traffic here and on the other ranks; the first reason stays. */
static int stop_everywhere(struct watch *w, struct error *err)
{
	struct run *run = w->run;
	struct note note = { .kind = NOTE_STOP };

	if (run->interrupted)
		return 0;
	run->interrupted = true;
	error_set(&run->stop, -EINTR, "interrupted");
	command(run, FLOW_STOP);
	return comm_note(run->comm, &note, err);
}

static int finish_everywhere(struct watch *w, struct error *err)
{
	struct note note = { .kind = NOTE_FINISH, .value = ops_expected(w->run->flows, w->run->workers) };

	atomic_store(&w->run->control.expected, w->expected);
	command(w->run, FLOW_FINISH);
	return comm_note(w->run->comm, &note, err);
}

/* Whether the counts of who sends make the figure; else those of who receives do. */
static bool sender_counts(const struct run *run)
{
	const struct caps *caps = &run->flows[0].caps;
	const bool shows = caps->counts_loss || !(spec_verbs(&run->spec) & ~TWO_SIDED_VERBS); /* all, at the receiver */

	return caps->delivery || caps->passive_idle || !shows;
}

/* What this rank has counted for the figure since the flows were opened: of one direction each when there are two. */
static uint64_t live_count(const struct run *run)
{
	return sender_counts(run) ? flows_sent(run) : flows_received(run);
}

/* A live line from the count of the side that counts; of both sides when there are two directions. */
static void take_live(struct watch *w, uint64_t mine, uint64_t other, int64_t now)
{
	const struct run *run = w->run;
	const struct observer *o = run->conf->observer;
	const double seconds = (double)(now - w->live_ns) / 1e9;
	const double here = (double)(mine - w->live_mine) / seconds, there = (double)(other - w->live_other) / seconds;
	const double gbps = spec_mean_size(&run->spec) * 8 / 1e9;
	struct live live = { .at = (double)(now - w->phase->start_ns) / 1e9,
			     .gbps = (here + there) * gbps,
			     .mpps = (here + there) / 1e6,
			     .both = run->spec.bidirectional,
			     .to_server = (sender_counts(run) ? here : there) * gbps,
			     .to_client = (sender_counts(run) ? there : here) * gbps };

	if (!o || !o->live || seconds <= 0)
		return;
	w->live_ns = now;
	w->live_mine = mine;
	w->live_other = other;
	o->live(o->context, &live);
}

/* This rank has sent all; the last one ends the traffic. */
static int count_done(struct watch *w, struct error *err)
{
	return ++w->done == w->run->comm->size && w->run->comm->rank == 0 ? finish_everywhere(w, err) : 0;
}

static int take_note(struct watch *w, const struct note *note, struct error *err)
{
	struct run *run = w->run;

	switch (note->kind) {
	case NOTE_STOP:
		if (!run->interrupted) {
			run->interrupted = true;
			error_set(&run->stop, -EINTR, "interrupted at %s", run->comm->peer_name);
		}
		command(run, FLOW_STOP);
		return 0;
	case NOTE_DONE:
		w->expected += note->value;
		return count_done(w, err);
	case NOTE_FINISH:
		atomic_store(&run->control.expected, note->value);
		command(run, FLOW_FINISH);
		return 0;
	case NOTE_LIVE:
		take_live(w, run->spec.bidirectional ? live_count(run) - w->live_base : 0, note->value,
			  clock_now(run->conf->clock));
		return 0;
	case NOTE_NONE:
		return 0;
	}
	return 0;
}

/* This rank's workers have sent all (a rank that does not send has at once). */
static int tell_done(struct watch *w, struct error *err)
{
	struct run *run = w->run;
	const bool sends = run_sends(run);
	struct note note = { .kind = NOTE_DONE, .value = sends ? ops_expected(run->flows, run->workers) : 0 };

	if (w->told_done || (sends && atomic_load(&run->control.sending)))
		return 0;
	w->told_done = true;
	return run->comm->rank != 0 ? comm_note(run->comm, &note, err) : count_done(w, err);
}

/*
 * Live lines come from the side whose counts make the figure. With two directions each side counts for one of them, and
 * rank 0 takes its own count when the other's comes.
 */
static int report_live(struct watch *w, int64_t now, struct error *err)
{
	struct run *run = w->run;
	const bool mine = run->spec.bidirectional ? run->comm->rank != 0 : run->active == sender_counts(run);
	struct note note = { .kind = NOTE_LIVE };

	if (!run->spec.report_interval_ns || !mine || now < w->live_ns + run->spec.report_interval_ns)
		return 0;
	if (now > w->overdue.due_ns)
		return 0;
	note.value = live_count(run) - w->live_base;
	if (run->comm->rank == 0) {
		take_live(w, note.value, 0, now);
		return 0;
	}
	w->live_ns = now;
	return comm_note(run->comm, &note, err);
}

static void report_progress(const struct watch *w, int64_t now)
{
	const struct observer *o = w->run->conf->observer;
	struct progress p = { 0 };

	if (!o || !o->progress)
		return;
	p.elapsed = now > w->phase->start_ns ? (double)(now - w->phase->start_ns) / 1e9 : 0;
	if (w->overdue.due_ns != INT64_MAX)
		p.total = (double)(w->overdue.due_ns - w->phase->start_ns) / 1e9;
	o->progress(o->context, &p);
}

static int64_t next_tick(const struct watch *w, int64_t now)
{
	int64_t tick = TICK_NS, live = w->live_ns + w->run->spec.report_interval_ns;

	if (atomic_load(&w->run->control.command) != FLOW_RUN)
		return LATE_TICK_NS;
	if (w->overdue.due_ns == INT64_MAX)
		tick = 10 * LATE_TICK_NS;
	else if (w->overdue.due_ns - now < tick)
		tick = w->overdue.due_ns - now;
	if (w->run->spec.report_interval_ns && live - now < tick)
		tick = live - now;
	return tick < LATE_TICK_NS ? LATE_TICK_NS : tick;
}

static int check_overdue(struct watch *w, int64_t now, struct error *err)
{
	if (!run_sends(w->run) || w->told_done)
		w->overdue.moved_ns = 0;
	return overdue_check(&w->overdue, flows_sent(w->run) + flows_received(w->run), now, err);
}

static int look(struct watch *w, struct error *err)
{
	struct run *run = w->run;
	int64_t now = clock_now(run->conf->clock);
	struct note note;
	int rc;

	rc = comm_wait(run->comm, next_tick(w, now), &note, err);
	if (rc == 0)
		rc = take_note(w, &note, err);
	now = clock_now(run->conf->clock);
	if (rc == 0 && ((run->conf->interrupted && *run->conf->interrupted) || atomic_load(&run->control.failed)))
		rc = stop_everywhere(w, err);
	if (rc == 0)
		rc = tell_done(w, err);
	if (rc == 0)
		rc = report_live(w, now, err);
	if (rc == 0)
		rc = check_overdue(w, now, err);
	report_progress(w, now);
	return rc;
}

static bool phase_over(const struct watch *w)
{
	const struct flow_control *control = &w->run->control;

	return atomic_load(&control->command) == FLOW_FINISH && atomic_load(&control->running) == 0;
}

static void reset_control(struct run *run)
{
	const struct spec *spec = &run->spec;
	bool reliable = transport_is_reliable(spec->transport) && spec->null_loss <= 0;

	atomic_store(&run->control.command, FLOW_RUN);
	run->control.quiet_ns = reliable ? 0 : QUIET_MIN_NS + 8 * run->rtt_ns;
}

static int run_phase(struct run *run, struct phase *phase, struct error *err)
{
	struct watch w = { .run = run, .phase = phase };
	struct workers *workers = NULL;
	int rc, join;

	phase->start_ns = clock_now(run->conf->clock) + LEAD_NS + 4 * run->rtt_ns;
	rc = agree_phase(run, phase, err);
	if (rc < 0 || run->interrupted)
		return rc;
	phase_set_instants(phase, &run->spec);
	w.overdue.due_ns = phase->stop_ns;
	overdue_expect(&w.overdue, &run->spec);
	w.live_ns = phase->start_ns;
	w.live_base = live_count(run);
	reset_control(run);
	for (unsigned i = 0; i < run->workers; i++)
		run->flows[i].phase = *phase;
	rc = workers_start(run->flows, run->workers, &workers, err);
	while (rc == 0 && !phase_over(&w))
		rc = look(&w, err);
	if (rc < 0)
		command(run, FLOW_ABORT);
	join = workers_join(workers, rc < 0 ? ABORT_NS : -1, &run->mine.error);
	run->stuck =
		join == -ETIMEDOUT; /* else a failed worker is a result: its sentence goes to rank 0 with the counts */
	return rc;
}

/* Rank 0 may still take what is under way to it, and a rank that has ended meanwhile would look like a lost one. */
static int await_rank_0(struct run *run, struct error *err)
{
	struct buf nothing = BUF_INIT;
	const int rc = comm_bcast(run->comm, &nothing, run_deadline(run), err);

	buf_release(&nothing);
	return rc;
}

int traffic_run(struct run *run, struct error *err)
{
	const struct spec *spec = &run->spec;
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(spec, op);
	struct phase warmup = { .quota = spec->warmup_iterations * ops },
		     measure = { .quota = spec_quota(spec), .measure = true };
	bool warmup_apart = spec->warmup_iterations || (measure.quota && spec->warmup_ns);
	int rc = sync_clocks(run, err);

	if (rc == 0 && warmup_apart) {
		rc = run_phase(run, &warmup, err);
		if (rc == 0)
			rc = comm_agree(run->comm, &run->mine.error, run_deadline(run), err);
	}
	if (rc == 0)
		rc = run_phase(run, &measure, err);
	return rc == 0 && spec->bidirectional ? await_rank_0(run, err) : rc;
}
