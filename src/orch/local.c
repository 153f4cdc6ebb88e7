/* Starts the server on this machine, and tells whether a host is this machine. */
#include "orch/launch.h"
#include "orch/reach.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An address of either family as IPv6, IPv4 mapped; false for other families. */
static bool as_six(const struct sockaddr *address, struct in6_addr *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (address->sa_family == AF_INET6) {
		*ret = ((const struct sockaddr_in6 *)address)->sin6_addr;
		return true;
	}
	if (address->sa_family != AF_INET)
		return false;
	memcpy(ret->s6_addr, mapped, sizeof(mapped));
	memcpy(ret->s6_addr + sizeof(mapped), &((const struct sockaddr_in *)address)->sin_addr, 4);
	return true;
}

static bool is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static bool is_own(const struct sockaddr *address, const struct ifaddrs *own)
{
	struct in6_addr asked, mine;

	if (!as_six(address, &asked))
		return false;
	if (is_loopback(&asked))
		return true;
	for (; own; own = own->ifa_next)
		if (own->ifa_addr && as_six(own->ifa_addr, &mine) && IN6_ARE_ADDR_EQUAL(&asked, &mine))
			return true;
	return false;
}

bool host_is_local(const char *host)
{
	struct addrinfo *list = NULL;
	struct ifaddrs *own = NULL;
	bool local = false;

	if (!host[0] || connect_resolve(host, 0, &list, NULL))
		return false;
	if (getifaddrs(&own))
		own = NULL;
	for (const struct addrinfo *one = list; one && !local; one = one->ai_next)
		local = is_own(one->ai_addr, own);
	freeaddrinfo(list);
	if (own)
		freeifaddrs(own);
	return local;
}

void own_path(char *ret, size_t size)
{
	const ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
}

int local_start(const struct request *request, const char *bind, const struct clock *clock, struct launch **ret,
		struct error *err)
{
	struct words words = { 0 };
	char own[SPEC_TEXT * 4];

	own_path(own, sizeof(own));
	words_add(&words, "%s", request->server_exe[0] ? request->server_exe : own);
	words_add(&words, "--launched");
	words_add(&words, "--once");
	words_add(&words, "--port=0");
	words_add(&words, "--bind=%s", bind);
	if (strcmp(request->sysfs, "/sys") != 0)
		words_add(&words, "--sysfs=%s", request->sysfs);
	if (request->cuda_lib_path[0])
		words_add(&words, "--cuda_lib_path=%s", request->cuda_lib_path);
	/* The link works also when the file it names was replaced since we started. */
	return launch_spawn(request->server_exe[0] ? request->server_exe : "/proc/self/exe", &words, request->host,
			    false, clock, ret, err);
}

int local_explain(const struct launch *launch, int status, const struct request *request, struct error *err)
{
	const char *what = request->server_exe[0] ? request->server_exe : "fabperf";
	char log[300], how[40];

	launch_log(launch, log, sizeof(log));
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(status));
	return error_set(err, -ECHILD, "the server started on this host ('%s') ended before it was ready (%s): %s",
			 what, how, log[0] ? log : "it wrote nothing to stderr");
}
