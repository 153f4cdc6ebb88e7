/* The open loop on the null device and a clock that the test moves: what is reported is the truth of queueing theory. */
#include "base/hist.h"
#include "base/topo.h"
#include "driver/null.h"
#include "engine/engine.h"
#include "engine/openloop.h"
#include "mem/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS       INT64_C(1000000)
#define SECOND   INT64_C(1000000000)
#define TICK_NS  10000 /* each look at the clock takes so long */
#define SERVICE  (10 * MS) /* 125,000 bytes at 100 Mbit/s */
#define CAPACITY 100.0 /* messages/s */

#include "fake_clock.h"

/* --- one worker --- */

struct bench {
	struct spec spec;
	struct driver driver;
	struct clock clock;
	struct topo *topo;
	struct flow_control control;
	struct worker_result result;
	struct hist hist;
	struct flow flow;
	struct load_kept kept;
};

static struct bench *bench_new(double utilisation, double seconds)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct request request;
	struct error err;

	assert_non_null(b);
	request_init(&request);
	b->spec = request.spec;
	b->spec.driver = DRIVER_NULL;
	b->spec.transport = TRANSPORT_RC;
	b->spec.verb = VERB_WRITE;
	b->spec.metric = METRIC_LAT;
	b->spec.lat_mode = LAT_ONE_WAY;
	b->spec.size = 125000;
	b->spec.null_rate = 100000000;
	b->spec.load = (struct load){ .per_second = (uint64_t)llround(CAPACITY * utilisation), .in_messages = 1 };
	b->spec.duration_ns = llround(seconds * 1e9);
	b->spec.tx_depth = 400;
	b->spec.rx_depth = b->spec.post_batch = b->spec.cq_mod = 1;
	assert_int_equal(topo_open(&b->topo, &err), 0);
	clock_init(&b->clock, true);
	b->driver = driver_null;
	b->driver.wait = sleep_on;
	hist_init(&b->hist);
	return b;
}

static void bench_run(struct bench *b)
{
	const struct port_conf conf = { .spec = &b->spec, .clock = &b->clock, .workers = 1, .active = true };
	const struct mem_host host = { .topo = b->topo, .node = -1, .cuda_lib_path = "", .sysfs = "/sys" };
	struct error err = { 0 };

	b->result.hist = &b->hist;
	b->flow = (struct flow){ .spec = &b->spec,
				 .engine = engine_find(&b->spec),
				 .drv = &b->driver,
				 .clock = &b->clock,
				 .topo = b->topo,
				 .control = &b->control,
				 .active = true,
				 .result = &b->result };
	assert_ptr_equal(b->flow.engine, &engine_openloop_latency);
	if (flow_open(&b->flow, &conf, &host, &err))
		fail_msg("%s", err.text);
	b->flow.block = true;
	assert_int_equal(b->flow.engine->prepare(&b->flow), 0);
	for (uint32_t i = 0; i < b->flow.qps; i++)
		b->flow.eps[i].left = UINT64_MAX;
	b->flow.phase.measure = true;
	b->flow.phase.start_ns = fake.now + MS;
	b->flow.phase.begin_ns = b->flow.phase.start_ns + 10 * SECOND;
	b->flow.phase.end_ns = b->flow.phase.stop_ns = b->flow.phase.begin_ns + b->spec.duration_ns;
	meter_start(&b->flow);
	if (b->flow.engine->active(&b->flow) < 0)
		fail_msg("%s", b->flow.error.text);
	flow_close(&b->flow);
	assert_int_equal(b->hist.count + b->result.pacing.missed + b->result.timeouts, b->result.pacing.due);
}

static void bench_free(struct bench *b)
{
	topo_close(b->topo);
	free(b);
}

/* Within `part` of the truth, and what the looks at the clock from due to posted and from completed to found take. */
static void agrees(const char *what, double measured, double truth, double part)
{
	if (fabs(measured - truth) > part * truth + 6 * TICK_NS)
		fail_msg("%s: %.0f ns measured, %.0f ns are true", what, measured, truth);
}

/* --- truths --- */

