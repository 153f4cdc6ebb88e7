/* The null device's wire: records cross it whole, a stranger is not taken for the peer, lies are refused. */
#include "driver/null.h"

#include "base/buf.h"
#include "base/clock.h"
#include "mem/mem.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct clock null_clock;
static const struct sockaddr_storage loopback = { .ss_family = AF_INET };

static int64_t in_seconds(double seconds)
{
	return clock_now(&null_clock) + (int64_t)(seconds * 1e9);
}

static struct sockaddr_storage here(void)
{
	struct sockaddr_storage address = loopback;

	((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* Both ends of a wire. */
static void wire_pair(struct null_wire **active, struct null_wire **passive)
{
	const struct sockaddr_storage address = here();
	const struct port_conf conf = { .clock = &null_clock, .local = &address, .remote = &address };
	struct buf at = BUF_INIT;
	struct error err = { 0 };
	struct cursor c;

	if (null_wire_listen(&conf, passive, &err))
		fail_msg("%s", err.text);
	null_wire_address(*passive, &at);
	cursor_init(&c, at.data, at.len);
	if (null_wire_connect(&conf, &c, in_seconds(5), active, &err) ||
	    null_wire_accept(*passive, in_seconds(5), &err))
		fail_msg("%s", err.text);
	buf_release(&at);
}

static struct null_record record(unsigned number)
{
	return (struct null_record){ .ep = number, .count = number * 3, .first = UINT64_MAX - number };
}

/* Many more than the socket holds, so that they are cut anywhere. */
static void records_come_out_as_they_went_in(void **state)
{
	enum { COUNT = 400000 };
	struct null_record in[NULL_RECORDS], out[NULL_RECORDS];
	struct null_wire *active, *passive;
	struct error err = { 0 };
	unsigned sent = 0, got = 0;
	const int64_t limit = in_seconds(20);

	(void)state;
	wire_pair(&active, &passive);
	while (got < COUNT) {
		int n = 1;

		for (unsigned turn = 0; n > 0 && sent < COUNT; turn++) {
			unsigned count = 1 + (sent + turn) % NULL_RECORDS;

			count = count < COUNT - sent ? count : COUNT - sent;
			for (unsigned i = 0; i < count; i++)
				in[i] = record(sent + i);
			n = null_wire_send(active, in, (int)count, &err);
			assert_true(n == 0 || n == (int)count);
			sent += (unsigned)n;
		}
		assert_true(null_wire_flush(active) >= 0);
		n = null_wire_receive(passive, out, 1 + (int)(got % NULL_RECORDS), &err);
		assert_true(n >= 0 && n <= NULL_RECORDS);
		for (int i = 0; i < n; i++, got++) {
			const struct null_record expected = record(got);

			assert_memory_equal(&out[i], &expected, sizeof(expected));
		}
		assert_true(clock_now(&null_clock) < limit);
	}
	assert_int_equal(null_wire_receive(passive, out, NULL_RECORDS, &err), 0);
	null_wire_close(active);
	assert_int_equal(null_wire_receive(passive, out, NULL_RECORDS, &err), -ECONNRESET);
	null_wire_close(passive);
	null_wire_close(NULL);
}

static int stranger(uint16_t port, const void *words, size_t len)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, words, len, MSG_NOSIGNAL), len);
	return fd;
}

static void a_stranger_is_not_the_peer(void **state)
{
	const struct sockaddr_storage address = here();
	const struct port_conf conf = { .clock = &null_clock, .local = &address, .remote = &address };
	struct null_wire *active, *passive;
	struct null_record back, one = record(7);
	struct buf at = BUF_INIT;
	struct error err = { 0 };
	struct cursor c;
	int fd[3];
	uint16_t port;

	(void)state;
	assert_int_equal(null_wire_listen(&conf, &passive, &err), 0);
	null_wire_address(passive, &at);
	cursor_init(&c, at.data, at.len);
	port = cursor_u16(&c);
	fd[0] = stranger(port, "GET / HTTP/1.1", 14);
	fd[1] = stranger(port, "", 0);
	fd[2] = stranger(port, "1234", 4);
	shutdown(fd[2], SHUT_WR);
	cursor_init(&c, at.data, at.len);
	assert_int_equal(null_wire_connect(&conf, &c, in_seconds(5), &active, &err), 0);
	assert_int_equal(null_wire_accept(passive, in_seconds(5), &err), 0);
	assert_int_equal(null_wire_send(active, &one, 1, &err), 1);
	while (null_wire_receive(passive, &back, 1, &err) == 0)
		;
	assert_memory_equal(&back, &one, sizeof(one));
	null_wire_close(active);
	error_clear(&err);
	/* Alone, they are nobody. */
	close(fd[0]);
	fd[0] = stranger(port, "GET / HTTP/1.1", 14);
	assert_int_equal(null_wire_accept(passive, in_seconds(0.2), &err), -ETIMEDOUT);
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
	null_wire_close(passive);
	buf_release(&at);
}

