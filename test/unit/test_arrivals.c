/* What comes of bursts, and of the volley before them, by a clock that the test moves: each message where and when it came. */
#include "burst_bench.h"
#include "engine/arrivals.h"
#include "engine/volley.h"
#include "spec/arrivals.h"
#include "spec/volley.h"

#include "base/buf.h"

#define PERIOD (10 * MS)

/* --- slots --- */

struct receiver {
	struct spec spec;
	struct clock clock;
	struct flow_control control;
	struct worker_result result;
	struct flow flow;
};

/* From instant 0 of the traffic, SECOND, on: 20 bursts, of which the window has all. */
static struct receiver *receiver_new(uint32_t profile)
{
	struct receiver *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->spec = (struct spec){ .burst_profile = profile,
				 .burst_size = profile == BURST_SYNC ? 4 : 0,
				 .burst_pause_ns = PERIOD,
				 .burst_ns = PERIOD / 2,
				 .pause_min_ns = PERIOD / 2,
				 .pause_max_ns = PERIOD / 2,
				 .burst_count = 20,
				 .qps = 1,
				 .workers = 1,
				 .size = 1000 };
	clock_init(&r->clock, true);
	r->control.followed = true;
	r->flow = (struct flow){ .spec = &r->spec,
				 .clock = &r->clock,
				 .control = &r->control,
				 .receives = true,
				 .result = &r->result,
				 .phase = { .start_ns = SECOND,
					    .begin_ns = SECOND,
					    .end_ns = INT64_MAX,
					    .stop_ns = INT64_MAX,
					    .quota = 80,
					    .measure = true } };
	if (profile == BURST_TRAINING) {
		r->flow.phase.quota = 0;
		r->flow.phase.end_ns = r->flow.phase.stop_ns = SECOND + 20 * PERIOD;
	}
	assert_int_equal(arrivals_make(&r->flow), 0);
	if (r->flow.arrivals)
		arrivals_start(&r->flow);
	return r;
}

static void receiver_free(struct receiver *r)
{
	arrivals_free(&r->flow);
	free(r->result.arrivals);
	free(r);
}

static void come(struct receiver *r, uint64_t messages, int64_t at)
{
	fake.now = at - TICK_NS;
	r->flow.received += messages;
	arrivals_take(&r->flow);
}

static void is_record(const struct receiver *r, uint64_t at, uint64_t number, int64_t first, int64_t last,
		      uint64_t messages)
{
	const struct burst_arrival *record = &r->result.arrivals->record[at];

	assert_true(at < r->result.arrivals->kept);
	assert_int_equal(record->number, number);
	assert_int_equal(record->first_ns, first);
	assert_int_equal(record->last_ns, last);
	assert_int_equal(record->messages, messages);
}

/* Slot 3 has nothing, the first of slot 4 comes before its instant as clocks differ, and the last slot's end comes late. */
static void each_belongs_to_its_slot(void **state)
{
	(void)state;
	for (uint32_t profile = BURST_TRAINING; profile <= BURST_SYNC; profile += BURST_SYNC - BURST_TRAINING) {
		struct receiver *r = receiver_new(profile);

		come(r, 3, SECOND + 5 * US);
		come(r, 1, SECOND + 9 * MS);
		come(r, 4, SECOND + 2 * PERIOD + 7 * US);
		come(r, 2, SECOND + 4 * PERIOD - 4 * US);
		come(r, 2, SECOND + 4 * PERIOD + 4 * US);
		come(r, 1, SECOND + 19 * PERIOD + MS);
		come(r, 3, SECOND + 19 * PERIOD + 35 * MS);
		assert_int_equal(r->result.arrivals->kept, 4);
		is_record(r, 0, 0, SECOND + 5 * US, SECOND + 9 * MS, 4);
		is_record(r, 1, 2, SECOND + 2 * PERIOD + 7 * US, SECOND + 2 * PERIOD + 7 * US, 4);
		is_record(r, 2, 4, SECOND + 4 * PERIOD - 4 * US, SECOND + 4 * PERIOD + 4 * US, 4);
		is_record(r, 3, 19, SECOND + 19 * PERIOD + MS, SECOND + 19 * PERIOD + 35 * MS, 4);
		receiver_free(r);
	}
}

