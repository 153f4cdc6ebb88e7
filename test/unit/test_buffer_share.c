/* Whether queues share a buffer, and by which alpha: whole searches against the simulated switch, alone and beside a second incast. */
#include "sim_port.h"

#include "model/share.h"

#include <stdlib.h>

#define SENDERS 4
#define BURSTS  3
#define FRAME   4096.0
#define POOL    (4 * MB)
#define SKEW    (2 * US) /* 0.1 MB */

/* A burst of each sender of some queues through the switch: what was lost of the first and the last queue. */
struct strike {
	engine *run;
	struct sim_switch box;
	uint32_t queues;
	double skew; /* of the starts of all */
};

static void strike(const struct strike *as, double messages, struct lot *lot, struct arrival *ret, double *lost)
{
	const struct sim_queue both[] = { port, port };
	struct sim_flow flow[2 * SENDERS];
	struct sim_outcome outcome[2];
	const struct sim sim = { .box = as->box,
				 .queue = both,
				 .flow = flow,
				 .queues = as->queues,
				 .flows = SENDERS * as->queues,
				 .until = INFINITY };

	for (uint32_t i = 0; i < sim.flows; i++) {
		flow[i] = flow_of(i / SENDERS, 0, as->skew * lot_uniform(lot));
		flow[i].bytes = messages * FRAME;
		if (i < SENDERS)
			ret[i] = (struct arrival){ flow[i].start, flow[i].start + flow[i].bytes / flow[i].rate,
						   flow[i].bytes };
	}
	simulate(as->run, &sim, outcome);
	lost[0] += outcome[0].dropped / FRAME;
	lost[1] += outcome[as->queues - 1].dropped / FRAME;
}

static struct knee_point measure(const struct strike *as, uint64_t messages, struct lot *lot)
{
	struct knee_point point = { .messages = messages,
				    .sent = BURSTS * SENDERS * messages,
				    .count = BURSTS * SENDERS,
				    .arrival = calloc(BURSTS * SENDERS, sizeof(*point.arrival)) };
	double lost[2] = { 0 };

	assert_non_null(point.arrival);
	for (int i = 0; i < BURSTS; i++) {
		strike(as, (double)messages, lot, point.arrival + i * SENDERS, lost);
		for (int k = 0; k < SENDERS; k++) { /* the buffer is empty before the next */
			point.arrival[i * SENDERS + k].start += i;
			point.arrival[i * SENDERS + k].end += i;
		}
	}
	point.lost = (uint64_t)lost[0];
	point.calm = !knee_tells((uint64_t)lost[1], point.sent);
	return point;
}

static void find(const struct strike *as, const struct knee *alone, struct knee *ret)
{
	uint64_t size[KNEE_SIZES] = { 16, 32, 64, 128, 256, 512, 1024, 2048, 4096 };
	unsigned count = 9;
	struct lot lot;

	*ret = (struct knee){
		.frame = FRAME, .payload = FRAME, .drain = 400 * GBIT, .connections = SENDERS, .workers = 1
	};
	lot_init(&lot, 5, as->queues);
	if (alone)
		count = knee_beside(ret, alone, UINT64_MAX, size);
	while (count) {
		for (unsigned i = 0; i < count; i++) {
			const struct knee_point point = measure(as, size[i], &lot);

			assert_true(i == 0 || size[i] > size[i - 1]);
			assert_int_equal(knee_add(ret, &point, NULL), 0);
		}
		assert_int_equal(knee_end(ret, NULL), 0);
		count = knee_next(ret, UINT64_MAX, size);
	}
}

static void search(struct sim_switch box, double skew, engine *run, struct knees *ret)
{
	struct strike as = { run, box, 1, skew };

	find(&as, NULL, &ret->one);
	as.queues = 2;
	find(&as, &ret->one, &ret->two);
	assert_in_range(ret->one.rounds, 1, KNEE_ROUNDS);
	assert_in_range(ret->two.rounds, 2, KNEE_ROUNDS);
	share_infer(&ret->one.limit, &ret->two.limit, &ret->share);
	knee_release(&ret->one);
	knee_release(&ret->two);
}

static void within(const struct infer_range *is, double want, double share)
{
	near(is->median, want, share * want);
	assert_true(is->low <= is->median && is->median <= is->high);
}

