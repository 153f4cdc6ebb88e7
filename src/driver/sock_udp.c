/* UDP behaviour of the socket driver: numbered datagrams, many a system call, every one that arrives accounted for. */
#include "driver/sock.h"

#include "base/clock.h"
#include "base/net.h"
#include "spec/result.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define CALL_MAX    64u /* message headers a system call */
#define BUFFERS_MAX (1u << 20) /* bytes of receive buffers a port */
#define SUPER       65536u /* a receive buffer that holds any coalesced super-datagram */
#define CONTROL     CMSG_SPACE(sizeof(int))
#define REFUSED_NS  1000000000LL /* a peer that has refused for so long is gone */
#define REFUSED_GAP 500000000LL /* refusals further apart than this do not belong together */

struct sock_batch {
	struct mmsghdr tx[CALL_MAX], rx[CALL_MAX];
	struct iovec tx_iov[CALL_MAX], rx_iov[CALL_MAX];
	uint8_t control[CALL_MAX][CONTROL] __attribute__((aligned(sizeof(size_t))));
	unsigned rx_count; /* receive buffers */
	size_t rx_bytes; /* of each */
	uint8_t *buffers;
};

static int udp_ep_open(struct sock_ep *ep, struct error *err)
{
	const struct sock_port *p = sock_port_of(ep);
	const uint64_t first = p->active ? 0 : p->spec->data_port;

	ep->fd = sock_socket(p, SOCK_DGRAM, err);
	if (ep->fd < 0)
		return ep->fd;
	return sock_bind(p, ep->fd, first ? first + (uint64_t)p->worker * p->qps + ep->base.index : 0, err);
}

/* From connect on the kernel drops what strangers send; what came before that is thrown away here. */
static int udp_ep_connect(struct sock_ep *ep, const struct sock_addr *peer, int64_t deadline_ns, struct error *err)
{
	uint8_t byte;

	(void)deadline_ns; /* takes no time */
	if (connect(ep->fd, (const struct sockaddr *)&peer->address, net_len(&peer->address)) < 0)
		return sock_fail(err, -errno, "connect a data socket to", &peer->address);
	ep->peer = peer->address;
	while (recv(ep->fd, &byte, 1, MSG_DONTWAIT) >= 0)
		;
	return 0;
}

/* The peer's port answers "unreachable": while both sides set up and tear down that passes, later it does not. */
static int refused(struct sock_ep *ep)
{
	struct sock_port *p = sock_port_of(ep);
	const int64_t now = clock_now(p->clock);
	char name[SOCK_NAME_MAX];

	if (!ep->refused_last_ns || now - ep->refused_last_ns > REFUSED_GAP)
		ep->refused_first_ns = now;
	ep->refused_last_ns = now;
	if (now - ep->refused_first_ns < REFUSED_NS)
		return 0;
	return error_set(
		&p->base.err, -ECONNREFUSED,
		"the peer's data socket %s has refused datagrams for a second: the peer has ended, or a firewall "
		"rejects its data port",
		sock_name(&ep->peer, name));
}

static int udp_fail(struct sock_ep *ep, int code)
{
	struct sock_port *p = sock_port_of(ep);

	if (code == -EAGAIN || code == -EINTR || code == -ENOBUFS)
		return 0;
	if (code == -ECONNREFUSED)
		return refused(ep);
	if (code == -EMSGSIZE)
		return error_set(&p->base.err, code,
				 "datagrams of %u bytes do not fit the path to the peer: choose a smaller "
				 "message size",
				 ep->tx.size);
	return sock_fail(&p->base.err, code, "use the data socket connected to", &ep->peer);
}

/* Writes their numbers into the next count messages, which must lie in one piece. */
static void number(const struct sock_ep *ep, uint8_t *slot, unsigned count)
{
	const size_t size = ep->tx.size;
	uint64_t seq = ep->tx_seq;

	if (ep->number == sizeof(seq)) {
		for (unsigned i = 0; i < count; i++, seq++, slot += size)
			memcpy(slot, &seq, sizeof(seq));
	} else if (ep->number) {
		for (unsigned i = 0; i < count; i++, seq++, slot += size)
			memcpy(slot, &(uint32_t){ (uint32_t)seq }, sizeof(uint32_t));
	}
}

static void advance(struct sock_ep *ep, unsigned count)
{
	ep->tx.at += (size_t)count * ep->tx.size;
	if (ep->tx.at >= ep->tx.bytes)
		ep->tx.at = 0;
	ep->tx_seq += count;
}

static unsigned straight(const struct sock_ep *ep)
{
	return (unsigned)((ep->tx.bytes - ep->tx.at) / ep->tx.size);
}

