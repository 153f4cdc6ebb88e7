/* Takes completions from the device in batches and counts what each stands for; sleeps on the completion channel. */
#include "driver/ibv.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define EVENTS_PER_ACK 256u

/* A signalled completion stands for all requests since the last one: the ring's places tell how many. */
static inline uint32_t tx_done(struct ib_ep *ep, uint32_t at)
{
	uint32_t from = ep->tx_tail;
	uint32_t count = (at >= from ? at - from : at + ep->tx_len - from) + 1;

	ep->tx_tail = at + 1 == ep->tx_len ? 0 : at + 1;
	ep->tx_free += count;
	return count;
}

/* A message that is not as large as most: of another operation of the test, or wrong. */
static void rx_other(struct ib_ep *ep, uint32_t bytes)
{
	for (unsigned i = 0; i < SPEC_OPS && ep->rx_smaller[i]; i++) {
		if (ep->rx_smaller[i] == bytes) {
			ep->shortfall += ep->rx_bytes - bytes;
			return;
		}
	}
	ep->bad++;
}

static inline void rx_done(struct ib_ep *ep, uint32_t bytes)
{
	ep->rx_slot = ep->rx_slot + 1 == ep->conf.rx_slots ? 0 : ep->rx_slot + 1;
	if (__builtin_expect(bytes != ep->rx_bytes, 0))
		rx_other(ep, bytes);
}

static inline bool same(const struct done *done, const struct ib_ep *ep, enum done_kind kind)
{
	return done->ep == &ep->ep && done->kind == kind;
}

static int refill(struct ib_port *p)
{
	int n = ibv_poll_cq(p->cq, IB_WC_BATCH, p->wc);

	p->wc_next = 0;
	p->wc_count = n > 0 ? n : 0;
	if (__builtin_expect(n < 0, 0))
		return ib_fail(&p->port.err, n < -1 ? n : -EIO, p->calls->name(p, "ibv_poll_cq"),
			       "cannot poll the completion queue of %s", p->name);
	return n;
}

int ib_port_poll(struct port *port, struct done *done, int max)
{
	struct ib_port *p = ib_port_of(port);
	int out = 0;

	if (p->wc_next == p->wc_count) {
		int rc = refill(p);

		if (rc <= 0)
			return rc;
	}
	for (; p->wc_next < p->wc_count; p->wc_next++) {
		const struct ibv_wc *wc = &p->wc[p->wc_next];
		struct ib_ep *ep = &p->eps[wc->wr_id >> 32];
		uint32_t at = (uint32_t)wc->wr_id;
		enum done_kind kind = at & IB_WRID_RX ? DONE_RX : DONE_TX;
		uint32_t count = 1;

		if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
			return ib_wc_error(p, wc);
		if (!out || !same(&done[out - 1], ep, kind)) {
			if (out == max)
				break;
			done[out++] = (struct done){ .ep = &ep->ep, .kind = kind };
		}
		if (kind == DONE_TX)
			count = tx_done(ep, at);
		else
			rx_done(ep, wc->byte_len);
		done[out - 1].count += count;
	}
	return out;
}

static int take_event(struct ib_port *p)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(p->channel, &cq, &context))
		return errno == EINTR || errno == EAGAIN ? 0
							 : ib_fail(&p->port.err, errno, "ibv_get_cq_event",
								   "cannot take a completion event of %s", p->name);
	p->armed = false;
	if (++p->unacked == EVENTS_PER_ACK) {
		ibv_ack_cq_events(p->cq, p->unacked);
		p->unacked = 0;
	}
	return 0;
}

static int arm(struct ib_port *p)
{
	int rc = ibv_req_notify_cq(p->cq, 0);

	if (rc)
		return ib_fail(&p->port.err, rc, "ibv_req_notify_cq", "cannot ask %s for a completion event", p->name);
	p->armed = true;
	return refill(p); /* what arrived before the queue was armed makes no event */
}

int ib_port_wait(struct port *port, int64_t timeout_ns)
{
	struct ib_port *p = ib_port_of(port);
	struct timespec limit = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };
	struct pollfd fd = { .events = POLLIN };
	int rc;

	if (!p->channel)
		return driver_no_wait(port, timeout_ns);
	if (p->wc_next < p->wc_count)
		return 0;
	if (!p->armed) {
		rc = arm(p);
		if (rc)
			return rc < 0 ? rc : 0;
	}
	fd.fd = p->channel->fd;
	rc = ppoll(&fd, 1, timeout_ns < 0 ? NULL : &limit, NULL);
	if (rc < 0 && errno != EINTR)
		return error_sys(&p->port.err, -errno, "cannot wait for completions of %s", p->name);
	return rc > 0 ? take_event(p) : 0;
}
