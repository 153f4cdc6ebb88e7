/* The window: takes its begin and end between two clock reads around a poll, and counts per interval in between. */
#include "engine/engine.h"

#include <sys/resource.h>
#include <sys/time.h>

#define CATCH_UP_NS      2000000LL /* longest that taking an edge may last, */
#define LATE_SHARE       4 /* and a quarter of the time by which it is late */
#define LOST_CORE_NS     1000000LL /* few devices make a turn so long by themselves */
#define LOST_CORE_TRIES  10
#define LOST_CORE_MAX_NS 50000000LL /* no more tries after so long: this one may be such a device */
#define EDGE_NARROW_NS   20000 /* a poll bracketed by so little is a good edge: it was not preempted */
#define INTERVAL_MIN_NS  10000000LL
#define INTERVALS_WANTED 100
#define LATE_PART        100 /* CPU time of up to a hundredth more than the window counts as the window's */

void phase_set_instants(struct phase *phase, const struct spec *spec)
{
	const bool warmed_up = spec_quota(spec) || spec->warmup_iterations; /* in a phase of its own */

	phase->begin_ns = phase->start_ns + spec->warmup_ns * (phase->measure && !warmed_up && !phase->quota);
	phase->end_ns = phase->begin_ns + (phase->measure ? spec->duration_ns : spec->warmup_ns);
	phase->stop_ns = phase->end_ns + (phase->measure ? spec->end_margin_ns : 0);
	if (phase->quota)
		phase->end_ns = phase->stop_ns = INT64_MAX;
}

/* Messages that make the figure: what completed or arrived; of a ping-pong only the answers (at the passive side: the questions). */
static uint64_t counted(const struct flow *flow)
{
	bool ping_pong = flow->spec->metric == METRIC_LAT && latency_is_ping_pong(flow->spec);

	if (flow->spec->bidirectional)
		return flow->sent; /* what was received makes a figure of its own */
	return ping_pong ? flow->received : flow->sent + flow->received;
}

/* What intervals count: messages, of a list of operations their bytes. */
static uint64_t progress(const struct flow *flow)
{
	return spec_has_list(flow->spec) ? ops_bytes(flow) : counted(flow);
}

static uint64_t outstanding(const struct flow *flow)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < flow->qps; i++)
		sum += flow->eps[i].outstanding;
	return sum;
}

/* What each QP's counters were at an edge: 0 the window's begin, 1 its end. */
static void keep_qps(const struct flow *flow, unsigned edge)
{
	struct worker_result *r = flow->result;

	for (uint32_t i = 0; i < r->qp_count; i++) {
		r->qp[i].sent[edge] = flow->eps[i].sent;
		r->qp[i].received[edge] = flow->eps[i].received;
	}
}

static void keep_ops(const struct flow *flow, uint64_t op_sent[SPEC_OPS], uint64_t *received_bytes)
{
	if (!spec_has_list(flow->spec))
		return;
	ops_sent(flow, op_sent);
	*received_bytes = ops_received_bytes(flow);
}

static int64_t tv_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000LL + tv.tv_usec * 1000LL;
}

static void cpu_times(int64_t *user, int64_t *system)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	*user = tv_ns(usage.ru_utime);
	*system = tv_ns(usage.ru_stime);
}

/*
 * Books all completions there are and returns the instant at which the counters were true: the middle of the bracket
 * of two clock reads around a turn. A worker that had lost its core first catches up (a turn with nothing to book); one
 * that loses it inside a bracket tries again, as the middle of that says nothing. A device that always has something ends
 * this after CATCH_UP_NS of work, and more when the worker comes late.
 */
static int take_edge(struct flow *flow, int64_t *ret)
{
	const int64_t begun = clock_now(flow->clock), late = begun - flow->meter.next_edge;
	int64_t left = flow->block ? 0 : CATCH_UP_NS + (late > 0 ? late / LATE_SHARE : 0), width;
	unsigned lost = 0;
	bool again;
	int rc;

	do {
		int64_t before = clock_now(flow->clock), after;

		rc = flow->sends && !flow->over ? flow->engine->turn(flow) : flow_pump(flow);
		if (rc < 0)
			return rc;
		after = clock_now(flow->clock);
		width = after - before;
		*ret = before + width / 2;
		if (width < LOST_CORE_NS) {
			left -= width;
			again = left > 0 && (rc > 0 || width > EDGE_NARROW_NS);
		} else {
			again = ++lost < LOST_CORE_TRIES && before - begun < LOST_CORE_MAX_NS;
		}
	} while (again);
	if (width > flow->result->edge_error_ns)
		flow->result->edge_error_ns = width;
	return 0;
}

static void set_next_edge(struct flow *flow)
{
	struct meter *m = &flow->meter;

	switch (m->state) {
	case METER_WAIT:
		m->next_edge = flow->phase.begin_ns;
		break;
	case METER_OPEN:
		m->next_edge = m->next_interval < flow->phase.end_ns ? m->next_interval : flow->phase.end_ns;
		break;
	case METER_MARGIN:
		m->next_edge = flow->phase.stop_ns;
		break;
	case METER_OVER:
		m->next_edge = INT64_MAX;
		break;
	}
}

