/* Makes and joins the data sockets: TCP and SCTP by a listening port, UDP by a bound one, RDS by addresses exchanged. */
#include "qperf/socket.h"

#include "base/net.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SDP        27 /* AF_INET_SDP: in no header */
#define OURS       0x46410000u /* above the port, for clients that know it: this server is fabperf's */
#define HOST_BYTES 1025 /* a numeric host as rds tests send it */
#define BACKLOG    1

struct kind {
	const char *name;
	int type, protocol;
};

static const struct kind kinds[] = {
	[FAMILY_TCP] = { "TCP", SOCK_STREAM, 0 },    [FAMILY_SCTP] = { "SCTP", SOCK_STREAM, IPPROTO_SCTP },
	[FAMILY_SDP] = { "SDP", SOCK_STREAM, 0 },    [FAMILY_UDP] = { "UDP", SOCK_DGRAM, 0 },
	[FAMILY_RDS] = { "RDS", SOCK_SEQPACKET, 0 },
};

static struct patience patience_of(const struct qperf_run *run)
{
	return (struct patience){ .clock = run->clock,
				  .deadline_ns = clock_now(run->clock) + run->channel->timeout_ns };
}

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

static int set_buffers(const struct qperf_run *run, int fd, struct error *err)
{
	const int bytes = run->params.sock_buf_size > INT32_MAX ? INT32_MAX : (int)run->params.sock_buf_size;

	if (!bytes)
		return 0;
	if (set(fd, SOL_SOCKET, SO_SNDBUF, bytes) < 0 || set(fd, SOL_SOCKET, SO_RCVBUF, bytes) < 0)
		return error_sys(err, -errno, "cannot set the socket's buffers to %d bytes", bytes);
	return 0;
}

static int make(const struct qperf_run *run, int domain, int *ret_fd, struct error *err)
{
	const struct kind *kind = &kinds[run->test->family];
	int fd, rc;

	if (run->test->family == FAMILY_SDP)
		domain = SDP;
	fd = socket(domain, kind->type | SOCK_CLOEXEC, kind->protocol);
	if (fd < 0 && run->test->family == FAMILY_SDP)
		return error_set(err, -errno, "unable to make SDP socket: this kernel has no AF_INET_SDP");
	if (fd < 0)
		return error_sys(err, -errno, "unable to make %s socket", kind->name);
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	rc = set_buffers(run, fd, err);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static int tell_port(struct qperf_run *run, int fd, struct error *err)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	uint32_t port;
	uint8_t data[4];

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return error_sys(err, -errno, "cannot tell the data socket's port");
	port = net_port(&address) | (run->ours && !run->client ? OURS : 0);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(port >> 8 * i);
	return qperf_send(run->channel, data, sizeof(data), "port", err);
}

/* Binds to all addresses: IPv6 with IPv4 in it, else IPv4 alone. */
static int bind_any(const struct qperf_run *run, bool listening, int *ret_fd, struct error *err)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)run->params.port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)run->params.port) };
	const struct sockaddr *any = (const struct sockaddr *)&six;
	socklen_t len = sizeof(six);
	int rc = make(run, AF_INET6, ret_fd, NULL);

	if (rc == 0) {
		set(*ret_fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	} else {
		any = (const struct sockaddr *)&four;
		len = sizeof(four);
		rc = make(run, AF_INET, ret_fd, err);
	}
	if (rc == 0 && (bind(*ret_fd, any, len) < 0 || (listening && listen(*ret_fd, BACKLOG) < 0))) {
		rc = error_sys(err, -errno, "unable to bind to data port %u", run->params.port);
		close(*ret_fd);
	}
	return rc;
}

static int read_port(struct qperf_run *run, struct sockaddr_storage *ret, struct error *err)
{
	uint8_t data[4];
	uint32_t port = 0;
	int rc = qperf_recv(run->channel, data, sizeof(data), "port", err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < sizeof(data); i++)
		port |= (uint32_t)data[i] << 8 * i;
	run->ours = (port & ~0xffffu) == OURS || (!run->client && run->ours);
	port -= run->client && run->ours ? OURS : 0;
	if (port == 0 || port > 65535)
		return error_set(err, -EPROTO, "the server names port %u for the data", port);
	*ret = run->channel->peer; /* not its name again: that may have another address by now */
	net_set_port(ret, (uint16_t)port);
	return 0;
}

static int connect_client(struct qperf_run *run, int *ret_fd, struct error *err)
{
	const struct patience until = patience_of(run);
	struct sockaddr_storage to;
	int fd, flags, rc = read_port(run, &to, err);

	if (rc == 0)
		rc = make(run, to.ss_family, &fd, err);
	if (rc)
		return rc;
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	rc = net_connect(fd, (struct sockaddr *)&to, net_len(&to), &until);
	fcntl(fd, F_SETFL, flags);
	if (rc) {
		close(fd);
		return error_sys(err, rc, "cannot connect to the server's data port %u", net_port(&to));
	}
	*ret_fd = fd;
	return 0;
}

static int accept_server(struct qperf_run *run, int listening, int *ret_fd, struct error *err)
{
	const struct patience until = patience_of(run);
	int rc = wait_fd(listening, POLLIN, &until);

	if (rc)
		return error_set(err, rc, "failed to accept the data connection: timed out");
	*ret_fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	return *ret_fd < 0 ? error_sys(err, -errno, "failed to accept the data connection") : 0;
}

