/* TCP connections of the socket driver: the active side connects and shows a token, the passive side sorts by token. */
#include "driver/sock.h"

#include "base/clock.h"
#include "base/net.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRANGERS   64 /* accepted connections that have not shown their token yet; more wait in the backlog */
#define STRANGER_NS 2000000000LL /* and how long each may take */
#define MIN_BACKLOG 16

struct token { /* the first bytes of every connection, little-endian on all hosts that this runs on */
	uint64_t nonce;
	uint32_t worker, index;
};

struct stranger {
	int fd;
	size_t got; /* bytes of the token */
	int64_t until_ns;
	struct token token;
};

struct sock_accept {
	int fd;
	struct sockaddr_storage address;
	unsigned strangers;
	struct stranger stranger[STRANGERS];
	unsigned qps;
	int arrived
		[]; /* connections whose token named an endpoint that has not asked for it yet, by index; -1 = none */
};

void sock_accept_close(struct sock_accept *a)
{
	if (!a)
		return;
	for (unsigned i = 0; i < a->qps; i++)
		if (a->arrived[i] >= 0)
			close(a->arrived[i]);
	for (unsigned i = 0; i < a->strangers; i++)
		close(a->stranger[i].fd);
	if (a->fd >= 0)
		close(a->fd);
	free(a);
}

const struct sockaddr_storage *sock_accept_address(const struct sock_accept *a)
{
	return &a->address;
}

static int listen_here(struct sock_port *p, struct sock_accept *a, struct error *err)
{
	const uint64_t port = p->spec->data_port ? p->spec->data_port + p->worker : 0;
	socklen_t len = sizeof(a->address);
	int rc;

	a->fd = sock_socket(p, SOCK_STREAM | SOCK_NONBLOCK, err);
	if (a->fd < 0)
		return a->fd;
	sock_set(a->fd, SOL_SOCKET, SO_REUSEADDR, 1);
	rc = sock_bind(p, a->fd, port, err);
	if (rc < 0)
		return rc;
	/* the kernel cuts the backlog at net.core.somaxconn: more connections than that are accepted as they come */
	if (listen(a->fd, p->qps > MIN_BACKLOG ? (int)p->qps : MIN_BACKLOG) < 0 ||
	    getsockname(a->fd, (struct sockaddr *)&a->address, &len) < 0)
		return sock_fail(err, -errno, "listen for data connections on", &p->here);
	return 0;
}

static int accept_open(struct sock_port *p, struct error *err)
{
	struct sock_accept *a = calloc(1, sizeof(*a) + p->qps * sizeof(a->arrived[0]));
	int rc;

	if (!a)
		return error_sys(err, -ENOMEM, "cannot keep %u data connections", p->qps);
	a->qps = p->qps;
	for (unsigned i = 0; i < a->qps; i++)
		a->arrived[i] = -1;
	rc = listen_here(p, a, err);
	if (rc < 0)
		sock_accept_close(a);
	else
		p->accept = a;
	return rc;
}

int sock_tcp_ep_open(struct sock_ep *ep, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);

	return p->active || p->accept ? 0 : accept_open(p, err);
}

static int connect_to(struct sock_ep *ep, const struct sock_addr *peer, int64_t deadline_ns, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);
	const struct token token = { .nonce = peer->nonce, .worker = peer->worker, .index = peer->index };
	const struct patience until = { .clock = p->clock, .deadline_ns = deadline_ns, .interrupted = p->conf.gone };
	int rc;

	ep->fd = sock_socket(p, SOCK_STREAM | SOCK_NONBLOCK, err);
	if (ep->fd < 0)
		return ep->fd;
	if (p->spec->device[0]) { /* else routing chooses */
		rc = sock_bind(p, ep->fd, 0, err);
		if (rc < 0)
			return rc;
	}
	rc = net_connect(ep->fd, (const struct sockaddr *)&peer->address, net_len(&peer->address), &until);
	if (rc == 0 && send(ep->fd, &token, sizeof(token), MSG_NOSIGNAL) != sizeof(token))
		rc = errno ? -errno : -EIO;
	if (rc == -EINTR)
		return port_peer(&p->conf, err);
	if (rc < 0)
		return sock_fail(err, rc, "open a data connection to", &peer->address);
	ep->peer = peer->address;
	return 0;
}

static void stranger_drop(struct sock_accept *a, unsigned i)
{
	close(a->stranger[i].fd);
	a->stranger[i] = a->stranger[--a->strangers];
}

