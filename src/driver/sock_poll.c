/* Completions of the socket driver: what was accepted and what arrived, on one endpoint or on many, and sleeping for it. */
#include "driver/sock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/time.h>

#define FEW          4 /* up to so many receiving endpoints are simply tried in turn; more are asked for by epoll */
#define READY        64 /* endpoints that one epoll_wait names */
#define SLEEP_MIN_NS 1000000LL /* shorter sleeps go by ppoll; the socket's own time-out may last a timer tick longer */
#define SLEEP_MAX_NS (1LL << 30)

static int watch(struct sock_port *p, struct sock_ep *ep, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = ep };

	if (p->epoll_fd < 0)
		p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll_fd < 0)
		return sock_fail(err, -errno, "watch the data connections", NULL);
	if (epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, ep->fd, &event) < 0)
		return error_sys(err, -errno, "cannot watch data connection %u", ep->base.index);
	return 0;
}

int sock_expect(struct sock_ep *ep, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);
	int rc;

	if (ep->rx_on)
		return 0;
	rc = p->qps > FEW ? watch(p, ep, err) : 0;
	if (rc < 0)
		return rc;
	ep->rx_on = true;
	p->rx[p->rx_count++] = ep;
	return 0;
}

static int take_tx(struct sock_port *p, struct done *done, int max)
{
	int n = 0;

	while (n < max && p->done_count) {
		struct sock_ep *ep = p->done[--p->done_count];

		done[n++] = (struct done){ .ep = &ep->base, .count = ep->tx_done, .kind = DONE_TX };
		ep->tx_done = 0;
	}
	return n;
}

/* What one endpoint has: an entry more, none, or negative errno. */
static int take_rx(struct sock_port *p, struct sock_ep *ep, struct done *done)
{
	int got = (int)ep->rx_done;

	ep->rx_done = 0;
	if (!got)
		got = p->kind->receive(ep, MSG_DONTWAIT);
	if (got <= 0)
		return got;
	*done = (struct done){ .ep = &ep->base, .count = (unsigned)got, .kind = DONE_RX };
	return 1;
}

static int take_rx_few(struct sock_port *p, struct done *done, int max)
{
	int n = 0;

	for (unsigned i = 0; i < p->rx_count && n < max; i++) {
		struct sock_ep *ep = p->rx[p->rx_next];
		const int rc = take_rx(p, ep, &done[n]);

		if (rc < 0)
			return rc;
		n += rc;
		p->rx_next = p->rx_next + 1 == p->rx_count ? 0 : p->rx_next + 1;
	}
	return n;
}

/* The kernel names ready endpoints in turn, so that none starves when there are more than one call can name. */
static int take_rx_many(struct sock_port *p, struct done *done, int max)
{
	struct epoll_event ready[READY];
	const int count = epoll_wait(p->epoll_fd, ready, max < READY ? max : READY, 0);
	int n = 0;

	if (count < 0)
		return errno == EINTR ? 0
				      : sock_fail(&p->base.err, -errno, "ask which data connections are ready", NULL);
	for (int i = 0; i < count; i++) {
		const int rc = take_rx(p, ready[i].data.ptr, &done[n]);

		if (rc < 0)
			return rc;
		n += rc;
	}
	return n;
}

static int reap_all(struct sock_port *p)
{
	int rc = 0;

	for (unsigned i = 0; i < p->eps && rc == 0; i++)
		if (p->ep[i] && p->ep[i]->zerocopy)
			rc = sock_zerocopy_reap(p->ep[i]);
	return rc;
}

int sock_poll(struct port *port, struct done *done, int max)
{
	struct sock_port *p = (struct sock_port *)port;
	int n, rc;

	if (p->zerocopy && (rc = reap_all(p)) < 0)
		return rc;
	n = take_tx(p, done, max);
	if (!p->rx_count || n == max)
		return n;
	if (p->skip && !p->rx[0]->rx_done) {
		p->skip = n > 0;
		return n;
	}
	rc = p->epoll_fd < 0 ? take_rx_few(p, done + n, max - n) : take_rx_many(p, done + n, max - n);
	return rc < 0 ? rc : n + rc;
}

