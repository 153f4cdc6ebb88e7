/* Resolves names and makes TCP connections, each attempt within its own share of the time. */
#include "orch/reach.h"
#include "orch/wait.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int connect_resolve(const char *host, unsigned port, struct addrinfo **ret, struct error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	char service[8];
	int rc;

	snprintf(service, sizeof(service), "%u", port & 0xffff);
	rc = getaddrinfo(host, service, &hints, &list);
	if (rc)
		return error_set(err, -EHOSTUNREACH, "cannot resolve host '%s': %s", host,
				 rc == EAI_SYSTEM ? "the resolver failed" : gai_strerror(rc));
	*ret = list;
	return 0;
}

/* 0 once the connection stands, or a negative errno. */
static int await_connection(int fd, const struct clock *clock, int64_t deadline_ns)
{
	socklen_t len = sizeof(int);
	int code, rc = wait_fd(fd, POLLOUT, clock, deadline_ns);

	if (rc < 0)
		return rc;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) ? -errno : -code;
}

static int connect_one(const struct addrinfo *to, const struct clock *clock, int64_t deadline_ns)
{
	const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, to->ai_addr, to->ai_addrlen))
		rc = errno == EINPROGRESS ? await_connection(fd, clock, deadline_ns) : -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int connect_any(const struct addrinfo *list, const struct clock *clock, int64_t share_ns, int64_t deadline_ns)
{
	int fd = -EHOSTUNREACH;

	for (; list && fd < 0; list = list->ai_next) {
		const int64_t until = clock_now(clock) + share_ns;

		fd = connect_one(list, clock, until < deadline_ns ? until : deadline_ns);
	}
	return fd;
}
