/* Drives the socket driver's two ends over TCP: byte-exact streams, sleeping, strangers, deadlines, refusals. */
#include "sock_pair.h"

#include "base/net.h"

static void fill(struct side *s, size_t bytes)
{
	uint8_t *ring = driver_sock.tx_slot(s->ep[0]);

	for (size_t i = 0; i < bytes; i++)
		ring[i] = (uint8_t)(i * 131 + i / 251);
}

/* Both rings have equally many slots: whatever was cut and joined on the way, they hold the same in the end. */
static void check_stream(uint32_t size, uint64_t sock_buf, uint64_t count)
{
	struct pair t;
	size_t ring;

	pair_init(&t, TRANSPORT_TCP, size, 7);
	t.spec.sock_buf = sock_buf;
	pair_open(&t);
	ring = (size_t)t.slots * size;
	fill(&t.active, ring);
	assert_int_equal(post_all(&t, count), count);
	pump_until(&t, count);
	assert_int_equal(t.active.sent, count);
	assert_memory_equal(t.active.mem.data, t.passive.mem.data + ring, ring);
	assert_ptr_equal(driver_sock.rx_slot(t.passive.ep[0]), t.passive.mem.data + ring + count % t.slots * size);
	pair_close(&t);
}

static void tcp_keeps_every_byte_and_boundary(void **state)
{
	(void)state;
	check_stream(1, SPEC_AUTO, 1000);
	check_stream(3, SPEC_AUTO, 1000);
	check_stream(1000, SPEC_AUTO, 2000);
	check_stream(1000, 4608, 200);
	check_stream(70001, 4608, 20);
	check_stream((1u << 20) + 1, SPEC_AUTO, 30);
}

static void ipv6_is_carried_too(void **state)
{
	const struct sockaddr_in6 loopback = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	const int fd = socket(AF_INET6, SOCK_STREAM, 0);
	const bool has = fd >= 0 && bind(fd, (const struct sockaddr *)&loopback, sizeof(loopback)) == 0;
	struct pair t;

	(void)state;
	if (fd >= 0)
		close(fd);
	if (!has)
		skip(); /* this host has no IPv6 */
	for (uint32_t transport = TRANSPORT_TCP; transport <= TRANSPORT_UDP; transport++) {
		pair_init(&t, transport, 100, 4);
		memcpy(&t.local, &loopback, sizeof(loopback));
		pair_open(&t);
		assert_int_equal(post_all(&t, 10), 10);
		pump_until(&t, 10);
		pair_close(&t);
	}
}

static void zerocopy_completes_when_the_kernel_says(void **state)
{
	struct pair t;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 20000, 4);
	t.spec.zerocopy = CHOICE_ON;
	pair_open(&t);
	assert_int_equal(driver_sock.post(t.active.ep[0], 4, 0), 4);
	pump_until(&t, 4);
	for (int64_t limit = clock_now(&t.clock) + LONG_NS; t.active.sent < 4 && clock_now(&t.clock) < limit;)
		assert_true(pump(&t.active) >= 0);
	assert_int_equal(t.active.sent, 4);
	pair_close(&t);
}

static void many_endpoints_are_told_apart(void **state)
{
	struct done done[EPS];
	unsigned got[EPS] = { 0 };
	struct pair t;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 10, 8);
	t.spec.qps = EPS;
	pair_open(&t);
	for (unsigned i = 0; i < EPS; i++)
		assert_int_equal(driver_sock.post(t.active.ep[i], i + 1, 0), i + 1);
	for (unsigned total = 0; total < EPS * (EPS + 1) / 2;) {
		int n;

		assert_int_equal(driver_sock.wait(t.passive.port, LONG_NS), 0);
		n = driver_sock.poll(t.passive.port, done, 3);
		assert_true(n > 0);
		for (int i = 0; i < n; i++) {
			got[done[i].ep->index] += done[i].count;
			total += done[i].count;
		}
	}
	for (unsigned i = 0; i < EPS; i++)
		assert_int_equal(got[i], i + 1);
	pair_close(&t);
}

static void sleeping_keeps_what_it_received(void **state)
{
	struct pair t;
	int64_t before;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 64, 4);
	t.spec.events = CHOICE_ON;
	pair_open(&t);
	before = clock_now(&t.clock);
	assert_int_equal(driver_sock.wait(t.passive.port, SHORT_NS), 0);
	assert_true(clock_now(&t.clock) - before < LONG_NS);
	assert_int_equal(pump(&t.passive), 0);
	assert_int_equal(driver_sock.post(t.active.ep[0], 3, 0), 3);
	assert_int_equal(driver_sock.wait(t.passive.port, LONG_NS), 0);
	assert_int_equal(pump(&t.passive), 1);
	assert_int_equal(t.passive.received, 3);
	pair_close(&t);
}

