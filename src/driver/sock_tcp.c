/* TCP behaviour of the socket driver: messages are consecutive pieces of one stream of bytes, counted exactly. */
#include "driver/sock.h"

#include "spec/result.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define RECEIVE_MAX (1u << 20) /* bytes a receive call */
#define SCRATCH     (512u << 10) /* bandwidth: rings smaller than RING_MIN are not received into */
#define RING_MIN    (64u << 10)
#define WAKE_BYTES                                                                                                     \
	(256 << 10) /* a sleeping receiver of a stream is woken for so many: a wake-up costs more than a copy */

static int stream_fail(struct sock_ep *ep, int code)
{
	struct sock_port *p = sock_port_of(ep);
	char name[SOCK_NAME_MAX];

	if (code == -EPIPE || code == -ECONNRESET)
		return error_set(
			&p->base.err, -ECONNRESET,
			"the peer closed data connection %u (%s) while messages were due: it failed, or was ended",
			ep->base.index, sock_name(&ep->peer, name));
	return sock_fail(&p->base.err, code, "use the data connection with", &ep->peer);
}

/* Up to want bytes from where the ring stands: bytes sent, or negative errno. */
static ssize_t ring_send(struct sock_ep *ep, size_t want, int flags)
{
	const struct sock_ring *r = &ep->tx;
	const size_t straight = r->bytes - r->at;
	struct iovec iov[2] = { { r->data + r->at, straight }, { r->data, 0 } };
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t sent;

	if (want <= straight) {
		sent = send(ep->fd, r->data + r->at, want, MSG_DONTWAIT | MSG_NOSIGNAL | flags);
	} else {
		iov[1].iov_len = (want < r->bytes ? want : r->bytes) - straight;
		sent = sendmsg(ep->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL | flags);
	}
	return sent < 0 ? -errno : sent;
}

/* Moves on by so many bytes; the messages that are whole by that. */
static unsigned ring_advance(struct sock_ring *r, size_t bytes)
{
	size_t whole;

	r->at += bytes;
	if (r->at >= r->bytes)
		r->at -= r->bytes;
	bytes += r->part;
	if (bytes == r->size) {
		r->part = 0;
		return 1;
	}
	whole = bytes / r->size;
	r->part = bytes - whole * r->size;
	return (unsigned)whole;
}

/* Nothing went: 0 when that may pass, else why. */
static int send_failed(struct sock_ep *ep, int code)
{
	ep->tx_blocked = true;
	return code == -EAGAIN || code == -EINTR || code == -ENOBUFS ? 0 : stream_fail(ep, code);
}

static int post_copying(struct sock_ep *ep, unsigned n)
{
	const ssize_t sent = ring_send(ep, (size_t)n * ep->tx.size - ep->tx.part, 0);
	unsigned whole;

	if (sent < 0)
		return send_failed(ep, (int)sent);
	whole = ring_advance(&ep->tx, (size_t)sent);
	ep->tx_blocked = whole < n;
	if (whole)
		sock_complete_tx(ep, whole);
	return (int)whole;
}

/* The same with --zerocopy: accepted now, completed by a notice. */
static int post_zerocopy(struct sock_ep *ep, unsigned n)
{
	ssize_t sent;
	unsigned whole;

	if (sock_zerocopy_full(ep->zerocopy))
		return send_failed(ep, -EAGAIN);
	sent = ring_send(ep, (size_t)n * ep->tx.size - ep->tx.part, MSG_ZEROCOPY);
	if (sent < 0)
		return send_failed(ep, (int)sent);
	whole = ring_advance(&ep->tx, (size_t)sent);
	ep->tx_blocked = whole < n;
	sock_zerocopy_sent(ep->zerocopy, whole);
	return (int)whole;
}

static int tcp_finish(struct sock_ep *ep)
{
	ssize_t sent;
	int rc;

	if (!ep->tx.part)
		return 0;
	sent = ring_send(ep, ep->tx.size - ep->tx.part, 0);
	rc = sent < 0 ? send_failed(ep, (int)sent) : 0;
	if (rc < 0)
		return rc;
	if (sent < 0 || !ring_advance(&ep->tx, (size_t)sent))
		return -EAGAIN;
	ep->tx_blocked = false;
	sock_complete_tx(ep, 1);
	return 1;
}

static int tcp_receive(struct sock_ep *ep, int flags)
{
	struct sock_ring *r = &ep->rx;
	const size_t room = r->bytes - r->at;
	const ssize_t got = recv(ep->fd, r->data + r->at, room < RECEIVE_MAX ? room : RECEIVE_MAX, flags);

	if (got > 0)
		return (int)ring_advance(r, (size_t)got);
	if (got == 0)
		return stream_fail(ep, -ECONNRESET);
	return errno == EAGAIN || errno == EINTR ? 0 : stream_fail(ep, -errno);
}

