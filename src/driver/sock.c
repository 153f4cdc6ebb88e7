/* The socket driver: TCP and UDP over IPv4 and IPv6, through the kernel's sockets. */
#include "driver/sock.h"

#include "base/buf.h"
#include "base/net.h"
#include "mem/mem.h"
#include "spec/result.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_QPS     65536u
#define OTHER_FILES 24 /* beside the data connections: what is open before, one of epoll a worker */
#define MAX_DEPTH   (1u << 24) /* the socket's buffer bounds what is under way, not a ring of work requests */

static bool sock_has_device(const char *name)
{
	return !name[0] || if_nametoindex(name) != 0;
}

/* Every endpoint is a file: takes all that the hard limit of open files allows, which must be enough for all workers. */
static int check_files(const struct port_conf *conf, struct error *err)
{
	const unsigned long long need = conf->workers * conf->spec->qps + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (need <= limit.rlim_cur)
		return 0;
	return error_set(err, -EMFILE,
			 "the test needs %llu open files and this process may have %llu: raise the hard limit with "
			 "'ulimit -Hn' or ask for fewer --qps",
			 need, (unsigned long long)limit.rlim_cur);
}

static void sock_close(struct port *port)
{
	struct sock_port *p = (struct sock_port *)port;

	if (!p)
		return;
	p->kind->close(p);
	if (p->epoll_fd >= 0)
		close(p->epoll_fd);
	free(p->ep);
	free(p->done);
	free(p->rx);
	free(p->fds);
	free(p);
}

static bool allocate(struct sock_port *p)
{
	p->ep = calloc(p->qps, sizeof(p->ep[0]));
	p->done = calloc(p->qps, sizeof(p->done[0]));
	p->rx = calloc(p->qps, sizeof(p->rx[0]));
	p->fds = calloc((size_t)p->qps * 2, sizeof(p->fds[0]));
	return p->ep && p->done && p->rx && p->fds;
}

static int port_init(struct sock_port *p, const struct port_conf *conf, struct error *err)
{
	const struct spec *spec = conf->spec;

	p->base.drv = &driver_sock;
	p->conf = *conf;
	p->spec = spec;
	p->clock = conf->clock;
	p->kind = spec->transport == TRANSPORT_UDP ? &sock_udp : &sock_tcp;
	p->worker = conf->worker;
	p->active = conf->active;
	p->sends = port_sends(conf);
	p->qps = (unsigned)spec->qps;
	p->epoll_fd = -1;
	p->lazy = spec->events == CHOICE_ON && spec->metric == METRIC_LAT && latency_is_ping_pong(spec) &&
		  spec->qps == 1 && spec->zerocopy != CHOICE_ON;
	if (!allocate(p))
		return error_sys(err, -ENOMEM, "cannot keep %u endpoints", p->qps);
	if (getrandom(&p->nonce, sizeof(p->nonce), 0) != sizeof(p->nonce))
		return error_sys(err, -errno, "cannot draw a random number for the data connections");
	return sock_find_here(conf->local, spec->device, &p->here, err);
}

static int sock_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	struct sock_port *p;
	int rc;

	if (conf->spec->qps == 0 || conf->spec->qps > MAX_QPS)
		return error_set(err, -EINVAL, "--qps %llu: sockets take 1 to %u per worker",
				 (unsigned long long)conf->spec->qps, MAX_QPS);
	rc = check_files(conf, err);
	if (rc < 0)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_sys(err, -ENOMEM, "cannot open a port for sockets");
	rc = port_init(p, conf, err);
	if (rc < 0) {
		sock_close(&p->base);
		return rc;
	}
	*ret = &p->base;
	return 0;
}

static void sock_caps(const struct port *port, struct caps *ret)
{
	const struct sock_port *p = (const struct sock_port *)port;

	*ret = (struct caps){
		.max_size = p->kind->max_size,
		.max_tx_depth = MAX_DEPTH,
		.max_rx_depth = MAX_DEPTH,
		.max_qps = MAX_QPS,
		.stride_align = 1,
		.can_wait = true,
		.counts_loss = p->kind == &sock_udp && sock_number_bytes(p->spec, (uint32_t)p->spec->size),
		.shows = p->kind == &sock_udp,
	};
}