/* A passive port whose wire we hold the other end of. */
struct passive {
	struct sockaddr_storage address;
	struct spec spec;
	struct port_conf conf;
	struct mem mem;
	uint8_t data[256];
	struct port *port;
	struct ep *ep[2];
	struct null_wire *wire;
};

static void passive_open(struct passive *p)
{
	struct buf at = BUF_INIT;
	struct error err = { 0 };
	struct cursor c;

	*p = (struct passive){ .address = here(),
			       .spec = { .size = 64, .qps = 2, .verb = VERB_SEND, .metric = METRIC_BW } };
	p->conf = (struct port_conf){
		.spec = &p->spec, .clock = &null_clock, .workers = 1, .local = &p->address, .remote = &p->address
	};
	p->mem = (struct mem){ .data = p->data, .size = sizeof(p->data) };
	assert_int_equal(driver_null.open(&p->conf, &p->port, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		const struct ep_conf conf = { .index = i, .mem = &p->mem };

		assert_int_equal(driver_null.ep_open(p->port, &conf, &p->ep[i], &err), 0);
	}
	assert_int_equal(driver_null.ep_addr(p->ep[0], &at, &err), 0);
	cursor_init(&c, at.data, at.len);
	assert_int_equal(null_wire_connect(&p->conf, &c, in_seconds(5), &p->wire, &err), 0);
	assert_int_equal(driver_null.ep_connect(p->ep[0], NULL, in_seconds(5), &err), 0);
	buf_release(&at);
}

static void passive_close(struct passive *p)
{
	for (unsigned i = 0; i < 2; i++)
		driver_null.ep_close(p->ep[i]);
	driver_null.close(p->port);
	null_wire_close(p->wire);
}

/* What the port makes of these records: messages that it counts, or a negative errno. */
static int tell(struct passive *p, const struct null_record *records, int count)
{
	const int64_t limit = in_seconds(5);
	struct done done[NULL_RECORDS];
	struct error err = { 0 };
	int n;

	assert_int_equal(null_wire_send(p->wire, records, count, &err), count);
	while ((n = driver_null.poll(p->port, done, NULL_RECORDS)) == 0)
		assert_true(clock_now(&null_clock) < limit);
	return n < 0 ? n : (int)done[n - 1].count;
}

static void lies_are_refused(void **state)
{
	static const struct null_record lies[] = {
		{ 2, 1, 0 }, { UINT32_MAX, 1, 0 }, { 0, 0, 5 }, { 0, NULL_RECORD_MAX + 1, 5 },
		{ 0, 1, 4 }, { 0, UINT32_MAX, 5 }, { 0, 1, 6 }, { 0, 1, UINT64_MAX },
		{ 1, 1, 5 },
	};
	const struct null_record first = { 0, 5, 0 }, most = { 1, NULL_RECORD_MAX, 0 };
	struct passive p;

	(void)state;
	passive_open(&p);
	assert_int_equal(tell(&p, &first, 1), 5);
	assert_int_equal(tell(&p, &most, 1), NULL_RECORD_MAX);
	passive_close(&p);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		passive_open(&p);
		assert_int_equal(tell(&p, &first, 1), 5);
		if (tell(&p, &lies[i], 1) != -EPROTO)
			fail_msg("lie %zu was believed", i);
		assert_non_null(strstr(p.port->err.text, "the null device's wire "));
		passive_close(&p);
	}
}

static void instants_are_fine_and_last(void **state)
{
	const double step = 64 * 8 / 400.0 * (1 << FRACTION_BITS); /* of 64 bytes at 400 Gbit/s */
	const double off = ((double)(uint64_t)(step + 0.5) - step) / step;

	(void)state;
	assert_true(off < 100e-6 && off > -100e-6);
	assert_true((double)(UINT64_MAX >> FRACTION_BITS) > 2 * 1e6 * 1e9); /* the longest warm-up and window, ns */
}

static int set_up(void **state)
{
	(void)state;
	clock_init(&null_clock, true);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(a_stranger_is_not_the_peer),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(instants_are_fine_and_last),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