/* The own clock has gained 3 ms on rank 0's: slots have moved as far. */
static void slots_move_with_the_clock(void **state)
{
	struct receiver *r = receiver_new(BURST_SYNC);

	(void)state;
	flow_shift_set(&r->control, SECOND, 3 * MS, 0);
	come(r, 4, SECOND + 5 * PERIOD + 2 * MS);
	come(r, 4, SECOND + 5 * PERIOD + 4 * MS);
	is_record(r, 0, 4, SECOND + 5 * PERIOD + 2 * MS, SECOND + 5 * PERIOD + 2 * MS, 4);
	is_record(r, 1, 5, SECOND + 5 * PERIOD + 4 * MS, SECOND + 5 * PERIOD + 4 * MS, 4);
	receiver_free(r);
}

static void only_the_window_counts(void **state)
{
	struct receiver *r = receiver_new(BURST_SYNC);

	(void)state;
	r->flow.phase.begin_ns += 2 * PERIOD;
	r->flow.phase.end_ns = SECOND + 3 * PERIOD;
	for (unsigned i = 0; i < 5; i++)
		come(r, 4, SECOND + i * PERIOD + US);
	assert_int_equal(r->result.arrivals->kept, 1);
	is_record(r, 0, 2, SECOND + 2 * PERIOD + US, SECOND + 2 * PERIOD + US, 4);
	receiver_free(r);
}

static void nothing_is_told_without_common_slots(void **state)
{
	struct receiver *r = receiver_new(BURST_STORAGE);

	(void)state;
	assert_true(!r->flow.arrivals && !r->result.arrivals);
	receiver_free(r);
}

/* --- what they come to --- */

static void add(struct arrival_sum *sum, uint32_t receiver, struct burst_arrivals *arrivals, int64_t offset)
{
	struct worker_result worker = { .arrivals = arrivals };
	const struct rank_result rank = { .workers = 1, .worker = &worker, .clock_offset_ns = offset };

	assert_int_equal(arrival_sum_add(sum, receiver, &rank), 0);
}

/* Two connections of one receiver have a worker each; the third one's tells of no burst. Of slot 7 a message is missing. */
static void workers_make_one_burst(void **state)
{
	const struct spec spec = { .burst_profile = BURST_SYNC, .burst_size = 4, .qps = 1, .workers = 1 };
	struct burst_arrivals *one = burst_arrivals_new(), *two = burst_arrivals_new();
	struct arrival_sum *sum = arrival_sum_new();
	struct arrival_summary summary;
	struct burst_arrival found;

	(void)state;
	assert_true(one && two && sum);
	burst_arrived(one, 6, 1000000, 3);
	burst_arrived(one, 6, 1030000, 3);
	burst_arrived(two, 6, 990000, 5);
	burst_arrived(two, 6, 1010000, 1);
	burst_arrived(one, 7, 2000000, 6);
	burst_arrived(two, 7, 2400000, 5);
	add(sum, 3, one, 90);
	add(sum, 3, two, 90);
	add(sum, 3, NULL, 90);
	arrival_sum_end(sum, &spec, 20, &summary);
	assert_int_equal(summary.receivers, 1);
	assert_int_equal(summary.bursts, 2);
	assert_int_equal(summary.whole, 1);
	assert_int_equal(summary.span.count, 1);
	assert_true(fabs(summary.span.max - 40) < 1e-9 && fabs(summary.slowdown - 2) < 0.1);
	assert_true(arrival_sum_find(sum, 7, &found));
	assert_int_equal(found.first_ns, 2000000 - 90);
	assert_int_equal(found.last_ns, 2400000 - 90);
	assert_int_equal(found.messages, 11);
	assert_false(arrival_sum_find(sum, 8, &found));
	arrival_sum_free(sum);
	free(one);
	free(two);
}