static int sleep_on(struct sock_port *p, nfds_t n, int64_t timeout_ns)
{
	const struct timespec time = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };

	if (ppoll(p->fds, n, &time, NULL) < 0 && errno != EINTR)
		return sock_fail(&p->base.err, -errno, "wait for the data connections", NULL);
	return 0;
}

/* The receive time-out is set anew only when it is more than twice what is asked for, or less than half of it. */
static int set_timeout(struct sock_ep *ep, int64_t timeout_ns)
{
	const int64_t wanted = timeout_ns < SLEEP_MAX_NS ? timeout_ns : SLEEP_MAX_NS;
	struct timeval time;

	if (ep->timeout_ns <= wanted && ep->timeout_ns > wanted / 2)
		return 0;
	ep->timeout_ns = INT64_C(1) << (63 - __builtin_clzll((unsigned long long)wanted));
	time = (struct timeval){ .tv_sec = ep->timeout_ns / 1000000000, .tv_usec = ep->timeout_ns % 1000000000 / 1000 };
	if (setsockopt(ep->fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) < 0)
		return sock_fail(&sock_port_of(ep)->base.err, -errno, "set the time-out of the data connection with",
				 &ep->peer);
	return 0;
}

/* One endpoint: a blocking receive costs one system call where poll and receive cost two; poll() reports what it got. */
static int wait_receive(struct sock_port *p, struct sock_ep *ep, int64_t timeout_ns)
{
	int rc = set_timeout(ep, timeout_ns);

	if (rc < 0)
		return rc;
	rc = p->kind->receive(ep, 0);
	if (rc < 0)
		return rc;
	ep->rx_done = (unsigned)rc;
	return 0;
}

/* Adds what the sending endpoints wait for: room, or (POLLERR, always watched) notices that sends are through. */
static nfds_t add_sending(struct sock_port *p, nfds_t n)
{
	for (unsigned i = 0; i < p->eps; i++) {
		const struct sock_ep *ep = p->ep[i];

		if (!ep)
			continue;
		if (ep->zerocopy && sock_zerocopy_pending(ep->zerocopy))
			p->fds[n++] = (struct pollfd){ .fd = ep->fd };
		else if (ep->tx_blocked)
			p->fds[n++] = (struct pollfd){ .fd = ep->fd, .events = POLLOUT };
	}
	return n;
}

static nfds_t add_receiving(struct sock_port *p, nfds_t n)
{
	if (p->epoll_fd >= 0) {
		p->fds[n++] = (struct pollfd){ .fd = p->epoll_fd, .events = POLLIN };
		return n;
	}
	for (unsigned i = 0; i < p->rx_count; i++)
		p->fds[n++] = (struct pollfd){ .fd = p->rx[i]->fd, .events = POLLIN };
	return n;
}

/* Whether to sleep inside a receive call: one endpoint receives, none waits for room, and the time-out is not too short. */
static bool sleeps_in_receive(const struct sock_port *p, int64_t timeout_ns)
{
	return p->rx_count == 1 && timeout_ns >= SLEEP_MIN_NS && !(p->eps == 1 && p->ep[0]->tx_blocked);
}

/*
 * Nothing is done or blocked on either side: there is something to do at once, or there never will be.
 * A sleeping ping-pong waits for the other side's message: its own completion, which poll would give at once, comes
 * with that message and does not cut the sleep short.
 */
int sock_wait(struct port *port, int64_t timeout_ns)
{
	struct sock_port *p = (struct sock_port *)port;
	nfds_t n;

	if ((p->rx_count == 1 && p->rx[0]->rx_done) || timeout_ns <= 0)
		return 0;
	if (p->lazy && sleeps_in_receive(p, timeout_ns))
		return wait_receive(p, p->rx[0], timeout_ns);
	if (p->done_count)
		return 0;
	n = add_sending(p, 0);
	if (n == 0 && sleeps_in_receive(p, timeout_ns))
		return wait_receive(p, p->rx[0], timeout_ns);
	n = add_receiving(p, n);
	return n ? sleep_on(p, n, timeout_ns) : 0;
}
