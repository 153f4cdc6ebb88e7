/* Runs the traffic of a scenario on one rank: clocks, the common instants, the watch over all workers, and the end. */
#include "orch/overdue.h"
#include "orch/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAD_NS       20000000LL /* from the start message to the start, plus some round trips and a part for each rank */
#define LEAD_RANK_NS  200000LL
#define TICK_NS       200000000LL
#define TELL_NS       100000000LL
#define LATE_TICK_NS  5000000LL
#define START_NEAR_NS 60000000000LL
#define ABORT_NS      1000000000LL
#define QUIET_MIN_NS  50000000LL
#define NEAR_NS       25000000LL /* so long at most does a collective call rest */

struct watch {
	struct many *many;
	int64_t start_ns;
	struct overdue overdue; /* of this rank's tests */
	int64_t end_ns; /* of all tests, this rank's or not; INT64_MAX when a count ends one */
	int64_t told_ns; /* when rank 0 last told how far it is */
};

/* One message for all: the instant on rank 0's clock, and whether there is a phase at all. */
static void pack_start(const struct many *many, int64_t start_ns, struct buf *to)
{
	buf_put_u8(to, !many->interrupted);
	buf_put_u64(to, (uint64_t)start_ns);
}

static int unpack_start(struct many *many, int64_t *start_ns, const struct buf *data, struct error *err)
{
	const int64_t now = clock_now(many->conf->clock);
	int64_t here = clocks_root(&many->clocks, many->comm->rank, now);
	struct cursor from;

	cursor_init(&from, data->data, data->len);
	many->interrupted |= cursor_u8(&from) == 0;
	*start_ns = (int64_t)cursor_u64(&from);
	if (from.failed || *start_ns < here - START_NEAR_NS || *start_ns > here + START_NEAR_NS)
		return error_set(err, -EPROTO, "the start message of rank 0 cannot be right");
	*start_ns = clocks_own(&many->clocks, many->comm->rank, *start_ns);
	return 0;
}

int traffic_agree_start(struct many *many, int64_t lead_ns, int64_t deadline_ns, int64_t *ret, struct error *err)
{
	struct buf data = BUF_INIT;
	int rc;

	*ret = clock_now(many->conf->clock) + lead_ns;
	if (many->comm->rank == 0)
		pack_start(many, *ret, &data);
	rc = comm_bcast(many->comm, &data, deadline_ns, err);
	if (rc == 0 && many->comm->rank != 0)
		rc = unpack_start(many, ret, &data, err);
	buf_release(&data);
	return rc;
}

/* A phase of one test. */
static void set_phase(const struct watch *w, const struct spec *spec, bool measure, struct phase *ret)
{
	struct spec_op op[SPEC_OPS];
	const uint64_t warmup = w->many->volley ? RESULT_VOLLEYS : spec->warmup_iterations * spec_ops(spec, op);

	*ret = (struct phase){ .start_ns = w->start_ns,
			       .measure = measure,
			       .volley = w->many->volley,
			       .quota = measure ? spec_quota(spec) : warmup };
	phase_set_instants(ret, spec);
}

static void command(struct many *many, enum flow_command command)
{
	if (atomic_load(&many->share.control.command) < (int)command)
		atomic_store(&many->share.control.command, (int)command);
}

static int stop_everywhere(struct many *many, struct error *err)
{
	struct note note = { .kind = NOTE_STOP };

	if (many->interrupted)
		return 0;
	many->interrupted = true;
	command(many, FLOW_STOP);
	return comm_note(many->comm, &note, err);
}

static int take_note(struct many *many, const struct note *note)
{
	if (note->kind == NOTE_STOP) {
		many->interrupted = true;
		command(many, FLOW_STOP);
	}
	return 0;
}

static uint64_t count_all(const struct share *share)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < share->flows; i++)
		sum += atomic_load_explicit(&share->flow[i].live_sent, memory_order_relaxed) +
		       atomic_load_explicit(&share->flow[i].live_received, memory_order_relaxed);
	return sum;
}

static void report_progress(struct watch *w)
{
	const struct many_conf *conf = w->many->conf;
	const double total = w->end_ns == INT64_MAX ? 0 : (double)(w->end_ns - w->start_ns) / 1e9;
	const int64_t now = clock_now(conf->clock);

	if (!conf->progress || w->many->comm->rank || now < w->start_ns || now > w->end_ns ||
	    now < w->told_ns + TELL_NS)
		return;
	w->told_ns = now;
	conf->progress(conf->context, (double)(now - w->start_ns) / 1e9, total);
}

static bool must_stop(const struct many *many)
{
	const atomic_int *interrupted = many->conf->interrupted;

	return (interrupted && *interrupted) || (atomic_load(&many->share.control.failed) && !many_goes_on(many));
}

