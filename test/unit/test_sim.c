/* Both simulations of a switch: known cases in numbers, the closed form, what is refused, and their speed. */
#include "sim_port.h"

#include <time.h>

#define N 15

/* N senders at starts drawn within skew. *ret_skew: what the draw came to. */
static void draw(struct sim_flow *flow, double messages, double skew, struct lot *lot, double *ret_skew)
{
	double first = INFINITY, last = 0;

	for (unsigned i = 0; i < N; i++) {
		flow[i] = flow_of(0, messages, skew > 0 ? skew * lot_uniform(lot) : 0);
		first = fmin(first, flow[i].start);
		last = fmax(last, flow[i].start);
	}
	*ret_skew = last - first;
}

static void test_one_hot_queue(void **state)
{
	const struct {
		struct sim_switch box;
		double peak, drop, first_us;
	} row[] = {
		{ switch_of(0, 0, 50.5 * MB), 50.50 * MB, 2.72 * MB, 72.1 },
		{ switch_of(101 * MB, 1, 0), 50.50 * MB, 2.72 * MB, 72.1 },
		{ switch_of(101 * MB, 0.5, 0), 33.67 * MB, 19.55 * MB, 48.1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sim_flow flow = flow_of(0, 58, 0);
		const struct sim sim = {
			.box = row[i].box, .queue = &port, .queues = 1, .flow = &flow, .flows = 1, .until = INFINITY
		};

		flow.senders = N;
		for (size_t e = 0; e < 2; e++) {
			struct sim_outcome out;

			simulate(engines[e], &sim, &out);
			near(out.peak, row[i].peak, 0.05 * MB);
			near(out.dropped, row[i].drop, 0.05 * MB);
			near(out.first_drop, row[i].first_us * US, 0.2 * US);
			near(out.offered, N * 58 * KIB64, 1);
			if (i < 2)
				near(out.empty, 1.09e-3, 0.005e-3);
			assert_true(out.left == 0);
		}
	}
}

/* Without a limit the peak is (N - 1) S - C w, whatever the starts are, as long as no gap opens. */
static void test_closed_form(void **state)
{
	static const struct {
		double skew_us, mean_mb;
	} row[] = { { 0, 27.53 }, { 1, 27.49 }, { 15, 26.88 }, { 50, 25.36 } };
	struct lot lot;

	(void)state;
	lot_init(&lot, 1, 1);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		double sum[2] = { 0, 0 };

		for (unsigned k = 0; k < 20; k++) {
			struct sim_flow flow[N];
			const struct sim sim = { .box = switch_of(0, 0, INFINITY),
						 .queue = &port,
						 .queues = 1,
						 .flow = flow,
						 .flows = N,
						 .until = INFINITY };
			double skew;

			draw(flow, 30, row[i].skew_us * US, &lot, &skew);
			for (size_t e = 0; e < 2; e++) {
				struct sim_outcome out;

				simulate(engines[e], &sim, &out);
				near(out.peak, 14 * 30 * KIB64 - port.drain * skew, e ? PACKET + 1 : 1);
				sum[e] += out.peak / 20;
			}
		}
		near(sum[0], row[i].mean_mb * MB,
		     0.05 * MB + 0.01 * MB * row[i].skew_us); /* other draws, other means */
		near(sum[1], sum[0], PACKET + 1);
	}
}

/* Where gaps open the queue drains nothing in them: more is left than the closed form says, which knows its own limits. */
static void test_gaps(void **state)
{
	struct sim_flow flow[N];
	const struct sim sim = { .box = switch_of(0, 0, INFINITY),
				 .queue = &port,
				 .queues = 1,
				 .flow = flow,
				 .flows = N,
				 .until = INFINITY };
	struct sim_outcome out;
	double kept = 0;
	struct lot lot;

	(void)state;
	lot_init(&lot, 7, 1);
	for (unsigned k = 0; k < 20; k++) { /* 15 us of skew leave most of the peak of bursts of 5 us */
		double skew;

		draw(flow, 250000 / KIB64, 15 * US, &lot, &skew);
		simulate(sim_fluid, &sim, &out);
		kept += out.peak / (14 * 250000.0) / 20;
	}
	near(kept, 0.81, 0.05);
	for (unsigned i = 0; i < N; i++) {
		flow[i] = flow_of(0, 1, i * 10 * US);
		flow[i].bytes = 5 * US * flow[i].rate;
	}
	simulate(sim_fluid, &sim, &out);
	near(out.peak, 0, 1); /* one behind the other: as fast as the port */
	simulate(sim_packets, &sim, &out);
	near(out.peak, PACKET, 1);
}