/* P(wait <= t) in M/D/1, t in service times: Erlang 1909. */
static double md1_wait(double rho, double t)
{
	long double sum = 0;

	for (int i = 0; i <= (int)t; i++) {
		const long double x = (long double)rho * ((long double)t - i);
		long double term = expl(x);

		for (int k = 1; k <= i; k++)
			term *= -x / k;
		sum += term;
	}
	return (double)((1 - (long double)rho) * sum);
}

static double md1_percentile(double rho, double p)
{
	double low = 0, high = 30;

	if (md1_wait(rho, 0) >= p)
		return 0;
	while (high - low > 1e-9) {
		const double middle = (low + high) / 2;

		*(md1_wait(rho, middle) < p ? &low : &high) = middle;
	}
	return high;
}

/* --- tests --- */

static const double utilisations[] = { 0.5, 0.9 };

/* D/D/1: nothing ever waits. */
static void evenly_spaced_messages_do_not_wait(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bench *b = bench_new(utilisations[i], 1000);

		b->spec.null_latency_ns = 3 * MS;
		bench_run(b);
		agrees("smallest", (double)b->hist.min, SERVICE + 3 * MS, 0);
		agrees("largest", (double)b->hist.max, SERVICE + 3 * MS, 0);
		assert_int_equal(b->hist.count, llround(1000 * CAPACITY * utilisations[i]));
		assert_int_equal(b->result.pacing.late + b->result.pacing.behind + b->result.pacing.missed, 0);
		bench_free(b);
	}
}

static void random_messages_wait_as_erlang_says(void **state)
{
	static const double ps[] = { 50, 75, 90, 99 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const double rho = utilisations[i];
		struct bench *b = bench_new(rho, 30000);

		b->spec.arrivals = ARRIVALS_POISSON;
		bench_run(b);
		assert_true(b->result.pacing.late < b->result.pacing.due / 100);
		agrees("mean", hist_mean(&b->hist), SERVICE * (1 + rho / (2 * (1 - rho))), 0.02);
		for (unsigned k = 0; k < 4; k++)
			agrees("percentile", (double)hist_percentile(&b->hist, ps[k]),
			       SERVICE * (1 + md1_percentile(rho, ps[k] / 100)), 0.02);
		bench_free(b);
	}
}

/* M/M/1 by --null_jitter: the time in the system is exponential. */
static void a_jittering_link_makes_exponential_times(void **state)
{
	static const double ps[] = { 50, 90, 99, 99.9 };
	struct bench *b = bench_new(0.5, 40000);

	(void)state;
	b->spec.arrivals = ARRIVALS_POISSON;
	b->spec.null_rate = 0;
	b->spec.null_jitter_ns = SERVICE;
	bench_run(b);
	for (unsigned k = 0; k < 4; k++)
		agrees("percentile", (double)hist_percentile(&b->hist, ps[k]),
		       -log(1 - ps[k] / 100) * (double)SECOND / (CAPACITY - CAPACITY * 0.5), 0.02);
	bench_free(b);
}

/* Half loaded, evenly: after a stall of S the messages due in it wait for S, ... 0, and as many again behind them. */
static void a_stall_of_the_sender_shows(void **state)
{
	struct bench *b = bench_new(0.5, 1000);
	uint64_t above = 0;

	(void)state;
	fake.stall_at = fake.now + 500 * SECOND;
	fake.stall = 2 * SECOND;
	bench_run(b);
	agrees("largest", (double)b->hist.max, 2 * SECOND + SERVICE, 0.01);
	agrees("latest post", (double)b->result.pacing.late_max_ns, 2 * SECOND, 0.01);
	for (unsigned i = hist_index(SERVICE + MS); i < HIST_BUCKETS; i++)
		above += b->hist.bucket[i];
	assert_in_range(above, 195, 205); /* 50/s for 2 s; then 100/s leave and 50/s come for 2 s */
	assert_in_range(hist_percentile(&b->hist, 99.9), SECOND, 2 * SECOND);
	assert_in_range(b->result.pacing.late, 98, 102);
	bench_free(b);
}