static void ep_facts(const struct sock_ep *ep, struct facts *ret)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	char name[SOCK_NAME_MAX];

	if (getsockname(ep->fd, (struct sockaddr *)&address, &len) == 0)
		facts_add(ret, "localAddress", "Local address", "%s", sock_name(&address, name));
	facts_add(ret, "peerAddress", "Peer's address", "%s", sock_name(&ep->peer, name));
	if (sock_link_rate(&address, &ep->peer) > 0)
		facts_add_real(ret, "linkGbSec", "Link, Gbit/sec", sock_link_rate(&address, &ep->peer));
	facts_add_number(ret, "trafficClass", "Traffic class", net_class(ep->fd));
	facts_add_number(ret, "sndBuf", "Send buffer, bytes", sock_get(ep->fd, SOL_SOCKET, SO_SNDBUF));
	facts_add_number(ret, "rcvBuf", "Receive buffer, bytes", sock_get(ep->fd, SOL_SOCKET, SO_RCVBUF));
}

static void sock_facts(const struct port *port, struct facts *ret)
{
	const struct sock_port *p = (const struct sock_port *)port;

	if (p->spec->device[0])
		facts_add(ret, "interface", "Network interface", "%s", p->spec->device);
	if (!p->eps || !p->ep[0] || p->ep[0]->fd < 0)
		return;
	ep_facts(p->ep[0], ret);
	if (p->spec->metric == METRIC_BW && p->sends)
		facts_add_number(ret, "messagesPerCall", "Messages a send", (long long)p->spec->post_batch);
	p->kind->facts(p->ep[0], ret);
}

static void sock_ep_close(struct ep *base)
{
	struct sock_ep *ep = (struct sock_ep *)base;

	if (!ep)
		return;
	if (ep->base.index < sock_port_of(ep)->eps)
		sock_port_of(ep)->ep[ep->base.index] = NULL;
	if (ep->fd >= 0)
		close(ep->fd);
	free(ep->seq);
	free(ep->zerocopy);
	free(ep);
}

static int check_ring(const struct sock_port *p, const struct ep_conf *conf, struct error *err)
{
	if (conf->index != p->eps || conf->index >= p->qps)
		return error_set(err, -EINVAL, "endpoint %u of %u: sockets are opened in order", conf->index, p->qps);
	if (!conf->tx_slots || !conf->rx_slots || !conf->stride)
		return error_set(err, -EINVAL, "endpoint %u has no slots for messages", conf->index);
	return 0;
}

static void cut(struct sock_ep *ep, const struct ep_conf *conf)
{
	ep->tx = (struct sock_ring){ .data = conf->mem->data + conf->tx_offset,
				     .bytes = (size_t)conf->tx_slots * conf->stride,
				     .size = conf->stride };
	ep->rx = (struct sock_ring){ .data = conf->mem->data + conf->rx_offset,
				     .bytes = (size_t)conf->rx_slots * conf->stride,
				     .size = conf->stride };
}

static int sock_ep_open(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err)
{
	struct sock_port *p = (struct sock_port *)port;
	struct sock_ep *ep;
	int rc = check_ring(p, conf, err);

	if (rc < 0)
		return rc;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return error_sys(err, -ENOMEM, "cannot open endpoint %u", conf->index);
	ep->base = (struct ep){ .port = port, .index = conf->index };
	ep->fd = -1;
	cut(ep, conf);
	rc = p->kind->ep_open(ep, err);
	if (rc < 0) {
		sock_ep_close(&ep->base);
		return rc;
	}
	p->ep[p->eps++] = ep;
	*ret = &ep->base;
	return 0;
}

static int sock_ep_addr(struct ep *base, struct buf *to, struct error *err)
{
	const struct sock_ep *ep = (const struct sock_ep *)base;
	const struct sock_port *p = sock_port_of(ep);
	struct sock_addr addr = { .address = p->here, .nonce = p->nonce, .worker = p->worker, .index = base->index };
	socklen_t len = sizeof(addr.address);

	if (p->accept)
		addr.address = *sock_accept_address(p->accept);
	else if (ep->fd >= 0 && getsockname(ep->fd, (struct sockaddr *)&addr.address, &len) < 0)
		return sock_fail(err, -errno, "tell the address of the data socket on", &p->here);
	sock_addr_pack(&addr, to);
	return to->failed ? error_sys(err, to->failed, "cannot tell the peer this side's addresses") : 0;
}