static void test_two_hot_queues(void **state)
{
	static const struct {
		double alpha, mb;
	} row[] = { { 0.5, 25.25 }, { 1, 33.67 }, { 8, 47.53 } };
	const struct sim_queue pair[] = { port, port }, copies = { port.drain, 2 };

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sim_flow flow[] = { flow_of(0, 400, 0), flow_of(1, 400, 0) };
		struct sim sim = { .box = switch_of(101 * MB, row[i].alpha, 0),
				   .queue = pair,
				   .queues = 2,
				   .flow = flow,
				   .flows = 2,
				   .until = INFINITY };

		flow[0].senders = flow[1].senders = N;
		for (size_t e = 0; e < 4; e++) {
			struct sim_outcome out[2];

			sim.queue = e < 2 ? pair : &copies; /* as two queues, and as two copies of one */
			sim.queues = sim.flows = e < 2 ? 2 : 1;
			simulate(engines[e % 2], &sim, out);
			near(out[0].peak, row[i].mb * MB, 0.05 * MB);
			if (e < 2)
				near(out[1].peak, out[0].peak, N * PACKET);
		}
	}
}

/* The first takes what is free; the second comes to less, though both are alike. */
static void test_second_queue_later(void **state)
{
	const struct sim_queue pair[] = { port, port };
	struct sim_flow flow[] = { flow_of(0, 420, 0), flow_of(1, 420, 150 * US) };
	const struct sim sim = { .box = switch_of(101 * MB, 1, 0),
				 .queue = pair,
				 .queues = 2,
				 .flow = flow,
				 .flows = 2,
				 .until = INFINITY };

	(void)state;
	flow[0].senders = flow[1].senders = N;
	for (size_t e = 0; e < 2; e++) {
		struct sim_outcome out[2];

		simulate(engines[e], &sim, out);
		near(out[0].peak, 50.50 * MB, 0.05 * MB);
		near(out[1].peak, 37.42 * MB, 0.05 * MB);
	}
}

static void storage(struct sim_flow *flow, double gbit, struct lot *lot)
{
	for (unsigned i = 0; i < N; i++) {
		flow[i] = flow_of(0, 61.0 / 16, 0);
		flow[i].period = flow[i].bytes / (gbit * GBIT);
		flow[i].bursts = 1000000;
		flow[i].start = lot ? flow[i].period * lot_uniform(lot) : 0;
	}
}

/* 61 messages of 4 KiB a burst, each flow in its own rhythm, for 10 ms. */
static void test_storage(void **state)
{
	static const struct {
		double gbit, aligned, random, slack;
	} row[] = { { 10, 3.50, 0.36, 0.1 }, { 25, 3.50, 0.87, 0.2 }, { 30, 66.0, 63.1, 0.2 } };
	struct sim_flow flow[N];
	struct sim sim = {
		.box = switch_of(0, 0, INFINITY), .queue = &port, .queues = 1, .flow = flow, .flows = N, .until = 10e-3
	};
	struct lot lot;

	(void)state;
	lot_init(&lot, 3, 1);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sim_outcome out;
		double mean = 0;

		for (size_t e = 0; e < 2; e++) {
			storage(flow, row[i].gbit, NULL);
			simulate(engines[e], &sim, &out);
			near(out.peak, row[i].aligned * MB, 0.05 * MB);
		}
		for (unsigned k = 0; k < 50; k++) {
			storage(flow, row[i].gbit, &lot);
			simulate(sim_fluid, &sim, &out);
			mean += out.peak / 50;
		}
		printf("# %g Gb/s: random phases %.3f MB\n", row[i].gbit, mean / MB);
		near(mean, row[i].random * MB, row[i].slack * MB);
	}
	sim.box = switch_of(0, 0, 50.5 * MB);
	storage(flow, 30, &lot);
	sim.until = 0.1;
	for (size_t e = 0; e < 2; e++) {
		struct sim_outcome out;

		simulate(engines[e], &sim, &out);
		near(out.first_drop, 8.1e-3, 0.5e-3);
		near((out.dropped + out.peak) / out.offered, 1 - 400.0 / 450,
		     0.012); /* it fills once, then loses 11.1 % */
	}
}

