/* Posts prepared work requests: the circle is cut behind the last one, posted with one call and closed again. */
#include "driver/ibv.h"

#include <errno.h>

#define REFUSED_MAX (1u << 20) /* posts that an empty queue may refuse in a row */

static inline uint32_t wrapped(uint32_t at, uint32_t len)
{
	return at < len ? at : at - len;
}

static void move_on(struct ib_ep *ep, uint32_t from, uint32_t n)
{
	bool remote = ep->tx_remote.step != 0;

	for (uint32_t i = 0; i < n; i++) {
		struct ib_tx_slot *slot = &ep->tx[wrapped(from + i, ep->tx_len)];

		slot->sge.addr = ib_area_next(&ep->tx_local, slot->sge.addr);
		if (remote) /* at the same place for writes, reads and atomics */
			slot->wr.wr.rdma.remote_addr = ib_area_next(&ep->tx_remote, slot->wr.wr.rdma.remote_addr);
	}
}

void ib_ring_advance(struct ib_ep *ep, uint32_t n)
{
	if (__builtin_expect((ep->tx_local.step | ep->tx_remote.step) != 0, 0))
		move_on(ep, ep->tx_head, n);
	ep->tx_head = wrapped(ep->tx_head + n, ep->tx_len);
	ep->tx_free -= n;
}

static bool may_take_later(struct ib_refused *refused, uint32_t head, int code)
{
	if (code != ENOMEM && code != -ENOMEM)
		return false;
	if (refused->head != head)
		refused->count = 0;
	refused->head = head;
	return ++refused->count < REFUSED_MAX;
}

bool ib_ring_is_full(struct ib_ep *ep, int code)
{
	if (ep->tx_free < ib_ep_port(ep)->tx_depth)
		ep->tx_refused.count = 0;
	return may_take_later(&ep->tx_refused, ep->tx_head, code);
}

/* How many requests from head on stand before the one that was refused. */
static uint32_t tx_before(const struct ib_ep *ep, const struct ibv_send_wr *bad)
{
	uint32_t at = bad ? (uint32_t)((const struct ib_tx_slot *)bad - ep->tx) : ep->tx_head;

	return wrapped(at + ep->tx_len - ep->tx_head, ep->tx_len);
}

int ib_ring_post(struct ep *base, unsigned n, unsigned flags)
{
	struct ib_ep *ep = ib_ep_of(base);
	struct ibv_send_wr *bad = NULL;
	struct ib_tx_slot *last;
	struct ibv_send_wr *next;
	unsigned last_flags;
	int rc;

	n = n < ep->tx_free ? n : ep->tx_free;
	n = n < ep->tx_len ? n : ep->tx_len;
	if (!n)
		return 0;
	if (ep->qpx)
		return ib_ring_post_wr(ep, n, flags);
	last = &ep->tx[wrapped(ep->tx_head + n - 1, ep->tx_len)];
	next = last->wr.next;
	last_flags = last->wr.send_flags;
	last->wr.next = NULL;
	if (flags & POST_LAST)
		last->wr.send_flags |= IBV_SEND_SIGNALED;
	rc = ibv_post_send(ep->qp, &ep->tx[ep->tx_head].wr, &bad);
	last->wr.next = next;
	last->wr.send_flags = last_flags;
	if (__builtin_expect(rc != 0, 0))
		n = tx_before(ep, bad);
	ib_ring_advance(ep, n);
	if (__builtin_expect(rc != 0, 0) && !ib_ring_is_full(ep, rc))
		return ib_post_error(ep, "ibv_post_send", rc);
	return (int)n;
}

static void move_on_rx(struct ib_ep *ep, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ib_rx_slot *slot = &ep->rx[wrapped(ep->rx_head + i, ep->rx_len)];

		slot->sge[1].addr = ib_area_next(&ep->rx_local, slot->sge[1].addr);
	}
}

int ib_ring_post_rx(struct ep *base, unsigned n)
{
	struct ib_ep *ep = ib_ep_of(base);
	struct ibv_recv_wr *bad = NULL;
	struct ib_rx_slot *last;
	struct ibv_recv_wr *next;
	int rc;

	n = n < ep->rx_len ? n : ep->rx_len;
	if (!n)
		return 0;
	last = &ep->rx[wrapped(ep->rx_head + n - 1, ep->rx_len)];
	next = last->wr.next;
	last->wr.next = NULL;
	if (ep->srq)
		rc = ibv_post_srq_recv(ep->srq, &ep->rx[ep->rx_head].wr, &bad);
	else
		rc = ibv_post_recv(ep->qp, &ep->rx[ep->rx_head].wr, &bad);
	last->wr.next = next;
	if (__builtin_expect(rc != 0, 0)) {
		uint32_t at = bad ? (uint32_t)((struct ib_rx_slot *)bad - ep->rx) : ep->rx_head;

		n = wrapped(at + ep->rx_len - ep->rx_head, ep->rx_len);
		if (!may_take_later(&ep->rx_refused, ep->rx_head, rc))
			return ib_post_error(ep, ep->srq ? "ibv_post_srq_recv" : "ibv_post_recv", rc);
	}
	if (ep->rx_local.step)
		move_on_rx(ep, n);
	ep->rx_head = wrapped(ep->rx_head + n, ep->rx_len);
	return (int)n;
}