/* Takes what has arrived of a token; false when the connection is to be dropped. */
static bool stranger_read(struct sock_port *p, struct stranger *s)
{
	uint8_t *bytes = (uint8_t *)&s->token;
	const ssize_t got = recv(s->fd, bytes + s->got, sizeof(s->token) - s->got, MSG_DONTWAIT);

	if (got > 0)
		s->got += (size_t)got;
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		return false;
	if (s->got < sizeof(s->token))
		return clock_now(p->clock) < s->until_ns;
	return s->token.nonce == p->nonce && s->token.worker == p->worker && s->token.index < p->qps &&
	       p->accept->arrived[s->token.index] < 0;
}

static void strangers_sort(struct sock_port *p)
{
	struct sock_accept *a = p->accept;
	unsigned i = 0;

	while (i < a->strangers) {
		struct stranger *s = &a->stranger[i];

		if (!stranger_read(p, s)) {
			stranger_drop(a, i);
		} else if (s->got == sizeof(s->token)) {
			a->arrived[s->token.index] = s->fd;
			*s = a->stranger[--a->strangers];
		} else {
			i++;
		}
	}
}

/* Until something arrives at the listening socket or from a stranger, at most a tenth of a second. */
static int arrivals_await(struct sock_port *p, int64_t deadline_ns)
{
	struct sock_accept *a = p->accept;
	struct pollfd fds[STRANGERS + 1];
	const int64_t left = deadline_ns - clock_now(p->clock);
	const struct timespec time = { .tv_nsec = left < 100000000 ? left : 100000000 };
	nfds_t n = 0;

	if (left <= 0)
		return -ETIMEDOUT;
	for (unsigned i = 0; i < a->strangers; i++)
		fds[n++] = (struct pollfd){ .fd = a->stranger[i].fd, .events = POLLIN };
	if (a->strangers < STRANGERS)
		fds[n++] = (struct pollfd){ .fd = a->fd, .events = POLLIN };
	return ppoll(fds, n, &time, NULL) < 0 && errno != EINTR ? -errno : 0;
}

/* Conditions of one connection that failed before it was accepted, not of the listening socket. */
static bool accept_again(int error)
{
	return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN ||
	       error == EHOSTUNREACH || error == ENETUNREACH;
}

static int accept_all(struct sock_port *p, struct error *err)
{
	struct sock_accept *a = p->accept;

	while (a->strangers < STRANGERS) {
		const int fd = accept4(a->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			return accept_again(errno) ? 0
						   : sock_fail(err, -errno, "accept a data connection on", &a->address);
		a->stranger[a->strangers++] =
			(struct stranger){ .fd = fd, .until_ns = clock_now(p->clock) + STRANGER_NS };
	}
	return 0;
}

static int accept_from(struct sock_ep *ep, int64_t deadline_ns, struct error *err)
{
	struct sock_port *p = sock_port_of(ep);
	struct sock_accept *a = p->accept;
	socklen_t len = sizeof(ep->peer);
	char name[SOCK_NAME_MAX];
	int rc;

	while (a->arrived[ep->base.index] < 0) {
		rc = port_peer(&p->conf, err);
		if (rc < 0)
			return rc;
		rc = arrivals_await(p, deadline_ns);
		if (rc == 0)
			rc = accept_all(p, err);
		if (rc == -ETIMEDOUT)
			return error_set(
				err, rc,
				"data connection %u did not arrive at %s in time: a firewall may drop the data "
				"port, see --data_port",
				ep->base.index, sock_name(&a->address, name));
		if (rc < 0)
			return sock_fail(err, rc, "wait for data connections on", &a->address);
		strangers_sort(p);
	}
	ep->fd = a->arrived[ep->base.index];
	a->arrived[ep->base.index] = -1;
	if (getpeername(ep->fd, (struct sockaddr *)&ep->peer, &len) < 0)
		return sock_fail(err, -errno, "use a data connection that arrived at", &a->address);
	return 0;
}

int sock_tcp_connect(struct sock_ep *ep, const struct sock_addr *peer, int64_t deadline_ns, struct error *err)
{
	const bool active = sock_port_of(ep)->active;
	int rc, flags;

	rc = active ? connect_to(ep, peer, deadline_ns, err) : accept_from(ep, deadline_ns, err);
	if (rc < 0)
		return rc;
	flags = fcntl(ep->fd, F_GETFL);
	if (flags < 0 || fcntl(ep->fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
	    (rc = sock_set(ep->fd, IPPROTO_TCP, TCP_NODELAY, 1)) < 0)
		return sock_fail(err, rc < 0 ? rc : -errno, "set up the data connection with", &ep->peer);
	return 0;
}