/* What is left when the next burst comes adds to it: Q - C * gap. */
static void test_residue(void **state)
{
	struct sim_flow flow = flow_of(0, 30, 0);
	const struct sim sim = { .box = switch_of(0, 0, INFINITY),
				 .queue = &port,
				 .queues = 1,
				 .flow = &flow,
				 .flows = 1,
				 .until = INFINITY };
	const double length = 30 * KIB64 / flow.rate, gap = 100 * US;

	(void)state;
	flow.senders = N;
	flow.period = length + gap;
	flow.bursts = 2;
	for (size_t e = 0; e < 2; e++) {
		struct sim_outcome out;

		simulate(engines[e], &sim, &out);
		near(out.peak, 2 * 14 * 30 * KIB64 - port.drain * gap, PACKET + 1);
	}
}

/* Pausing in time loses nothing; the queue goes beyond its threshold by what comes until then, which is the headroom. */
static void test_pause(void **state)
{
	struct sim_flow flow = flow_of(0, 300, 0);
	struct sim sim = { .box = switch_of(0, 0, 20 * MB),
			   .queue = &port,
			   .queues = 1,
			   .flow = &flow,
			   .flows = 1,
			   .until = INFINITY };
	const double net = 14 * 400 * GBIT, delay = 3 * US;

	(void)state;
	flow.senders = N;
	sim.box.xoff = 10 * MB;
	sim.box.xon = 8 * MB;
	sim.box.delay = delay;
	for (size_t e = 0; e < 2; e++) {
		struct sim_outcome out;

		simulate(engines[e], &sim, &out);
		assert_true(out.dropped == 0);
		near(out.peak, 10 * MB + net * delay, N * PACKET + 0.05 * MB);
		near(out.offered, N * 300 * KIB64, 1);
		near(out.empty, N * 300 * KIB64 / port.drain, 1 * US); /* the port never idles */
		assert_true(out.paused > 0);
	}
}

static void test_nonsense_is_refused(void **state)
{
	struct sim_flow flow = flow_of(0, 1, 0);
	struct sim sim = {
		.box = switch_of(0, 0, 1), .queue = &port, .queues = 1, .flow = &flow, .flows = 1, .until = 1
	};
	struct error err = { 0 };

	(void)state;
	assert_int_equal(sim_check(&sim, &err), 0);
	flow.queue = 1;
	assert_true(sim_check(&sim, &err) < 0);
	flow = flow_of(0, 1, 0);
	flow.bursts = 2;
	assert_true(sim_check(&sim, &err) < 0);
	flow = flow_of(0, 0, 0);
	assert_true(sim_check(&sim, &err) < 0);
	flow = flow_of(0, 1, 0);
	sim.box = switch_of(0, 1, 0);
	assert_true(sim_check(&sim, &err) < 0);
	sim.box = switch_of(0, 0, 1);
	sim.box.xoff = sim.box.xon = 1;
	assert_true(sim_check(&sim, &err) < 0);
}

/* Tells the rate; what it must reach is shown where no other work runs. */
static void test_speed(void **state)
{
	struct sim_flow flow[N];
	const struct sim sim = { .box = switch_of(101 * MB, 1, 0),
				 .queue = &port,
				 .queues = 1,
				 .flow = flow,
				 .flows = N,
				 .until = INFINITY };
	struct error err = { 0 };
	struct sim_outcome out;
	uint64_t work = 0;
	clock_t spent;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		flow[i] = flow_of(0, 300, i * US);
		flow[i].period = 2e-3;
		flow[i].bursts = 10;
	}
	spent = clock();
	assert_int_equal(sim_packets(&sim, &out, &work, &err), 0);
	spent = clock() - spent;
	assert_int_equal(work, N * 300 * 10 * 16);
	printf("# %.3g packets/s of processor time\n", (double)work * CLOCKS_PER_SEC / (double)(spent + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_hot_queue),
		cmocka_unit_test(test_closed_form),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_two_hot_queues),
		cmocka_unit_test(test_second_queue_later),
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_residue),
		cmocka_unit_test(test_pause),

		cmocka_unit_test(test_nonsense_is_refused),
		cmocka_unit_test(test_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