static int open_stream(struct qperf_run *run, int *ret_fd, struct error *err)
{
	int listening, rc;

	if (run->client) {
		rc = connect_client(run, ret_fd, err);
	} else {
		rc = bind_any(run, true, &listening, err);
		if (rc)
			return rc;
		rc = tell_port(run, listening, err);
		if (rc == 0)
			rc = accept_server(run, listening, ret_fd, err);
		close(listening);
	}
	if (rc == 0 && run->test->family == FAMILY_TCP && run->test->figure == SHOW_LATENCY)
		set(*ret_fd, IPPROTO_TCP, TCP_NODELAY, 1);
	return rc;
}

static int open_udp(struct qperf_run *run, int *ret_fd, struct error *err)
{
	int rc;

	if (run->client)
		return connect_client(run, ret_fd, err);
	rc = bind_any(run, false, ret_fd, err);
	return rc ? rc : tell_port(run, *ret_fd, err);
}

/* An address without its port, IPv4 inside IPv6 as such. */
static void plain(const struct sockaddr_storage *address, uint8_t ret[16])
{
	memset(ret, 0, 16);
	if (address->ss_family == AF_INET6) {
		memcpy(ret, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
		return;
	}
	ret[10] = ret[11] = 0xff;
	memcpy(ret + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
}

static bool same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	uint8_t one[16], two[16];

	plain(a, one);
	plain(b, two);
	return !memcmp(one, two, sizeof(one));
}

bool qperf_udp_meet(struct qperf_run *run, int fd)
{
	struct sockaddr_storage from = { 0 };
	char byte;

	while (!qperf_run_over(run)) {
		socklen_t len = sizeof(from);

		if (recvfrom(fd, &byte, 1, MSG_PEEK, (struct sockaddr *)&from, &len) < 0)
			continue;
		if (same_host(&from, &run->channel->peer))
			return connect(fd, (struct sockaddr *)&from, len) == 0;
		recv(fd, &byte, 1, 0);
	}
	return false;
}

/* --- RDS --- */

static int exchange_hosts(struct qperf_run *run, struct sockaddr_storage *own, struct error *err)
{
	char mine[HOST_BYTES] = "", theirs[HOST_BYTES];
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
	struct addrinfo *list = NULL;
	int rc;

	/* Each end tells the other which address it sees it at. */
	if (getnameinfo((struct sockaddr *)&run->channel->peer, run->channel->peer_len, theirs, sizeof(theirs), NULL, 0,
			NI_NUMERICHOST))
		return error_set(err, -EINVAL, "the other end has no numeric address");
	rc = qperf_send(run->channel, theirs, sizeof(theirs), "host name", err);
	if (rc == 0)
		rc = qperf_recv(run->channel, mine, sizeof(mine), "host name", err);
	mine[sizeof(mine) - 1] = '\0';
	if (rc == 0 && (getaddrinfo(strncmp(mine, "::ffff:", 7) ? mine : mine + 7, NULL, &hints, &list) || !list))
		rc = error_set(err, -EPROTO, "'%.60s' is no address of this host", mine);
	if (rc == 0)
		memcpy(own, list->ai_addr, list->ai_addrlen);
	if (list)
		freeaddrinfo(list);
	return rc;
}

static void as_four(struct sockaddr_storage *address)
{
	const struct sockaddr_in6 six = *(const struct sockaddr_in6 *)address;
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = six.sin6_port };

	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
		return;
	memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], 4);
	memset(address, 0, sizeof(*address));
	memcpy(address, &four, sizeof(four));
}

/* qperf's ends meet over TCP first, only to learn each other's addresses. */
static int meet_rds(struct qperf_run *run, struct error *err)
{
	struct qperf_test tcp = *run->test;
	struct qperf_run meeting = *run;
	int fd, rc;

	tcp.family = FAMILY_TCP;
	meeting.test = &tcp;
	meeting.params.sock_buf_size = 0;
	rc = open_stream(&meeting, &fd, err);
	if (rc == 0)
		close(fd);
	return rc;
}

static int open_rds(struct qperf_run *run, int *ret_fd, struct error *err)
{
	struct sockaddr_storage own = { 0 }, peer;
	int fd, rc = meet_rds(run, err);

	if (rc == 0)
		rc = exchange_hosts(run, &own, err);
	if (rc == 0)
		rc = make(run, AF_RDS, &fd, err);
	if (rc)
		return rc;
	net_set_port(&own, (uint16_t)run->params.port);
	if (bind(fd, (struct sockaddr *)&own, net_len(&own)) < 0)
		rc = error_sys(err, -errno, "cannot bind the RDS socket");
	if (rc == 0)
		rc = tell_port(run, fd, err);
	if (rc == 0)
		rc = read_port(run, &peer, err);
	if (rc == 0) {
		as_four(&peer);
		if (connect(fd, (struct sockaddr *)&peer, net_len(&peer)) < 0)
			rc = error_sys(err, -errno, "cannot connect the RDS socket");
	}
	if (rc)
		close(fd);
	else
		*ret_fd = fd;
	return rc;
}

int qperf_socket_open(struct qperf_run *run, int *ret_fd, struct error *err)
{
	switch (run->test->family) {
	case FAMILY_UDP:
		return open_udp(run, ret_fd, err);
	case FAMILY_RDS:
		return open_rds(run, ret_fd, err);
	default:
		return open_stream(run, ret_fd, err);
	}
}