static int check_size(const struct sock_ring *r, const struct work *work, struct error *err)
{
	if (r->part && r->size != work->op[0].size)
		return error_set(err, -EBUSY,
				 "a TCP data connection stands inside a message of %u bytes: its size cannot become %u",
				 r->size, work->op[0].size);
	return 0;
}

static int tcp_prepare_tx(struct sock_ep *ep, const struct work *work, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);
	const int rc = check_size(&ep->tx, work, err);

	if (rc < 0)
		return rc;
	ep->tx.size = work->op[0].size;
	p->zerocopy = p->spec->zerocopy == CHOICE_ON;
	return p->zerocopy ? sock_zerocopy_open(ep, err) : 0;
}

/* Small rings would mean small receive calls: bandwidth tests receive into a larger buffer of the port then. */
static int use_scratch(struct sock_ep *ep, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);

	if (!p->scratch)
		p->scratch = malloc(SCRATCH);
	if (!p->scratch)
		return error_sys(err, -ENOMEM, "cannot make a receive buffer of %u bytes", SCRATCH);
	ep->rx.data = p->scratch;
	ep->rx.bytes = SCRATCH;
	ep->rx.at = 0;
	return 0;
}

/* What is compared stays in its slot until then. */
static bool may_use_scratch(const struct sock_ep *ep)
{
	const struct spec *spec = sock_port_of(ep)->spec;

	return spec->metric == METRIC_BW && !spec->validate && ep->rx.bytes < RING_MIN;
}

/*
 * Only where nothing waits for the arrival itself: not when the last one ends the test, nor of bursts, nor when epoll
 * names who has something; a buffer of a given size may be smaller. What is less is taken after a slice of waiting, and
 * at the edges.
 */
static bool wakes_late(const struct sock_port *p)
{
	const struct spec *spec = p->spec;

	return spec->metric == METRIC_BW && spec->events == CHOICE_ON && !spec_quota(spec) && !spec_bursts(spec) &&
	       !spec->warmup_iterations && spec->sock_buf == SPEC_AUTO && p->epoll_fd < 0;
}

static int tcp_prepare_rx(struct sock_ep *ep, const struct work *work, struct error *err)
{
	int rc = check_size(&ep->rx, work, err);

	if (rc < 0)
		return rc;
	ep->rx.size = work->op[0].size;
	if (may_use_scratch(ep))
		rc = use_scratch(ep, err);
	if (rc == 0)
		rc = sock_expect(ep, err);
	if (rc == 0 && wakes_late(sock_port_of(ep)))
		sock_set(ep->fd, SOL_SOCKET, SO_RCVLOWAT, WAKE_BYTES); /* refused: it wakes for each piece */
	return rc;
}

static int post(struct sock_ep *ep, unsigned n)
{
	return ep->zerocopy ? post_zerocopy(ep, n) : post_copying(ep, n);
}

static void tcp_close(struct sock_port *p)
{
	sock_accept_close(p->accept);
	free(p->scratch);
}

static void tcp_facts(const struct sock_ep *ep, struct facts *ret)
{
	char control[32] = "";
	socklen_t len = sizeof(control) - 1;

	if (getsockopt(ep->fd, IPPROTO_TCP, TCP_CONGESTION, control, &len) == 0)
		facts_add(ret, "congestionControl", "Congestion control", "%s", control);
	facts_add_number(ret, "mss", "TCP segment", sock_get(ep->fd, IPPROTO_TCP, TCP_MAXSEG));
	facts_add(ret, "noDelay", "Nagle delay", "%s", sock_get(ep->fd, IPPROTO_TCP, TCP_NODELAY) > 0 ? "off" : "on");
	if (ep->rx_on)
		facts_add_number(ret, "receiveBytesPerCall", "Bytes a receive",
				 (long long)(ep->rx.bytes < RECEIVE_MAX ? ep->rx.bytes : RECEIVE_MAX));
	if (ep->rx_on && sock_get(ep->fd, SOL_SOCKET, SO_RCVLOWAT) > 1)
		facts_add_number(ret, "wakeBytes", "Woken for, bytes", sock_get(ep->fd, SOL_SOCKET, SO_RCVLOWAT));
	if (sock_port_of(ep)->sends)
		sock_zerocopy_facts(ep, ret);
}

const struct sock_kind sock_tcp = {
	.name = "TCP",
	.max_size = 1u << 30,
	.close = tcp_close,
	.ep_open = sock_tcp_ep_open,
	.ep_connect = sock_tcp_connect,
	.prepare_tx = tcp_prepare_tx,
	.prepare_rx = tcp_prepare_rx,
	.post = post,
	.finish = tcp_finish,
	.receive = tcp_receive,
	.facts = tcp_facts,
};