int traffic_attend(struct many *many, int64_t timeout_ns, struct error *err)
{
	struct note note;
	int rc = comm_wait(many->comm, timeout_ns, &note, err);

	if (rc == 0)
		rc = take_note(many, &note);
	report_progress(many->watch);
	if (rc == 0)
		rc = live_step(many, err);
	if (rc == 0 && !many->interrupted)
		rc = resync_step(many, err);
	return rc == 0 && must_stop(many) ? stop_everywhere(many, err) : rc;
}

static int64_t next_tick(const struct watch *w, int64_t now)
{
	const struct many *many = w->many;
	const int64_t next = many->live.next_ns < many->resync.next_ns ? many->live.next_ns : many->resync.next_ns;
	const int64_t left = w->overdue.due_ns - now, wake = next - now;

	if (many->interrupted || left < LATE_TICK_NS)
		return LATE_TICK_NS;
	if (wake < TICK_NS && wake < left)
		return wake > 0 ? wake : 0;
	return left < TICK_NS ? left : TICK_NS;
}

/* Until the workers of this rank have sent all that they will. */
static int watch_senders(struct watch *w, struct error *err)
{
	struct many *many = w->many;
	struct flow_control *control = &many->share.control;
	int rc = 0;

	while (rc == 0 && atomic_load(&control->sending)) {
		const int64_t now = clock_now(many->conf->clock);

		rc = traffic_attend(many, next_tick(w, now), err);
		if (rc == 0)
			rc = overdue_check(&w->overdue, count_all(&many->share), now, err);
	}
	return rc;
}

/* Messages that an end has sent, of which the other end's count is to be as large. */
static uint64_t sent_by(const struct share *share, const struct member *member)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < share->group[member->group].workers; i++) {
		const struct flow *flow = member_flow(share, member, i);

		if (flow->sends && spec_has_list(flow->spec)) { /* of several operations what takes a receive */
			sent += ops_expected(flow, 1);
			continue;
		}
		for (uint32_t j = member->slot * member->qps; j < (member->slot + 1) * member->qps; j++)
			sent += flow->sends ? flow->eps[j].sent : 0;
	}
	return sent;
}

static int take_counts(struct share *share, uint32_t peer, struct error *err)
{
	struct cursor from;

	cursor_init(&from, share->from[peer].data, share->from[peer].len);
	while (from.left) {
		struct member *member = share_named(share, peer, &from);
		const uint64_t count = cursor_u64(&from);

		if (from.failed || !member)
			return error_set(err, -EPROTO, "the counts of host '%s' cannot be read",
					 share->plan->host[peer].name);
		member->expected = count;
	}
	return 0;
}

/* What is waited for, by the workers that count what comes. */
static void expect(struct share *share)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < share->members; i++) {
		const struct flow *flow = member_flow(share, &share->member[i], 0);

		if (flow->spec->metric == METRIC_BW && flow->receives && !flow->idle && !flow->serves)
			sum += share->member[i].expected;
	}
	atomic_store(&share->control.expected, sum);
}

/* While the others are at it, which may take long where this rank only receives: nothing is missed, no gap slept through. */
static int meanwhile(void *context, struct error *err)
{
	struct many *many = context;
	const int64_t left = many->resync.next_ns - clock_now(many->conf->clock);

	return traffic_attend(many, left > 0 && left < NEAR_NS ? left : 0, err);
}

void traffic_hear(struct many *many, bool on)
{
	many->comm->context = many;
	many->comm->meanwhile = on ? meanwhile : NULL;
}

/* All that this rank's workers send is sent and completed: each peer hears how much, and then all ends. */
static int finish(struct watch *w, struct error *err)
{
	struct many *many = w->many;
	struct share *share = &many->share;
	const int64_t deadline = w->overdue.due_ns == INT64_MAX ? FOR_EVER_NS : w->overdue.due_ns + OVERDUE_NS;
	int rc;

	for (uint32_t i = 0; i < share->members; i++) {
		const struct member *member = &share->member[i];
		struct buf *to = &share->to[member->peer];

		member_name(member, to);
		buf_put_u64(to, sent_by(share, member));
	}
	traffic_hear(many, true);
	rc = share_swap(many, deadline, err);
	traffic_hear(many, false);
	for (uint32_t i = 0; rc == 0 && i < many->comm->size; i++)
		rc = take_counts(share, i, err);
	if (rc == 0)
		expect(share);
	command(many, rc < 0 ? FLOW_ABORT : FLOW_FINISH);
	return rc;
}

