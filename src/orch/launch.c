/* Reaches the server: uses one that listens, else starts one (here, or by ssh elsewhere) and connects to it. */
#include "orch/launch.h"

#include "base/clock.h"
#include "base/net.h"
#include "base/wait.h"
#include "orch/comm.h"
#include "orch/hello.h"
#include "orch/reach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHARE_NS   2000000000LL /* for one address to accept a connection */
#define HELLO_NS   5000000000LL /* for what listens to answer our hello */
#define RETRY_MS   200 /* a busy server is asked again so often */
#define EXPLAIN_NS 2000000000LL /* for a process that closed its stdout to end */
#define NOT_FOUND  (-EAGAIN) /* nothing listens: no failure yet */

struct reach {
	const struct request *request;
	struct patience until;
	struct addrinfo *list; /* of the host name; NULL when it does not resolve: ssh may know it all the same */
	struct error unresolved, unreached; /* why there is no list; why nobody answered there */
};

/* Waits until it is time to try again; false when there is no time left for that. */
static bool pause_before_retry(const struct reach *reach)
{
	if (reach->until.deadline_ns - clock_now(reach->until.clock) <= RETRY_MS * 1000000LL)
		return false;
	poll(NULL, 0, RETRY_MS);
	return true;
}

/* One call of a server at one of the addresses. NOT_FOUND: nobody accepts a connection there; *code says why not. */
static int call(const struct reach *reach, const struct addrinfo *list, struct comm **ret, int *code, struct error *err)
{
	const atomic_int *interrupted = reach->until.interrupted;
	const int fd = interrupted && *interrupted ? -EINTR : connect_any(list, SHARE_NS, &reach->until);
	struct patience hello;

	if (fd == -EINTR)
		return error_set(err, fd, "interrupted");
	if (fd < 0) {
		*code = fd;
		return NOT_FOUND;
	}
	hello = wait_sooner(&reach->until, HELLO_NS);
	return comm_tcp_client(fd, reach->request->host, &hello, ret, err);
}

/* Calls what listens until it has time for us. */
static int call_until_served(const struct reach *reach, const struct addrinfo *list, struct comm **ret, int *code,
			     struct error *err)
{
	for (;;) {
		struct error why = { 0 };
		const int rc = call(reach, list, ret, code, &why);

		if (!rc || rc == NOT_FOUND)
			return rc;
		if ((rc != -EBUSY && rc != -ECONNRESET) || !pause_before_retry(reach))
			return error_set(err, rc, "%s", why.text);
	}
}

/* A server that listens already on the control port. */
static int use_listening(struct reach *reach, struct comm **ret, struct error *err)
{
	const struct request *request = reach->request;
	int code = 0, rc;

	if (!reach->list || !request->control_port)
		return NOT_FOUND;
	rc = call_until_served(reach, reach->list, ret, &code, err);
	if (rc == NOT_FOUND)
		error_sys(&reach->unreached, code, "nothing listens on port %u of host '%s'",
			  (unsigned)request->control_port, request->host);
	return rc;
}

/* The process ended, or closed its stdout, before it was ready. */
static int explain_end(const struct reach *reach, struct launch *launch, struct error *err)
{
	const struct patience until = wait_sooner(&reach->until, EXPLAIN_NS);
	int status;
	const int rc = launch_wait(launch, &until, &status);

	if (rc == -EINTR)
		return error_set(err, rc, "interrupted");
	if (rc)
		return error_set(err, -ECHILD, "the server on host '%s' closed its stdout before it was ready",
				 reach->request->host);
	return (launch->remote ? ssh_explain : local_explain)(launch, status, reach->request, err);
}

static int await_ready(const struct reach *reach, struct launch *launch, struct ready *ret, struct error *err)
{
	int rc = ready_wait(launch, &reach->until, ret, err);

	if (rc == -ECHILD)
		return explain_end(reach, launch, err);
	if (rc == -EINTR)
		return error_set(err, rc, "interrupted");
	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "the server on host '%s' was not ready within %g s (--connect_timeout)",
				 reach->request->host, (double)reach->request->connect_timeout_ns / 1e9);
	if (!rc && ret->protocol != COMM_PROTOCOL)
		return hello_mismatch(ret->protocol, ret->version, reach->request->host, err);
	return rc;
}

/* Connects at the addresses of a name (or number), if it has any, on the port of the server that was started. */
static int call_started(const struct reach *reach, const char *where, unsigned port, struct comm **ret, int *code,
			struct error *err)
{
	struct addrinfo *list = NULL;
	int rc;

	if (connect_resolve(where, port, &list, NULL))
		return NOT_FOUND;
	rc = call_until_served(reach, list, ret, code, err);
	freeaddrinfo(list);
	return rc;
}

