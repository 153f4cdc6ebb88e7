/* What the tests of the socket driver share: both ends of a connection in one process, and pumping between them. */
#ifndef UNIT_SOCK_PAIR_H
#define UNIT_SOCK_PAIR_H

#include "base/buf.h"
#include "base/clock.h"
#include "driver/sock.h"
#include "mem/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EPS      8
#define LONG_NS  2000000000LL
#define SHORT_NS 50000000LL

struct side {
	struct port *port;
	struct ep *ep[EPS];
	struct mem mem;
	uint64_t sent, received;
};

struct pair {
	struct spec spec;
	struct clock clock;
	struct sockaddr_storage local;
	uint32_t slots;
	struct side active, passive;
};

static inline void pair_init(struct pair *t, enum transport transport, uint32_t size, uint32_t slots)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&t->local;

	memset(t, 0, sizeof(*t));
	clock_init(&t->clock, true);
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	t->slots = slots;
	t->spec.transport = transport;
	t->spec.metric = METRIC_LAT; /* receives into the ring, where it can be looked at */
	t->spec.size = size;
	t->spec.qps = 1;
	t->spec.post_batch = slots;
	t->spec.sock_buf = SPEC_AUTO;
}

static inline void assert_ok(int rc, const struct error *err)
{
	if (rc < 0)
		fail_msg("%d: %s", rc, err->text);
}

static inline void side_open(struct pair *t, struct side *s)
{
	const struct port_conf conf = { .spec = &t->spec,
					.clock = &t->clock,
					.workers = 1,
					.active = s == &t->active,
					.local = &t->local,
					.remote = &t->local };
	const size_t ring = t->slots * t->spec.size;
	struct error err = { 0 };

	assert_ok(driver_sock.open(&conf, &s->port, &err), &err);
	s->mem.size = 2 * ring * t->spec.qps;
	s->mem.data = calloc(1, s->mem.size);
	for (uint32_t i = 0; i < t->spec.qps; i++) {
		const struct ep_conf ep = { .index = i,
					    .mem = &s->mem,
					    .tx_offset = 2 * ring * i,
					    .rx_offset = 2 * ring * i + ring,
					    .tx_slots = t->slots,
					    .rx_slots = t->slots,
					    .stride = (uint32_t)t->spec.size };

		assert_ok(driver_sock.ep_open(s->port, &ep, &s->ep[i], &err), &err);
	}
}

static inline void side_close(struct side *s)
{
	for (unsigned i = 0; i < EPS; i++)
		driver_sock.ep_close(s->ep[i]);
	driver_sock.close(s->port);
	free(s->mem.data);
	memset(s, 0, sizeof(*s));
}

static inline void pair_close(struct pair *t)
{
	side_close(&t->active);
	side_close(&t->passive);
}

static inline void connect_to(struct pair *t, struct side *s, struct side *peer)
{
	for (uint32_t i = 0; i < t->spec.qps; i++) {
		struct buf blob = BUF_INIT;
		struct error err = { 0 };
		struct cursor cursor;

		assert_ok(driver_sock.ep_addr(peer->ep[i], &blob, &err), &err);
		assert_true(blob.len <= EP_ADDR_MAX);
		cursor_init(&cursor, blob.data, blob.len);
		assert_ok(driver_sock.ep_connect(s->ep[i], &cursor, clock_now(&t->clock) + LONG_NS, &err), &err);
		buf_release(&blob);
	}
}

static inline void prepare(struct pair *t, struct side *s, enum work_kind kind)
{
	const struct work work = {
		.kind = kind,
		.ops = 1,
		.op = { { .verb = VERB_SEND, .size = (uint32_t)t->spec.size } },
		.signal = 1,
		.batch = t->slots,
	};
	struct error err = { 0 };

	for (uint32_t i = 0; i < t->spec.qps; i++)
		assert_ok(driver_sock.prepare(s->ep[i], &work, &err), &err);
}

static inline void pair_open(struct pair *t)
{
	side_open(t, &t->active);
	side_open(t, &t->passive);
	connect_to(t, &t->active, &t->passive); /* completes by the backlog: nobody accepts yet */
	connect_to(t, &t->passive, &t->active);
	prepare(t, &t->active, WORK_TX);
	prepare(t, &t->passive, WORK_RX);
}

static inline int pump(struct side *s)
{
	struct done done[4];
	const int n = driver_sock.poll(s->port, done, 4);

	for (int i = 0; i < n; i++)
		*(done[i].kind == DONE_TX ? &s->sent : &s->received) += done[i].count;
	return n;
}

/* Takes what comes until so many messages have arrived. */
static inline void pump_until(struct pair *t, uint64_t received)
{
	const int64_t limit = clock_now(&t->clock) + LONG_NS;

	while (t->passive.received < received && clock_now(&t->clock) < limit)
		assert_true(pump(&t->passive) >= 0);
	assert_int_equal(t->passive.received, received);
}

static inline uint64_t post_all(struct pair *t, uint64_t count)
{
	uint64_t posted = 0;

	while (posted < count) {
		const uint64_t left = count - posted;
		const unsigned n = 1 + (unsigned)(posted * 7 % t->slots); /* batches of every length */
		const int rc = driver_sock.post(t->active.ep[0], left < n ? (unsigned)left : n, 0);

		assert_true(rc >= 0);
		posted += (unsigned)rc;
		assert_true(pump(&t->active) >= 0);
		assert_true(pump(&t->passive) >= 0);
	}
	return posted;
}

static inline struct sockaddr_storage address_of(struct ep *ep)
{
	const struct sockaddr_storage here = { .ss_family = AF_INET };
	struct sock_addr addr = { 0 };
	struct buf blob = BUF_INIT;
	struct error err = { 0 };
	struct cursor cursor;

	assert_ok(driver_sock.ep_addr(ep, &blob, &err), &err);
	cursor_init(&cursor, blob.data, blob.len);
	assert_ok(sock_addr_unpack(&cursor, &here, &addr, &err), &err);
	buf_release(&blob);
	return addr.address;
}

#endif