/* There and back, the last ones of more than there is room for; cut short anywhere it is refused. */
static void records_travel(void **state)
{
	struct burst_arrivals *sent = burst_arrivals_new(), *come = NULL;
	struct buf buf = BUF_INIT;
	struct cursor from;

	(void)state;
	assert_non_null(sent);
	for (uint64_t i = 0; i < BURST_KEPT + 10; i++)
		burst_arrived(sent, 2 * i, SECOND + (int64_t)i, i + 1);
	burst_arrivals_pack(sent, &buf);
	cursor_init(&from, buf.data, buf.len);
	assert_int_equal(burst_arrivals_unpack(&come, &from), 0);
	assert_int_equal(from.left, 0);
	assert_memory_equal(sent, come, sizeof(*sent));
	free(come);
	for (size_t cut = 1; cut < buf.len; cut += 997) {
		cursor_init(&from, buf.data, buf.len - cut);
		assert_true(burst_arrivals_unpack(&come, &from) < 0);
	}
	buf_release(&buf);
	free(sent);
}

/* --- volley --- */

/* Each message is posted at its instant, one millisecond behind the other, to one peer alone, behind the volley before it. */
static void a_volley_is_posted_at_its_instants(void **state)
{
	struct bench *b = bench_new(BURST_SYNC);

	(void)state;
	b->spec.burst_pause_ns = MS;
	b->spec.burst_count = 1;
	b->spec.qps = 2;
	bench_start(b);
	b->flow.phase.volley = true;
	b->flow.peers = 2;
	assert_int_equal(volley_make(&b->flow), 0);
	b->flow.volley_peer = b->flow.volley_turn = 1;
	assert_int_equal(volley_run(&b->flow), 0);
	assert_int_equal(trace.messages, RESULT_VOLLEYS);
	for (unsigned i = 0; i < RESULT_VOLLEYS; i++) {
		const int64_t at = b->flow.volley_ns[RESULT_VOLLEYS + i];

		assert_int_equal(b->flow.volley_ns[i], 0);
		assert_in_range(at - b->start - (RESULT_VOLLEYS + i + 1) * MS, 0, 200);
		assert_in_range(at - trace.at[i], 0, 2 * TICK_NS);
	}
	assert_int_equal(b->flow.over, true);
	flow_close(&b->flow);
	bench_free(b);
}

static struct {
	struct flow *flow;
	struct ep ep[4];
	unsigned at;
} air;

static int64_t comes_at(unsigned number, unsigned peer)
{
	return SECOND + number * MS + (peer ? 700 : 300);
}

/* Both peers' messages of an instant, each when it is due; the second queue pair of a peer gets none of the volley's. */
static int poll_air(struct port *port, struct done *done, int max)
{
	const unsigned number = air.at / 2, peer = air.at % 2;

	(void)port;
	assert_true(max > 0);
	if (number == RESULT_VOLLEYS)
		atomic_store(&air.flow->control->command, FLOW_FINISH);
	if (number == RESULT_VOLLEYS)
		return 0;
	fake.now = comes_at(number, peer) - TICK_NS;
	air.at++;
	done[0] = (struct done){ .ep = &air.ep[2 * peer], .count = 1, .kind = DONE_RX };
	return 1;
}

static int take_all(struct ep *ep, unsigned n)
{
	(void)ep;
	return (int)n;
}

static void a_volley_is_stamped_as_it_comes(void **state)
{
	static const struct driver driver = { .poll = poll_air, .post_rx = take_all };
	struct receiver *r = receiver_new(BURST_SYNC);
	struct flow_ep eps[4] = { 0 };
	struct port port = { 0 };

	(void)state;
	air.flow = &r->flow;
	for (unsigned i = 0; i < 4; i++) {
		air.ep[i].index = i;
		eps[i].ep = &air.ep[i];
	}
	r->flow.drv = &driver;
	r->flow.port = &port;
	r->flow.eps = eps;
	r->flow.qps = 4;
	r->flow.peers = 2;
	r->flow.repost_step = 1;
	r->flow.phase = (struct phase){ .start_ns = SECOND, .quota = RESULT_VOLLEYS, .volley = true };
	atomic_store(&r->control.expected, 2 * RESULT_VOLLEYS);
	assert_int_equal(volley_make(&r->flow), 0);
	meter_start(&r->flow);
	assert_int_equal(volley_run(&r->flow), 0);
	for (unsigned i = 0; i < RESULT_VOLLEYS; i++)
		for (unsigned peer = 0; peer < 2; peer++)
			assert_int_equal(r->flow.volley_ns[peer * RESULT_VOLLEYS + i], comes_at(i, peer));
	assert_int_equal(r->flow.received, 2 * RESULT_VOLLEYS);
	volley_free(&r->flow);
	receiver_free(r);
}

