/*
 * An engine is a way to measure: it drives one worker's endpoints through a phase. The same struct serves both sides;
 * the driver does the moving, the meter the counting.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/clock.h"
#include "driver/driver.h"
#include "spec/result.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct arriving;
struct bursts;
struct engine;
struct openloop;
struct mem_host;
struct topo;
struct step_checks;
struct validation;

#define FLOW_DONES 64 /* completions taken with one poll */

/* When a phase begins and ends, in ns of this rank's clock: the same instants on all ranks. */
struct phase {
	int64_t start_ns; /* traffic begins */
	int64_t begin_ns; /* the window begins */
	int64_t end_ns; /* the window ends; INT64_MAX when the quota ends it */
	int64_t stop_ns; /* the active side stops posting (end margin) */
	uint64_t quota; /* messages per QP; 0 = by time */
	bool measure; /* false: warm-up by iterations, nothing is kept */
	bool volley; /* volley.c instead of the engine, of the flows that take part in it */
};

/* The other instants of a phase whose start, quota and measure are known. */
void phase_set_instants(struct phase *phase, const struct spec *spec);

/* What the main thread tells the workers; only ever grows. */
enum flow_command {
	FLOW_RUN,
	FLOW_STOP, /* end the window and the traffic now */
	FLOW_FINISH, /* nobody sends any more: who receives takes what is still under way and ends */
	FLOW_ABORT, /* the run has failed (a lost rank): end at once, wait for nothing */
};

/* By how much instants that were agreed on before the traffic have moved on this rank's clock, which drifts from rank 0's. */
struct clock_shift {
	atomic_uint writes; /* odd while it changes */
	atomic_llong at_ns, ns; /* so much at that instant, */
	_Atomic double drift; /* and so much more each ns */
};

/* Shared by the flows of one rank. */
struct flow_control {
	atomic_int command; /* enum flow_command */
	atomic_ullong expected; /* with FLOW_FINISH: messages that the other side sent in all */
	atomic_ullong arrived; /* messages received by all flows of this rank that have reported so far */
	atomic_uint running; /* flows that have not ended */
	atomic_uint sending; /* flows that have not sent and drained all that they will */
	atomic_uint failed; /* flows that ended with an error */
	atomic_ullong step; /* in step: iterations that may begin, */
	atomic_llong step_ns; /* the last of them at this instant; */
	atomic_ullong stepped; /* and that have ended, of all flows */
	const atomic_int *interrupted; /* NULL, or set when somebody asks to stop: ends the set-up */
	struct clock_shift shift; /* of slots of bursts, */
	bool followed; /* which is kept up while they run */
	int64_t quiet_ns; /* nothing arrived for so long after FLOW_FINISH: the rest is lost */
};

struct flow_ep {
	struct ep *ep;
	uint32_t outstanding; /* posted, not completed */
	uint64_t posted; /* since the ring was prepared: tells whether the tail is signalled */
	uint64_t sent, received; /* completed messages since the flow was opened */
	bool tail_signalled; /* the last post asked for it */
	uint64_t left; /* of the quota; UINT64_MAX by time */
	uint32_t repost; /* receives consumed and not posted again */
	uint64_t answered; /* of those received, at the passive side of a ping-pong */
	uint8_t marker; /* number of the last message, in memory-polling latency */
};

/* State of the window (meter.c). */
enum meter_state { METER_WAIT, METER_OPEN, METER_MARGIN, METER_OVER };
struct meter {
	int64_t next_edge; /* hot: nothing happens before this instant */
	enum meter_state state;
	int64_t interval_ns, next_interval;
	uint64_t interval_base, received_base; /* counted, and received, when the interval began */
	uint64_t sent0, received0; /* counters at the window's begin */
	uint64_t op_sent0[SPEC_OPS], received_bytes0; /* the same of a list of operations */
	int64_t cpu_user0, cpu_system0;
};

/* One worker of one side. */
struct flow {
	const struct spec *spec;
	const struct engine *engine;
	const struct driver *drv;
	const struct clock *clock;
	const struct topo *topo;
	struct flow_control *control;
	struct port *port;
	struct caps caps;
	struct mem *mem;
	struct region *region;
	struct flow_ep *eps;
	uint32_t qps, slots;
	uint32_t rx_depth; /* receives that are posted or to be posted again, per endpoint */
	unsigned index, core;
	bool active; /* of a test of both directions: the side that connects */
	bool sends, receives; /* bandwidth: messages go out, messages show here when they come in */
	bool idle; /* this side has nothing to do in this test */
	bool serves; /* this side only polls, so that its driver carries out what the other one asks for */
	bool yield; /* cores are shared: give way when there is nothing to do */
	bool block; /* wait() instead of polling */
	uint32_t repost_step; /* consumed receives are posted again in steps of so many */