static void begin(struct watch *w, bool measure)
{
	struct share *share = &w->many->share;
	const struct plan *plan = w->many->conf->plan;
	bool lossy = false;

	for (uint32_t i = 0; i < plan->tests; i++) {
		struct phase phase;

		set_phase(w, &plan->test[i].sweep.spec[w->many->stage.point], measure, &phase);
		if (plan_runs(plan, i, w->many->stage.point) && phase.stop_ns > w->end_ns)
			w->end_ns = phase.stop_ns;
	}
	for (uint32_t i = 0; i < share->groups; i++) {
		const struct group *group = &share->group[i];
		struct phase phase;

		set_phase(w, &group->spec, measure, &phase);
		w->overdue.due_ns = phase.stop_ns > w->overdue.due_ns ? phase.stop_ns : w->overdue.due_ns;
		overdue_expect(&w->overdue, &group->spec);
		lossy |= !transport_is_reliable(group->spec.transport) || group->spec.null_loss > 0;
		for (uint32_t j = 0; j < group->workers; j++)
			share->flow[group->first_flow + j].phase = phase;
	}
	atomic_store(&share->control.command, FLOW_RUN);
	atomic_store(&share->control.expected, 0);
	atomic_store(&share->control.step, 0);
	atomic_store(&share->control.stepped, 0);
	share->control.quiet_ns = lossy ? QUIET_MIN_NS + 8 * w->many->clocks.rtt_ns : 0;
}

/*
 * Waits until all ranks stand still, so that nothing disturbs the clocks any more: those without traffic, or whose peers
 * were quick, for the others, which see to it themselves that it ends. Meanwhile they hear, and tell their part of live
 * lines.
 */
static int agree_on_end(struct many *many, const struct error *mine, struct error *err)
{
	int rc;

	traffic_hear(many, true);
	rc = comm_agree(many->comm, mine, FOR_EVER_NS, err);
	traffic_hear(many, false);
	return rc;
}

static int carry_traffic(struct watch *w, bool measure, struct error *err)
{
	struct many *many = w->many;
	struct workers *workers = NULL;
	int rc, join;

	begin(w, measure);
	live_begin(many, w->start_ns);
	resync_begin(many, w->start_ns);
	rc = many->share.flows ? workers_start(many->share.flow, many->share.flows, &workers, err) : 0;
	if (rc == 0 && plan_in_step(many->conf->plan))
		rc = step_run(many, measure, w->start_ns, err);
	if (rc == 0)
		rc = watch_senders(w, err);
	if (rc == 0)
		rc = finish(w, err);
	if (rc < 0)
		command(many, FLOW_ABORT);
	join = workers_join(workers, rc < 0 ? ABORT_NS : -1, many_goes_on(many) ? NULL : &many->mine.error);
	many->stuck = join == -ETIMEDOUT;
	return rc;
}

int traffic_phase(struct many *many, bool measure, struct error *err)
{
	const struct error none = { 0 };
	const struct error *const mine = measure ? &none : &many->mine.error;
	struct watch w = { .many = many };
	const int64_t lead = LEAD_NS + LEAD_RANK_NS * many->comm->size + 4 * many->clocks.rtt_ns;
	int rc = traffic_agree_start(many, lead, many_deadline(many), &w.start_ns, err);

	many->watch = &w;
	if (rc == 0 && !many->interrupted)
		rc = carry_traffic(&w, measure, err);
	if (rc == 0)
		rc = agree_on_end(many, mine, err);
	many->watch = NULL;
	return rc;
}

/* Whether any test of the whole plan has a warm-up by count, which is a phase of its own for all. */
static bool warmup_apart(const struct plan *plan, unsigned point)
{
	for (uint32_t i = 0; i < plan->tests; i++) {
		const struct spec *spec = &plan->test[i].sweep.spec[point];

		if (spec->warmup_iterations || (spec_quota(spec) && spec->warmup_ns))
			return true;
	}
	return false;
}

static int run_phases(struct many *many, struct error *err)
{
	int rc = clocks_sync(&many->clocks, many->comm, 0, many_deadline(many), err);

	if (rc == 0 && !many->stage.point && many->stage.round <= 1)
		rc = clocks_test(&many->clocks, many->comm, many_deadline(many), err);
	if (rc == 0)
		rc = share_volley(many, err);
	share_count_before(many);
	if (rc == 0)
		many_begins(many, MANY_TRAFFIC);
	if (rc == 0 && warmup_apart(many->conf->plan, many->stage.point)) {
		rc = traffic_phase(many, false, err);
		if (rc == 0)
			rc = step_wishes(many, many_deadline(many), err);
	}
	return rc < 0 ? rc : traffic_phase(many, true, err);
}

int share_traffic(struct many *many, struct error *err)
{
	int rc = comm_watch(many->comm, true, err);

	if (rc == 0)
		rc = run_phases(many, err);
	if (rc == 0) {
		share_count_after(many);
		rc = clocks_sync(&many->clocks, many->comm, 0, many_deadline(many), err);
	}
	if (rc == 0)
		resync_end(many);
	return rc == 0 ? comm_watch(many->comm, false, err) : rc;
}