/* A connection of which each message was posted so far behind its instant, and took so long, by clocks that are off by that. */
static void fly(struct volley_sum *sum, int64_t late, int64_t path, int64_t off, unsigned lost)
{
	struct worker_result worker[2] = { { .volleys = RESULT_VOLLEYS }, { .volleys = RESULT_VOLLEYS } };
	struct rank_result rank[2] = { { .active = true, .workers = 1, .worker = &worker[0] },
				       { .workers = 1, .worker = &worker[1] } };
	const struct result result = { .ranks = 2, .rank = rank };

	for (unsigned i = 0; i < RESULT_VOLLEYS; i++) {
		const int64_t instant = SECOND + i * MS + late;

		worker[0].volley_ns[i] = instant + off;
		worker[1].volley_ns[i] = instant + path + (i % 3) * 900; /* others were before it */
	}
	if (lost)
		worker[1].volley_ns[RESULT_VOLLEYS - 1] = 0;
	assert_int_equal(volley_sum_add(sum, &result), 0);
}

/*
 * Truth: posts lie 30 us apart, the paths are 2 and 3 us long, the second sender's clock is 5 us fast. The receiver sees
 * the posts and the paths, the senders' clocks say 25 us, and the two differ by clock and path together.
 */
static void one_clock_judges_the_others(void **state)
{
	struct spec spec = { .size = 1000, .link_rate = UINT64_C(10000000000) };
	struct volley_sum *sum = volley_sum_new();
	struct volley_summary summary;

	(void)state;
	assert_non_null(sum);
	fly(sum, 30 * US, 2 * US, 0, 0);
	fly(sum, 0, 3 * US, 5 * US, 0);
	fly(sum, 500 * US, 2 * US, 0, 1); /* not whole: left out */
	volley_sum_end(sum, &spec, &summary);
	assert_int_equal(summary.senders, 2);
	assert_int_equal(summary.arrived.count, RESULT_VOLLEYS);
	assert_true(fabs(summary.arrived.p50 - 29) < 0.5 && fabs(summary.arrived.max - 29) < 1e-9);
	assert_true(fabs(summary.posted.p50 - 25) < 0.5 && fabs(summary.posted.max - 25) < 1e-9);
	assert_true(fabs(summary.apart_us - 4) < 1e-9); /* 2 us, and 3 - 5 us */
	assert_true(fabs(summary.serial_us - 0.8) < 1e-9);
	volley_sum_free(sum);
}

static void one_sender_is_judged_by_nobody(void **state)
{
	struct spec spec = { .size = 1000 };
	struct volley_sum *sum = volley_sum_new();
	struct volley_summary summary;

	(void)state;
	assert_non_null(sum);
	fly(sum, 0, US, 0, 0);
	fly(sum, 0, US, 0, 1);
	volley_sum_end(sum, &spec, &summary);
	assert_int_equal(summary.senders, 1);
	assert_int_equal(summary.arrived.count, 0);
	volley_sum_free(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_belongs_to_its_slot),
		cmocka_unit_test(slots_move_with_the_clock),
		cmocka_unit_test(only_the_window_counts),
		cmocka_unit_test(nothing_is_told_without_common_slots),
		cmocka_unit_test(workers_make_one_burst),
		cmocka_unit_test(records_travel),
		cmocka_unit_test(a_volley_is_posted_at_its_instants),
		cmocka_unit_test(a_volley_is_stamped_as_it_comes),
		cmocka_unit_test(one_clock_judges_the_others),
		cmocka_unit_test(one_sender_is_judged_by_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