	struct phase phase;
	struct meter meter;
	uint64_t sent, received; /* the same of all endpoints */
	uint64_t reported; /* of them in control->arrived */
	int64_t last_ns; /* by quota, where messages arrive: when the last completed */
	bool over; /* stop posting */
	int64_t over_ns, drained_ns; /* since when; when nothing was outstanding any more */
	bool kick; /* some endpoint may have room that no completion will announce: post on all */
	bool starved; /* the device has refused receives: posts them again when nothing else is to be done */
	bool sending; /* counted in control->sending */
	atomic_ullong live_sent, live_received; /* so far, for the main thread */

	uint32_t number,
		peers; /* of the senders of a test, this one; queue pairs of so many peers, one after another */
	uint64_t stream; /* of random numbers: its first queue pair's, with room for all of all workers behind it */
	struct bursts *bursts; /* what is under way of them (burst_line.c) */
	struct arriving *arrivals; /* which slot of theirs what comes belongs to (arrivals.c); NULL: it is not told */
	int64_t *volley_ns; /* RESULT_VOLLEYS instants a peer (volley.c); NULL: it takes no part */
	uint32_t volley_peer, volley_turn; /* a sender's: to whom; how many volleys come before it */
	struct openloop *loop; /* the schedule, and what is under way (openloop.c) */
	struct step_checks *checks; /* in step: what is compared between two iterations (lockstep.h); NULL: nothing */
	struct validation *validation; /* NULL: payload is neither filled nor compared */
	struct worker_result *result;
	struct error error;
};

struct engine {
	enum metric metric;
	bool paced; /* an open loop */
	bool bursts;
	/* Builds the rings and posts the first receives; before the barrier that precedes the traffic. */
	int (*prepare)(struct flow *flow);
	/* The phase, in the worker's thread: until the window is over and nothing is outstanding (active), until FLOW_FINISH (passive). */
	int (*active)(struct flow *flow);
	int (*passive)(struct flow *flow);
	/* The same of a side that sends and receives; NULL where no test has both directions. */
	int (*both)(struct flow *flow);
	/* One turn of a sending side's loop, posts included: 1 = completions came, 0 = none, negative errno. */
	int (*turn)(struct flow *flow);
};

extern const struct engine *const engines[]; /* NULL-terminated */
const struct engine *engine_find(const struct spec *spec);

/* --- ops.c: the operations of a test as its rings repeat them, and how many of each were done --- */

/* Bytes from slot to slot: all regions of an iteration. */
uint32_t ops_stride(const struct spec *spec, uint32_t align);
struct work flow_work(const struct flow *flow, enum work_kind kind, uint32_t batch);
/* Messages sent so far by operation. */
void ops_sent(const struct flow *flow, uint64_t ret[SPEC_OPS]);
/* Of all that the flows of a rank have sent, what the other side will count; of a list what takes a receive there. */
uint64_t ops_expected(const struct flow *flows, unsigned count);
/* Payload received, and in both directions, so far; with a list of operations only. */
uint64_t ops_received_bytes(const struct flow *flow);
uint64_t ops_bytes(const struct flow *flow);

/* --- flow.c: opening and closing a worker's part --- */

/* Port, buffers and endpoints; flow->spec, drv, clock, topo, control, index, core, active, result are set. */
int flow_open(struct flow *flow, const struct port_conf *conf, const struct mem_host *host, struct error *err);
/*
 * For the next test on the same port and endpoints: flow->spec, which the driver looks at too, holds it already. What the
 * test before left is forgotten, its result goes to result from now on; the engine's prepare follows. Both sides at once.
 */
int flow_renew(struct flow *flow, struct worker_result *result, struct error *err);
/* The same for the test at hand once more: slots stay where they are, as each side has them. */
int flow_begin_anew(struct flow *flow, struct worker_result *result, struct error *err);
void flow_close(struct flow *flow);
/* Bytes of data buffers that one worker of this test needs (engine's choice of slots included). */
uint64_t flow_buffer_bytes(const struct spec *spec, uint32_t stride_align, uint32_t *ret_slots);
int flow_addresses(struct flow *flow, struct buf *to, struct error *err); /* a block per endpoint */
int flow_offer(struct flow *flow, struct cursor *from,
	       struct error *err); /* caps.in_turn: the other side's, before ours */