static void open_window(struct flow *flow, int64_t at)
{
	struct meter *m = &flow->meter;
	struct worker_result *r = flow->result;
	int64_t length = flow->phase.quota ? 0 : flow->phase.end_ns - flow->phase.begin_ns;

	m->state = METER_OPEN;
	m->sent0 = flow->sent;
	m->received0 = flow->received;
	keep_ops(flow, m->op_sent0, &m->received_bytes0);
	m->interval_ns = length / INTERVALS_WANTED > INTERVAL_MIN_NS ? length / INTERVALS_WANTED : INTERVAL_MIN_NS;
	m->next_interval = at + m->interval_ns;
	m->interval_base = progress(flow);
	m->received_base = flow->received;
	cpu_times(&m->cpu_user0, &m->cpu_system0);
	r->begin_ns = r->end_ns = at;
	r->edge_begin = outstanding(flow);
	keep_qps(flow, 0);
	r->interval_ns = m->interval_ns;
	r->intervals = 0;
}

static void close_window(struct flow *flow, int64_t at)
{
	struct meter *m = &flow->meter;
	struct worker_result *r = flow->result;
	int64_t user, system;

	m->state = METER_MARGIN;
	if (!flow->phase.measure)
		return;
	cpu_times(&user, &system);
	r->end_ns = at;
	r->sent = flow->sent - m->sent0;
	r->received = flow->received - m->received0;
	keep_ops(flow, r->op_sent, &r->received_bytes);
	for (unsigned i = 0; i < SPEC_OPS; i++)
		r->op_sent[i] -= m->op_sent0[i];
	r->received_bytes -= m->received_bytes0;
	r->edge_end = outstanding(flow);
	keep_qps(flow, 1);
	r->cpu_user_ns = user - m->cpu_user0;
	r->cpu_system_ns = system - m->cpu_system0;
}

/* No room for another interval: two become one, twice as long. */
static void widen_intervals(struct flow *flow)
{
	struct worker_result *r = flow->result;

	for (uint32_t i = 0; i < RESULT_INTERVALS / 2; i++) {
		r->interval_msgs[i] = r->interval_msgs[2 * i] + r->interval_msgs[2 * i + 1];
		r->interval_received[i] = r->interval_received[2 * i] + r->interval_received[2 * i + 1];
	}
	r->intervals = RESULT_INTERVALS / 2;
	flow->meter.interval_ns *= 2;
	r->interval_ns = flow->meter.interval_ns;
}

static void take_intervals(struct flow *flow, int64_t now)
{
	struct meter *m = &flow->meter;
	struct worker_result *r = flow->result;

	while (m->next_interval <= now && m->next_interval <= flow->phase.end_ns) {
		if (r->intervals == RESULT_INTERVALS) {
			m->next_interval +=
				m->interval_ns; /* the one that ends here becomes the first half of a wide one */
			widen_intervals(flow);
			continue;
		}
		r->interval_msgs[r->intervals] = progress(flow) - m->interval_base;
		r->interval_received[r->intervals++] = flow->received - m->received_base;
		m->interval_base = progress(flow);
		m->received_base = flow->received;
		m->next_interval += m->interval_ns;
	}
}

void meter_start(struct flow *flow)
{
	flow->over = false;
	flow->port->phases++;
	flow->last_ns = 0;
	flow->meter.state = METER_WAIT;
	if (flow->phase.quota)
		open_window(flow, clock_now(flow->clock)); /* nothing was posted yet: no edge to find */
	set_next_edge(flow);
}

/* One step of the state machine; several may be due at once after a long sleep. */
static int step(struct flow *flow, int64_t now)
{
	struct meter *m = &flow->meter;
	int64_t at = now;
	int rc;

	if (m->state == METER_OPEN && now < flow->phase.end_ns && !flow_stopped(flow)) {
		take_intervals(flow, now);
		return 0;
	}
	if (m->state == METER_MARGIN) {
		m->state = METER_OVER;
		flow_over(flow, now);
		return 0;
	}
	if (m->state == METER_WAIT && flow_stopped(flow)) {
		m->state = METER_MARGIN; /* ended before there was a window */
		return 0;
	}
	rc = take_edge(flow, &at);
	if (rc < 0)
		return rc;
	if (m->state == METER_WAIT) {
		open_window(flow, at);
	} else {
		take_intervals(flow, at);
		close_window(flow, at);
	}
	return 0;
}

static bool step_due(const struct flow *flow, int64_t now)
{
	return flow->meter.state != METER_OVER && (now >= flow->meter.next_edge || flow_stopped(flow));
}

int meter_edge(struct flow *flow, int64_t now)
{
	while (step_due(flow, now)) {
		enum meter_state before = flow->meter.state;
		int rc = step(flow, now);

		if (rc < 0)
			return rc;
		set_next_edge(flow);
		if (flow->meter.state != before)
			now = clock_now(flow->clock);
	}
	return 0;
}

/*
 * The window may end in the past: by quota the last message that arrived ends the receiver's, and that it was the last
 * shows later. Intervals taken since then are none of its own; nor is the CPU time, which is then unknown.
 */
static void close_late(struct flow *flow, int64_t at)
{
	struct worker_result *r = flow->result;
	int64_t late = clock_now(flow->clock) - at, whole = (at - r->begin_ns) / flow->meter.interval_ns;

	close_window(flow, at);
	if (!flow->phase.measure)
		return;
	if (r->intervals > whole)
		r->intervals = (uint32_t)whole;
	if (late > (at - r->begin_ns) / LATE_PART)
		r->cpu_user_ns = r->cpu_system_ns = -1;
}

void meter_close(struct flow *flow, int64_t now)
{
	if (flow->meter.state == METER_OPEN) {
		take_intervals(flow, now);
		close_late(flow, now);
	}
	flow->meter.state = METER_OVER;
	flow_over(flow, clock_now(flow->clock));
	set_next_edge(flow);
}
