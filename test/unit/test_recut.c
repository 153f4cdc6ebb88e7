/* A second test on the same sockets: slots of another size, counters from 0, and no message half through in between. */
#include "sock_pair.h"

/* Cuts both sides' rings for messages of another size; the region stays. */
static void recut(struct pair *t, uint32_t size)
{
	struct side *sides[] = { &t->active, &t->passive };

	t->slots = t->slots * (uint32_t)t->spec.size / size;
	t->spec.size = size;
	t->spec.post_batch = t->slots;
	for (unsigned i = 0; i < 2; i++) {
		const struct ep_conf conf = { .mem = &sides[i]->mem,
					      .rx_offset = sides[i]->mem.size / 2,
					      .tx_slots = t->slots,
					      .rx_slots = t->slots,
					      .stride = size };
		struct error err = { 0 };

		assert_ok(driver_sock.ep_cut(sides[i]->ep[0], &conf, &err), &err);
		sides[i]->sent = sides[i]->received = 0;
	}
	prepare(t, &t->active, WORK_TX);
	prepare(t, &t->passive, WORK_RX);
}

static void carry(struct pair *t, uint64_t messages)
{
	const int64_t limit = clock_now(&t->clock) + LONG_NS;
	uint64_t posted = 0;

	while (t->passive.received < messages && clock_now(&t->clock) < limit) {
		if (posted < messages) {
			const int n = driver_sock.post(t->active.ep[0], 1, 0);

			assert_true(n >= 0);
			posted += (uint64_t)n;
		}
		assert_true(pump(&t->active) >= 0 && pump(&t->passive) >= 0);
	}
	assert_int_equal(t->active.sent, messages);
	assert_int_equal(t->passive.received, messages);
}

static void sizes_change_on_the_same_socket(void **state)
{
	static const uint32_t sizes[] = { 512, 4096, 1, 64, 2048 };
	const enum transport transports[] = { TRANSPORT_TCP, TRANSPORT_UDP };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct counters counters;
		struct pair t;

		pair_init(&t, transports[i], 4096, 4);
		pair_open(&t);
		carry(&t, 3);
		for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			recut(&t, sizes[k]);
			carry(&t, 5 + k);
			driver_sock.counters(t.passive.ep[0], &counters);
			assert_int_equal(counters.lost + counters.duplicated + counters.reordered + counters.bad, 0);
		}
		pair_close(&t);
	}
}

/* A message larger than the sockets hold goes in part; finish() brings it to its end, and only then the size may change. */
static void a_message_that_is_half_through_is_finished(void **state)
{
	const uint32_t size = 64u << 20;
	struct error err = { 0 };
	struct ep_conf conf = { 0 };
	struct pair t;
	int rc, turns = 0;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, size, 1);
	pair_open(&t);
	assert_int_equal(driver_sock.finish(t.active.ep[0]), 0);
	assert_int_equal(driver_sock.post(t.active.ep[0], 1, 0), 0);
	assert_int_equal(driver_sock.ep_cut(t.active.ep[0], &conf, &err), -EBUSY);
	while ((rc = driver_sock.finish(t.active.ep[0])) == -EAGAIN) {
		assert_true(pump(&t.passive) >= 0);
		turns++;
	}
	assert_int_equal(rc, 1);
	assert_true(turns > 0);
	assert_int_equal(driver_sock.finish(t.active.ep[0]), 0);
	while (!t.passive.received)
		assert_true(pump(&t.passive) >= 0);
	pump(&t.active);
	assert_int_equal(t.active.sent, 1);
	recut(&t, 1024);
	carry(&t, 7);
	pair_close(&t);
}

static void the_most_of_all_tests(void **state)
{
	const struct spec tests[] = { { .size = 8, .tx_depth = 128 }, { .size = 4096, .tx_depth = 2 } };
	struct port_conf conf = { .spec = &tests[0], .tests = tests, .test_count = 2 };

	(void)state;
	assert_int_equal(PORT_MOST(&conf, size), 4096);
	assert_int_equal(PORT_MOST(&conf, tx_depth), 128);
	assert_ptr_equal(port_test(&conf, 1), &tests[1]);
	assert_null(port_test(&conf, 2));
	conf.tests = NULL;
	assert_int_equal(PORT_MOST(&conf, size), 8);
	assert_null(port_test(&conf, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_change_on_the_same_socket),
		cmocka_unit_test(a_message_that_is_half_through_is_finished),
		cmocka_unit_test(the_most_of_all_tests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