/* The same of some endpoints, without their number before: several peers have each their part of a flow. */
int flow_addresses_of(struct flow *flow, uint32_t first, uint32_t count, struct buf *to, struct error *err);
int flow_connect_some(struct flow *flow, uint32_t first, uint32_t count, struct cursor *from, int64_t deadline_ns,
		      struct error *err);
int flow_connect(struct flow *flow, struct cursor *from, int64_t deadline_ns, struct error *err);

/* --- run.c: what both engines do with completions --- */

/* Polls once and books what it got: 1 when completions came, 0 when not, negative errno with flow->error. */
int flow_pump(struct flow *flow);
/* Counts a completion, and posts receives again as flow_pump does. */
int flow_book(struct flow *flow, const struct done *done);
/* Posts the receives of an endpoint that were consumed (flow_pump does so in steps of repost_step). */
int flow_repost(struct flow *flow, struct flow_ep *fep);
/* Books messages that arrived on an endpoint, and posts its receives again in time. */
int flow_arrived(struct flow *flow, struct flow_ep *fep, uint32_t count);
/* Tries again what the device refused: 0, or negative errno. */
int flow_feed(struct flow *flow);
/* This flow has sent all that it will, and nothing is outstanding; the first call counts. */
void flow_sent_all(struct flow *flow);
/* Nothing to do right now: spins, yields or sleeps as the flow is set up, at most until its next edge. */
int flow_idle_wait(struct flow *flow, int64_t now);
/* The passive side of one-sided verbs where the driver makes progress in its calls only: polls until FLOW_FINISH. */
int flow_serve(struct flow *flow);
/* Copies port->err into flow->error and returns its code. */
int flow_fail(struct flow *flow);
/* Waits until nothing is outstanding (10 s), posting a signalled message where the tail is unsignalled. */
int flow_drain(struct flow *flow);
/* Passive side after FLOW_FINISH: true while messages may still be under way. */
bool flow_expects_more(struct flow *flow, int64_t now, int64_t *quiet_since);

static inline int flow_command(const struct flow *flow)
{
	return atomic_load_explicit(&flow->control->command, memory_order_acquire);
}

/* The window is to end now, whatever the time. */
static inline bool flow_stopped(const struct flow *flow)
{
	int command = flow_command(flow);

	return command == FLOW_STOP || command == FLOW_ABORT;
}

/* --- meter.c --- */

void meter_start(struct flow *flow); /* before the first post */
/* An edge is due (now >= meter.next_edge) or the main thread commands something: takes it. Negative errno on failure. */
int meter_edge(struct flow *flow, int64_t now);
/* The quota is done: the window ends now. */
void meter_close(struct flow *flow, int64_t now);

/* No post from now on. */
static inline void flow_over(struct flow *flow, int64_t now)
{
	if (!flow->over)
		flow->over_ns = now;
	flow->over = true;
}

static inline void flow_show(struct flow *flow)
{
	atomic_store_explicit(&flow->live_sent, flow->sent, memory_order_relaxed);
	atomic_store_explicit(&flow->live_received, flow->received, memory_order_relaxed);
}

static inline int meter_check(struct flow *flow)
{
	int64_t now = clock_now(flow->clock);

	flow_show(flow);
	if (__builtin_expect(now < flow->meter.next_edge && flow_command(flow) == FLOW_RUN, 1))
		return 0;
	return meter_edge(flow, now);
}

/* --- shift.c --- */

void flow_shift_set(struct flow_control *control, int64_t at_ns, int64_t shift_ns, double drift);
/* Of an instant that is due. */
int64_t flow_shift(struct flow_control *control, int64_t due_ns);

/* --- validate.c --- */

/* From here on the flow's driver fills what is posted and compares what arrives; the endpoints are open. */
int validate_open(struct flow *flow, struct error *err);
void validate_close(struct flow *flow);
int validate_collect(const struct flow *flow, struct rank_result *rank); /* -ENOMEM */

/* --- worker.c --- */

struct workers;
/* Starts one thread a flow that is not idle, bound to its core, through the given phase. */
int workers_start(struct flow *flows, unsigned count, struct workers **ret, struct error *err);
/*
 * Joins all; the first flow's error, if any. patience_ns: < 0 for as long as it takes, else whole seconds; then
 * -ETIMEDOUT, and what the workers use must stay.
 */
int workers_join(struct workers *workers, int64_t patience_ns, struct error *err);

#endif