static void a_closed_connection_is_named(void **state)
{
	struct pair t;
	int rc = 0;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 64, 4);
	pair_open(&t);
	side_close(&t.active);
	for (int64_t limit = clock_now(&t.clock) + LONG_NS; rc == 0 && clock_now(&t.clock) < limit;)
		rc = pump(&t.passive);
	assert_int_equal(rc, -ECONNRESET);
	assert_non_null(strstr(t.passive.port->err.text, "the peer closed data connection 0 (127.0.0.1 port "));
	side_close(&t.passive);
}

static void strangers_are_sent_away(void **state)
{
	const struct timeval patience = { .tv_sec = 5 };
	struct sockaddr_storage to;
	struct pair t;
	int stranger, silent;
	char byte;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 64, 4);
	side_open(&t, &t.active);
	side_open(&t, &t.passive);
	to = address_of(t.passive.ep[0]);
	stranger = socket(AF_INET, SOCK_STREAM, 0);
	silent = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(stranger, (struct sockaddr *)&to, net_len(&to)), 0);
	assert_int_equal(connect(silent, (struct sockaddr *)&to, net_len(&to)), 0);
	assert_int_equal(send(stranger, "not a token of ours at all", 26, MSG_NOSIGNAL), 26);
	connect_to(&t, &t.active, &t.passive);
	connect_to(&t, &t.passive, &t.active);
	setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_true(recv(stranger, &byte, 1, 0) <= 0 && errno != EAGAIN);
	prepare(&t, &t.active, WORK_TX);
	prepare(&t, &t.passive, WORK_RX);
	assert_int_equal(driver_sock.post(t.active.ep[0], 1, 0), 1);
	pump_until(&t, 1);
	close(stranger);
	close(silent);
	pair_close(&t);
}

static void a_missing_connection_ends_at_the_deadline(void **state)
{
	struct error err = { 0 };
	struct buf blob = BUF_INIT;
	struct cursor cursor;
	struct pair t;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 64, 4);
	side_open(&t, &t.active);
	side_open(&t, &t.passive);
	assert_ok(driver_sock.ep_addr(t.active.ep[0], &blob, &err), &err);
	cursor_init(&cursor, blob.data, blob.len);
	assert_int_equal(driver_sock.ep_connect(t.passive.ep[0], &cursor, clock_now(&t.clock) + SHORT_NS, &err),
			 -ETIMEDOUT);
	assert_non_null(strstr(err.text, "data connection 0 did not arrive at 127.0.0.1 port "));
	buf_release(&blob);
	pair_close(&t);
}

/* --- refusals --- */

static void refused_open(struct pair *t, int code, const char *words)
{
	const struct port_conf conf = {
		.spec = &t->spec, .clock = &t->clock, .workers = 1, .local = &t->local, .remote = &t->local
	};
	struct port *port = NULL;
	struct error err = { 0 };

	assert_int_equal(driver_sock.open(&conf, &port, &err), code);
	assert_null(port);
	assert_non_null(strstr(err.text, words));
}

static void unknown_interfaces_are_refused(void **state)
{
	struct pair t;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 64, 4);
	strcpy(t.spec.device, "nosuch0");
	refused_open(&t, -ENODEV, "'nosuch0'");
	assert_false(driver_sock.has_device("nosuch0"));
	assert_true(driver_sock.has_device("lo"));
	assert_true(driver_sock.has_device(""));
}

static void a_taken_port_is_named(void **state)
{
	const struct ep_conf ep = {
		.tx_slots = 1, .rx_slots = 1, .stride = 64, .mem = &(struct mem){ .data = (uint8_t[128]){ 0 } }
	};
	struct error err = { 0 };
	struct sockaddr_storage taken;
	struct ep *second = NULL;
	struct pair t, u;

	(void)state;
	pair_init(&t, TRANSPORT_TCP, 64, 4);
	side_open(&t, &t.passive);
	taken = address_of(t.passive.ep[0]);
	pair_init(&u, TRANSPORT_TCP, 64, 4);
	u.spec.data_port = ntohs(((struct sockaddr_in *)&taken)->sin_port);
	assert_ok(driver_sock.open(&(struct port_conf){ .spec = &u.spec, .clock = &u.clock, .local = &u.local },
				   &u.passive.port, &err),
		  &err);
	assert_int_equal(driver_sock.ep_open(u.passive.port, &ep, &second, &err), -EADDRINUSE);
	assert_null(second);
	assert_non_null(strstr(err.text, "--data_port"));
	side_close(&u.passive);
	side_close(&t.passive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_keeps_every_byte_and_boundary),
		cmocka_unit_test(ipv6_is_carried_too),
		cmocka_unit_test(zerocopy_completes_when_the_kernel_says),
		cmocka_unit_test(many_endpoints_are_told_apart),
		cmocka_unit_test(sleeping_keeps_what_it_received),
		cmocka_unit_test(a_closed_connection_is_named),
		cmocka_unit_test(strangers_are_sent_away),
		cmocka_unit_test(a_missing_connection_ends_at_the_deadline),
		cmocka_unit_test(unknown_interfaces_are_refused),
		cmocka_unit_test(a_taken_port_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