static int send_one(struct sock_ep *ep)
{
	uint8_t *slot = ep->tx.data + ep->tx.at;

	number(ep, slot, 1);
	if (send(ep->fd, slot, ep->tx.size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	advance(ep, 1);
	return 1;
}

/* Sends up to count messages that lie in one piece, with one system call: how many went, or negative errno. */
static int send_piece(struct sock_ep *ep, unsigned count)
{
	struct sock_batch *b = sock_port_of(ep)->batch;
	const size_t super = (size_t)ep->segments * ep->tx.size;
	uint8_t *data = ep->tx.data + ep->tx.at;
	size_t left;
	unsigned entries = 0;
	int sent;

	if (count > CALL_MAX * ep->segments)
		count = CALL_MAX * ep->segments;
	number(ep, data, count);
	for (left = (size_t)count * ep->tx.size; left; entries++) {
		struct iovec *iov = &b->tx_iov[entries];

		*iov = (struct iovec){ data, left < super ? left : super };
		data += iov->iov_len;
		left -= iov->iov_len;
	}
	sent = sendmmsg(ep->fd, b->tx, entries, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return -errno;
	if ((unsigned)sent < entries) /* all but the last hold as many as there are segments */
		count = (unsigned)sent * ep->segments;
	advance(ep, count);
	return (int)count;
}

/* One call a piece; 0 when the socket is full. */
static int send_some(struct sock_ep *ep, unsigned n)
{
	const unsigned piece = straight(ep);
	int rc = n == 1 ? send_one(ep) : send_piece(ep, n < piece ? n : piece);

	if (rc < 0 && (rc == -EIO || rc == -EINVAL) && sock_gso_give_up(ep))
		return send_some(ep, n);
	return rc < 0 ? udp_fail(ep, rc) : rc;
}

static int udp_post(struct sock_ep *ep, unsigned n)
{
	unsigned accepted = 0;
	int rc = 1;

	while (accepted < n && rc > 0) {
		rc = send_some(ep, n - accepted);
		if (rc > 0)
			accepted += (unsigned)rc;
	}
	ep->tx_blocked = accepted < n;
	if (accepted)
		sock_complete_tx(ep, accepted);
	return rc < 0 ? rc : (int)accepted;
}

/* Messages without numbers: all are taken for new, whoever compares them knows better. */
static int show(struct sock_ep *ep, const uint8_t *data, unsigned count)
{
	const struct port *port = ep->base.port;

	for (unsigned i = 0; port->look && i < count; i++)
		port->look(&ep->base, data + (size_t)i * ep->rx.size);
	return (int)count;
}

/* Numbers of count messages in one piece: how many of them are new. */
static int feed(struct sock_ep *ep, const uint8_t *data, unsigned count)
{
	const size_t size = ep->rx.size;
	struct seq *seq = ep->seq;
	uint64_t wide;
	uint32_t low;
	int fresh = 0;

	if (!seq)
		return show(ep, data, count);
	for (; count && size >= sizeof(wide); count--, data += size) {
		memcpy(&wide, data, sizeof(wide));
		fresh += seq_feed(seq, wide);
	}
	for (; count; count--, data += size) {
		memcpy(&low, data, sizeof(low));
		fresh += seq_feed_low(seq, low);
	}
	return fresh;
}

static int take_datagram(struct sock_ep *ep, const uint8_t *data, size_t len, uint32_t segment)
{
	const uint32_t size = ep->rx.size;
	const unsigned whole = (unsigned)(len / size);

	if (segment != size) {
		ep->bad += segment ? (len + segment - 1) / segment : 1;
		return 0;
	}
	ep->bad += len % size != 0;
	return feed(ep, data, whole);
}

static int receive_one(struct sock_ep *ep, int flags)
{
	const struct sock_batch *b = sock_port_of(ep)->batch;
	/* with MSG_TRUNC the kernel tells the datagram's own length, also when it was longer than the buffer */
	const ssize_t len = recv(ep->fd, b->buffers, b->rx_bytes, flags | MSG_TRUNC);

	if (len < 0)
		return udp_fail(ep, -errno);
	return take_datagram(ep, b->buffers, (size_t)len, (uint32_t)len);
}

static int receive_many(struct sock_ep *ep, int flags)
{
	struct sock_batch *b = sock_port_of(ep)->batch;
	const int count = recvmmsg(ep->fd, b->rx, b->rx_count, flags | MSG_WAITFORONE, NULL);
	int fresh = 0;

	if (count < 0)
		return udp_fail(ep, -errno);
	for (int i = 0; i < count; i++) {
		struct msghdr *msg = &b->rx[i].msg_hdr;
		const uint32_t len = b->rx[i].msg_len;

		if (msg->msg_flags & MSG_TRUNC) {
			ep->bad++;
		} else {
			fresh += take_datagram(ep, b->buffers + (size_t)i * b->rx_bytes, len,
					       ep->gro ? sock_gro_segment(msg, len) : len);
		}
		msg->msg_controllen = CONTROL;
		msg->msg_flags = 0;
	}
	return fresh;
}

static int udp_finish(struct sock_ep *ep)
{
	(void)ep;
	return 0; /* a datagram goes whole */
}

static int udp_receive(struct sock_ep *ep, int flags)
{
	return sock_port_of(ep)->batch->rx_count == 1 ? receive_one(ep, flags) : receive_many(ep, flags);
}

static int batch_get(struct sock_port *p, struct error *err)
{
	struct sock_batch *b;

	if (p->batch)
		return 0;
	b = p->batch = calloc(1, sizeof(*b));
	if (!b)
		return error_sys(err, -ENOMEM, "cannot make the message headers of a UDP port");
	for (unsigned i = 0; i < CALL_MAX; i++) {
		b->tx[i].msg_hdr = (struct msghdr){ .msg_iov = &b->tx_iov[i], .msg_iovlen = 1 };
		b->rx[i].msg_hdr = (struct msghdr){ .msg_iov = &b->rx_iov[i],
						    .msg_iovlen = 1,
						    .msg_control = b->control[i],
						    .msg_controllen = CONTROL };
	}
	return 0;
}

/* Receive buffers of the port: one for ping-pong, else as many as a call takes within the limit. */
static int make_buffers(struct sock_port *p, size_t bytes, struct error *err)
{
	struct sock_batch *b = p->batch;
	size_t count = p->spec->metric == METRIC_LAT ? 1 : BUFFERS_MAX / bytes;

	if (b->buffers && b->rx_bytes == bytes)
		return 0;
	if (count > CALL_MAX)
		count = CALL_MAX;
	free(b->buffers);
	b->buffers = aligned_alloc(64, count * bytes);
	if (!b->buffers)
		return error_sys(err, -ENOMEM, "cannot make receive buffers of %zu bytes", count * bytes);
	b->rx_bytes = bytes;
	b->rx_count = (unsigned)count;
	for (unsigned i = 0; i < count; i++)
		b->rx_iov[i] = (struct iovec){ b->buffers + i * bytes, bytes };
	return 0;
}

static int udp_prepare_tx(struct sock_ep *ep, const struct work *work, struct error *err)
{
	const int rc = batch_get(sock_port_of(ep), err);

	if (rc < 0)
		return rc;
	ep->tx.size = work->op[0].size;
	ep->number = sock_number_bytes(sock_port_of(ep)->spec, ep->tx.size);
	ep->tx_seq = 0;
	return sock_gso_tx(ep, work->op[0].size, err);
}

static int udp_prepare_rx(struct sock_ep *ep, const struct work *work, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);
	int rc = batch_get(p, err);

	if (rc == 0)
		rc = sock_gso_rx(ep, err);
	if (rc == 0)
		rc = make_buffers(p, ep->gro ? SUPER : (work->op[0].size + 63u) / 64u * 64u, err);
	if (rc < 0)
		return rc;
	ep->rx.size = work->op[0].size;
	free(ep->seq);
	ep->seq = NULL;
	if (!sock_number_bytes(p->spec, ep->rx.size))
		return sock_expect(ep, err);
	ep->seq = calloc(1, sizeof(*ep->seq));
	if (!ep->seq)
		return error_sys(err, -ENOMEM, "cannot count the datagrams of endpoint %u", ep->base.index);
	return sock_expect(ep, err);
}

static void udp_close(struct sock_port *p)
{
	if (p->batch)
		free(p->batch->buffers);
	free(p->batch);
}

static void udp_facts(const struct sock_ep *ep, struct facts *ret)
{
	const struct sock_batch *b = sock_port_of(ep)->batch;

	if (ep->segments > 1)
		facts_add(ret, "gso", "Segmentation offload", "on, up to %u a packet", ep->segments);
	else if (ep->segments == 1)
		facts_add(ret, "gso", "Segmentation offload", "off");
	if (ep->rx_on)
		facts_add(ret, "gro", "Receive offload", "%s", ep->gro ? "on" : "off");
	if (b && b->rx_count)
		facts_add_number(ret, "receiveBuffersPerCall", "Buffers a receive", b->rx_count);
}

const struct sock_kind sock_udp = {
	.name = "UDP",
	.max_size = 65507,
	.close = udp_close,
	.ep_open = udp_ep_open,
	.ep_connect = udp_ep_connect,
	.prepare_tx = udp_prepare_tx,
	.prepare_rx = udp_prepare_rx,
	.post = udp_post,
	.finish = udp_finish,
	.receive = udp_receive,
	.facts = udp_facts,
};