static int sock_ep_connect(struct ep *base, struct cursor *peer, int64_t deadline_ns, struct error *err)
{
	struct sock_ep *ep = (struct sock_ep *)base;
	struct sock_port *p = sock_port_of(ep);
	struct sock_addr addr;
	const int rc = sock_addr_unpack(peer, &p->here, &addr, err);

	return rc < 0 ? rc : p->kind->ep_connect(ep, &addr, deadline_ns, err);
}

static int sock_ep_cut(struct ep *base, const struct ep_conf *conf, struct error *err)
{
	struct sock_ep *ep = (struct sock_ep *)base;

	if (ep->tx.part || ep->rx.part)
		return error_set(err, -EBUSY,
				 "data connection %u stands inside a message of %u bytes: the next test cannot begin",
				 base->index, ep->tx.part ? ep->tx.size : ep->rx.size);
	cut(ep, conf);
	ep->bad = 0;
	return 0;
}

static int sock_prepare(struct ep *base, const struct work *work, struct error *err)
{
	struct sock_ep *ep = (struct sock_ep *)base;
	const struct sock_port *p = sock_port_of(ep);
	const size_t ring = work->kind == WORK_TX ? ep->tx.bytes : ep->rx.bytes;

	const uint32_t size = work->op[0].size;

	if (work->ops != 1)
		return error_set(err, -EINVAL, "sockets repeat one operation, not %u", work->ops);
	if (size == 0 || size > p->kind->max_size || ring < size || ring % size)
		return error_set(err, -EINVAL, "messages of %u bytes do not fit a ring of %zu bytes over %s", size,
				 ring, p->kind->name);
	return work->kind == WORK_TX ? p->kind->prepare_tx(ep, work, err) : p->kind->prepare_rx(ep, work, err);
}

/* The slot where the next message begins or goes on; NULL where messages do not lie in the ring. */
static uint8_t *slot(const struct sock_ring *r)
{
	return r->data ? r->data + r->at - r->at % r->size : NULL;
}

static uint8_t *sock_tx_slot(struct ep *base)
{
	return slot(&((struct sock_ep *)base)->tx);
}

static uint8_t *sock_rx_slot(struct ep *base)
{
	const struct sock_ep *ep = (struct sock_ep *)base;
	const struct sock_port *p = sock_port_of(ep);

	return p->kind == &sock_udp || ep->rx.data == p->scratch ? NULL : slot(&ep->rx);
}

static int sock_post(struct ep *base, unsigned n, unsigned flags)
{
	struct sock_ep *ep = (struct sock_ep *)base;
	struct sock_port *p = (struct sock_port *)base->port;

	(void)flags; /* every message is reported as it is */
	p->skip = p->lazy;
	return p->kind->post(ep, n);
}

static int sock_finish(struct ep *base)
{
	struct sock_ep *ep = (struct sock_ep *)base;

	return sock_port_of(ep)->kind->finish(ep);
}

/* A socket receives whatever arrives: nothing to post. */
static int sock_post_rx(struct ep *ep, unsigned n)
{
	(void)ep;
	return (int)n;
}

static void sock_counters(const struct ep *base, struct counters *ret)
{
	const struct sock_ep *ep = (const struct sock_ep *)base;
	struct counters c = { .bad = ep->bad };

	if (ep->seq) {
		c.lost = ep->seq->lost;
		c.duplicated = ep->seq->duplicated;
		c.reordered = ep->seq->reordered;
		c.bad += ep->seq->late + ep->seq->alien;
	}
	*ret = c;
}

const struct driver driver_sock = {
	.name = "sock",
	.kind = DRIVER_SOCK,
	.has_device = sock_has_device,
	.message_max = driver_no_message,
	.open = sock_open,
	.caps = sock_caps,
	.facts = sock_facts,
	.nic = sock_nic,
	.close = sock_close,
	.reg = driver_no_reg,
	.unreg = driver_no_unreg,
	.ep_open = sock_ep_open,
	.ep_addr = sock_ep_addr,
	.ep_connect = sock_ep_connect,
	.ep_close = sock_ep_close,
	.ep_cut = sock_ep_cut,
	.prepare = sock_prepare,
	.tx_slot = sock_tx_slot,
	.rx_slot = sock_rx_slot,
	.post = sock_post,
	.post_rx = sock_post_rx,
	.finish = sock_finish,
	.poll = sock_poll,
	.wait = sock_wait,
	.counters = sock_counters,
};