/* By the name the user gave; else where ssh says it arrived: the name may be an alias that only ssh knows. */
static int connect_started(const struct reach *reach, const char *where, const struct ready *ready, struct comm **ret,
			   struct error *err)
{
	int code = -EHOSTUNREACH, rc = NOT_FOUND;

	if (where)
		rc = call_started(reach, where, ready->port, ret, &code, err);
	if (rc == NOT_FOUND && strcmp(ready->address, "-"))
		rc = call_started(reach, ready->address, ready->port, ret, &code, err);
	if (rc != NOT_FOUND)
		return rc;
	return error_sys(
		err, code,
		"a server was started on host '%s' but its port %u cannot be reached (a firewall? then start fabperf "
		"there by hand on a port that is let through)",
		reach->request->host, ready->port);
}

/* Whether a server here can listen on the address: /etc/hosts may well name one that is switched off. */
static bool can_listen(const struct addrinfo *address)
{
	const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage any_port = { 0 };
	bool can;

	memcpy(&any_port, address->ai_addr, address->ai_addrlen);
	net_set_port(&any_port, 0);
	can = fd >= 0 && !bind(fd, (const struct sockaddr *)&any_port, address->ai_addrlen);
	if (fd >= 0)
		close(fd);
	return can;
}

/* Numeric form of the host's first address that a server here can listen on. */
static int own_address(const struct reach *reach, char *ret, socklen_t size, struct error *err)
{
	for (const struct addrinfo *one = reach->list; one; one = one->ai_next)
		if (can_listen(one) && !getnameinfo(one->ai_addr, one->ai_addrlen, ret, size, NULL, 0, NI_NUMERICHOST))
			return 0;
	return error_set(err, -EADDRNOTAVAIL, "no address of host '%s' can be listened on: name another of this host's",
			 reach->request->host);
}

static int start_server(const struct reach *reach, char *where, socklen_t size, struct launch **ret, struct error *err)
{
	const struct request *request = reach->request;
	int rc;

	if (!reach->list || !host_is_local(request->host)) {
		snprintf(where, size, "%s", request->host);
		return ssh_start(request, reach->until.clock, reach->until.deadline_ns, ret, err);
	}
	rc = own_address(reach, where, size, err);
	return rc ? rc : local_start(request, where, reach->until.clock, ret, err);
}

static int launch_server(const struct reach *reach, struct comm **ret_comm, struct launch **ret_launch,
			 struct error *err)
{
	struct launch *launch = NULL;
	char where[SPEC_TEXT];
	struct ready ready;
	int rc;

	rc = start_server(reach, where, sizeof(where), &launch, err);
	if (rc < 0)
		return rc;
	rc = await_ready(reach, launch, &ready, err);
	if (!rc)
		rc = connect_started(reach, reach->list ? where : NULL, &ready, ret_comm, err);
	if (!rc) {
		*ret_launch = launch;
		return 0;
	}
	/* What it wrote is in the sentence already when it ended by itself. */
	launch_stop(launch, rc == -ETIMEDOUT ? err : NULL);
	return rc;
}

/* Nothing listens and nothing may be started. */
static int refuse(const struct reach *reach, struct error *err)
{
	const struct error *why = reach->list ? &reach->unreached : &reach->unresolved;

	if (!why->code)
		return error_set(err, -EINVAL, "port 0 names no server: give its --port, or let one be started");
	if (!reach->list)
		return error_set(err, why->code, "%s", why->text);
	return error_set(err, why->code, "%s, and --launch_server forbids to start a server: start fabperf there",
			 why->text);
}

int launch_and_connect(const struct request *request, const struct clock *clock, const atomic_int *interrupted,
		       struct comm **ret_comm, struct launch **ret_launch, struct error *err)
{
	struct reach reach = { .request = request,
			       .until = { .clock = clock,
					  .deadline_ns = clock_now(clock) + request->connect_timeout_ns,
					  .interrupted = interrupted } };
	int rc;

	if (!request->host[0] || request->host[0] == '-')
		return error_set(err, -EINVAL, "'%s' is not a host name or address", request->host);
	connect_resolve(request->host, (unsigned)request->control_port, &reach.list, &reach.unresolved);
	rc = use_listening(&reach, ret_comm, err);
	if (!rc)
		*ret_launch = NULL;
	else if (rc == NOT_FOUND)
		rc = request->launch_server == CHOICE_OFF ? refuse(&reach, err)
							  : launch_server(&reach, ret_comm, ret_launch, err);
	if (reach.list)
		freeaddrinfo(reach.list);
	return rc;
}
