/* Drives the socket driver over UDP: exact counts of what a made-up sender sends, and both ends with and without offload. */
#include "sock_pair.h"

#include "base/net.h"

/* --- UDP: a socket of the test's own plays the sender --- */

static int fake_sender(struct pair *t, uint32_t metric, uint32_t size, struct sockaddr_storage *ret_to)
{
	struct sock_addr addr = { .address = { .ss_family = AF_INET } };
	struct buf blob = BUF_INIT;
	struct error err = { 0 };
	struct cursor cursor;
	socklen_t len = sizeof(addr.address);
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);

	pair_init(t, TRANSPORT_UDP, size, 4);
	t->spec.metric = metric;
	side_open(t, &t->passive);
	assert_int_equal(bind(fd, (struct sockaddr *)&t->local, net_len(&t->local)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr.address, &len), 0);
	sock_addr_pack(&addr, &blob);
	cursor_init(&cursor, blob.data, blob.len);
	assert_ok(driver_sock.ep_connect(t->passive.ep[0], &cursor, clock_now(&t->clock) + LONG_NS, &err), &err);
	buf_release(&blob);
	prepare(t, &t->passive, WORK_RX);
	*ret_to = address_of(t->passive.ep[0]);
	return fd;
}

static void send_number(int fd, const struct sockaddr_storage *to, uint64_t number, size_t size)
{
	uint8_t datagram[64] = { 0 };

	memcpy(datagram, &number, sizeof(number));
	assert_int_equal(sendto(fd, datagram, size, 0, (const struct sockaddr *)to, net_len(to)), size);
}

static void check_counts(uint32_t metric, uint32_t size)
{
	static const uint64_t numbers[] = { 0, 1, 3, 2, 3, 5, 9, 8, 9 };
	struct counters c;
	struct sockaddr_storage to;
	struct caps caps;
	struct pair t;
	const int fd = fake_sender(&t, metric, size, &to);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		send_number(fd, &to, numbers[i], size);
	send_number(fd, &to, 10, size - 1);
	send_number(fd, &to, 10, size + 1);
	send_number(fd, &to, 10, size);
	pump_until(&t, 8); /* 0 1 2 3 5 8 9 10 */
	driver_sock.counters(t.passive.ep[0], &c);
	assert_int_equal(c.lost, 3); /* 4 6 7 */
	assert_int_equal(c.duplicated, 2);
	assert_int_equal(c.reordered, 2);
	assert_int_equal(c.bad, 2);
	driver_sock.caps(t.passive.port, &caps);
	assert_true(caps.counts_loss);
	close(fd);
	side_close(&t.passive);
}

static void udp_counts_exactly(void **state)
{
	(void)state;
	for (uint32_t metric = METRIC_BW; metric <= METRIC_LAT; metric++) {
		check_counts(metric, 8);
		check_counts(metric, 33);
		check_counts(metric, 5); /* four bytes of number */
	}
}

static void tiny_datagrams_have_no_number(void **state)
{
	struct sockaddr_storage to;
	struct counters c;
	struct caps caps;
	struct pair t;
	const int fd = fake_sender(&t, METRIC_BW, 3, &to);

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		send_number(fd, &to, 77, 3);
	pump_until(&t, 5);
	driver_sock.counters(t.passive.ep[0], &c);
	driver_sock.caps(t.passive.port, &caps);
	assert_false(caps.counts_loss);
	assert_int_equal(c.lost + c.duplicated + c.reordered, 0);
	close(fd);
	side_close(&t.passive);
}

static void check_udp(uint32_t gso, uint32_t size, uint64_t count)
{
	struct counters c;
	struct pair t;

	pair_init(&t, TRANSPORT_UDP, size, 150);
	t.spec.metric = METRIC_BW;
	t.spec.gso = gso;
	pair_open(&t);
	post_all(&t, count);
	pump_until(&t, count);
	assert_int_equal(t.active.sent, count);
	driver_sock.counters(t.passive.ep[0], &c);
	assert_int_equal(c.lost + c.duplicated + c.reordered + c.bad, 0);
	pair_close(&t);
}

static void udp_delivers_with_and_without_offload(void **state)
{
	(void)state;
	check_udp(CHOICE_OFF, 64, 1000);
	check_udp(CHOICE_AUTO, 64, 1000);
	check_udp(CHOICE_AUTO, 1, 1000);
	check_udp(CHOICE_AUTO, 1471, 1000);
	check_udp(CHOICE_AUTO, 65507, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(udp_counts_exactly),
		cmocka_unit_test(tiny_datagrams_have_no_number),
		cmocka_unit_test(udp_delivers_with_and_without_offload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