/* More is asked than the link takes: what was due and not done is told, and nothing due is forgotten. */
static void an_overload_is_told(void **state)
{
	struct bench *b = bench_new(1.25, 1000);

	(void)state;
	bench_run(b);
	assert_int_equal(b->result.pacing.due, 125000);
	assert_in_range(b->result.sent, 99990, 100010);
	assert_in_range(b->result.pacing.behind, 125000 + 1250 - 101000 - 405, 125000 + 1250 - 101000 - 390);
	assert_in_range(b->result.pacing.behind - b->result.pacing.missed, 9, 11); /* 100 ms for the rest */
	bench_free(b);
}

/* A ping-pong's answers come one way back, and are matched in their order on every queue pair. */
static void answers_take_the_way_twice(void **state)
{
	struct bench *b = bench_new(0.9, 100);

	(void)state;
	b->spec.verb = VERB_SEND;
	b->spec.lat_mode = LAT_FULL_ROUND_TRIP;
	b->spec.null_latency_ns = 500 * MS;
	b->spec.qps = 7;
	bench_run(b);
	agrees("smallest", (double)b->hist.min, 2 * (SERVICE + 500 * MS), 0);
	agrees("largest", (double)b->hist.max, 2 * (SERVICE + 500 * MS), 0);
	assert_int_equal(b->hist.count, 9000);
	bench_free(b);
}

/* --- the passive side of a ping-pong --- */

/* A device to which one message comes while the window's begin is taken, and nothing else. */
static struct silent {
	struct port port;
	struct ep ep;
	struct flow_control control;
	struct flow flow;
	unsigned polls, asked, answers, completed;
} silent;

static int silent_poll(struct port *port, struct done *done, int max)
{
	(void)port;
	(void)max;
	if (++silent.polls > 1000)
		silent.control.command = FLOW_FINISH;
	if (silent.answers > silent.completed) {
		silent.completed++;
		done[0] = (struct done){ .ep = &silent.ep, .kind = DONE_TX, .count = 1 };
		return 1;
	}
	if (silent.asked || silent.flow.meter.state != METER_WAIT || fake.now < silent.flow.phase.begin_ns)
		return 0;
	silent.asked = silent.polls;
	done[0] = (struct done){ .ep = &silent.ep, .kind = DONE_RX, .count = 1 };
	return 1;
}

static int silent_post(struct ep *ep, unsigned n, unsigned flags)
{
	(void)ep;
	(void)flags;
	silent.answers += n;
	return (int)n;
}

/* What an edge of the window takes is answered at once, not with the next message: there may be none. */
static void a_message_that_comes_at_an_edge_is_answered(void **state)
{
	const struct driver driver = { .poll = silent_poll, .post = silent_post, .finish = driver_no_half };
	struct bench *b = bench_new(0.5, 1);
	struct flow_ep fep = { .ep = &silent.ep };

	(void)state;
	b->spec.verb = VERB_SEND;
	b->spec.lat_mode = LAT_FULL_ROUND_TRIP;
	silent.flow = (struct flow){ .spec = &b->spec,
				     .drv = &driver,
				     .clock = &b->clock,
				     .control = &silent.control,
				     .port = &silent.port,
				     .eps = &fep,
				     .qps = 1,
				     .repost_step = 2,
				     .result = &b->result };
	silent.flow.phase = (struct phase){ .measure = true,
					    .begin_ns = fake.now + 10 * TICK_NS,
					    .end_ns = fake.now + 2 * SECOND,
					    .stop_ns = fake.now + 2 * SECOND };
	meter_start(&silent.flow);
	assert_int_equal(engine_openloop_latency.passive(&silent.flow), 0);
	assert_true(silent.asked);
	assert_int_equal(silent.answers, 1);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evenly_spaced_messages_do_not_wait),
		cmocka_unit_test(random_messages_wait_as_erlang_says),
		cmocka_unit_test(a_jittering_link_makes_exponential_times),
		cmocka_unit_test(a_stall_of_the_sender_shows),
		cmocka_unit_test(an_overload_is_told),
		cmocka_unit_test(answers_take_the_way_twice),
		cmocka_unit_test(a_message_that_comes_at_an_edge_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
