/* Resolves names and makes TCP connections, each attempt within its own share of the time. */
#include "orch/reach.h"

#include "base/net.h"
#include "base/wait.h"

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

static int connect_one(const struct addrinfo *to, const struct patience *until)
{
	const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = net_connect(fd, to->ai_addr, to->ai_addrlen, until);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int connect_any(const struct addrinfo *list, int64_t share_ns, const struct patience *until)
{
	int fd = -EHOSTUNREACH;

	for (; list && fd < 0 && fd != -EINTR; list = list->ai_next) {
		const struct patience share = wait_sooner(until, share_ns);

		fd = connect_one(list, &share);
	}
	return fd;
}