/* Pool and alpha come back, with starts at one instant and with starts that differ. An error of a limit counts up to elevenfold in the pool. */
static void test_dynamic(void **state)
{
	const double alphas[] = { 0.25, 1, 4 };

	(void)state;
	for (int i = 0; i < 12; i++) {
		const double alpha = alphas[i % 3];
		struct knees knees;

		search(switch_of(POOL, alpha, INFINITY), i < 6 ? 0 : SKEW, engines[i / 3 % 2], &knees);
		assert_int_equal(knees.share.kind, SHARE_DYNAMIC);
		within(&knees.share.pool, POOL, 0.04);
		within(&knees.share.alpha, alpha, 0.05);
		near(knees.share.ratio.median, (1 + 2 * alpha) / (1 + alpha), 0.01);
	}
}

static void test_static(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct knees knees;

		search(switch_of(0, 0, MB), i < 2 ? 0 : SKEW, engines[i % 2], &knees);
		assert_int_equal(knees.share.kind, SHARE_STATIC);
		near(knees.share.ratio.median, 1, 0.01);
		assert_true(isnan(knees.share.pool.median) && isnan(knees.share.alpha.high));
	}
}

static struct infer_range about(double median, double parts)
{
	return (struct infer_range){ median, median * (1 - parts), median * (1 + parts) };
}

static void test_what_cannot_be_told(void **state)
{
	const struct infer_range one = about(3, 0.01), none = { (double)NAN, (double)NAN, (double)NAN };
	const struct infer_range few = { 2, (double)NAN, (double)NAN },
				 cases[] = { none, few, about(2.9, 0.05), about(1.3, 0.01), about(4, 0.01) };
	struct share share;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		share_infer(&one, &cases[i], &share);
		assert_int_equal(share.kind, SHARE_UNCLEAR);
		assert_non_null(share.why);
		assert_true(isnan(share.pool.median) && isnan(share.alpha.median));
	}
}

/* Both intervals' ends: of alpha 4, ratio 9 / 5, the pool is 15 / 4 of one's limit of 3. */
static void test_interval(void **state)
{
	const struct infer_range one = about(3, 0.01), two = about(3 / 1.8, 0.01), wide = about(3 / 1.95, 0.05);
	struct share share;

	(void)state;
	share_infer(&one, &two, &share);
	assert_int_equal(share.kind, SHARE_DYNAMIC);
	near(share.alpha.median, 4, 1e-9);
	near(share.pool.median, 3.75, 1e-9);
	near(share.alpha.low, (1.8 * 0.99 / 1.01 - 1) / (2 - 1.8 * 0.99 / 1.01), 1e-9);
	near(share.alpha.high, (1.8 * 1.01 / 0.99 - 1) / (2 - 1.8 * 1.01 / 0.99), 1e-9);
	near(share.pool.low, 1 / (0.6 / 0.99 - 1 / 3.03), 1e-9);
	near(share.pool.high, 1 / (0.6 / 1.01 - 1 / 2.97), 1e-9);
	share_infer(&one, &wide, &share); /* half cannot be excluded */
	assert_int_equal(share.kind, SHARE_DYNAMIC);
	assert_true(isinf(share.alpha.high) && isfinite(share.alpha.low) && isfinite(share.pool.low));
	near(share.pool.low, one.low, 1e-9); /* no pool is less than one queue held */
}

/* By chance the second queue holds less than half: alpha has no bounds, and the pool is what the first holds. */
static void test_less_than_half(void **state)
{
	const struct infer_range one = about(3, 0.01), two = about(3 / 2.02, 0.02);
	struct share share;

	(void)state;
	share_infer(&one, &two, &share);
	assert_int_equal(share.kind, SHARE_DYNAMIC);
	assert_true(isinf(share.alpha.median));
	near(share.pool.median, 3, 1e-9);
	near(share.pool.low, one.low, 1e-9);
	assert_true(share.pool.high >= one.high);
}

/* Bursts that their completions show shorter than the link's time: the second search counts as the first did, though its own sizes say nothing. */
static void test_one_way_of_counting(void **state)
{
	struct knee alone = { .slow = true, .messages.median = 100 }, beside = { .workers = 1, .drain = 1, .frame = 1 };
	uint64_t size[KNEE_SIZES];

	(void)state;
	for (int i = 0; i < 2; i++, alone.slow = false) {
		assert_in_range(knee_beside(&beside, &alone, UINT64_MAX, size), 2, KNEE_SIZES);
		assert_int_equal(knee_end(&beside, NULL), 0);
		assert_int_equal(beside.slow, alone.slow);
		assert_int_equal(knee_next(&beside, UINT64_MAX, size), 0);
	}
	knee_release(&beside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_what_cannot_be_told),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_less_than_half),
		cmocka_unit_test(test_one_way_of_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
