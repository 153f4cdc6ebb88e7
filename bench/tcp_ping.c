/*
 * The least that a polling TCP ping-pong costs here: a bare loop of the calls that fabperf's latency test makes, send
 * and a receive that does not block, and nothing else. tcp_ping SECONDS SERVER_CORE CLIENT_CORE prints mean and median
 * of half a round trip of one byte, in ns.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP_NS  500000000LL
#define SECONDS_MAX 3600
#define BUCKET_NS   4 /* of a round trip */
#define BUCKETS     (1 << 20) /* the last one takes what is longer */

static uint64_t bucket[BUCKETS];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int fail(const char *what)
{
	fprintf(stderr, "tcp_ping: %s: %s\n", what, strerror(errno));
	return -1;
}

/* Pins the process and sends small messages at once. */
static int settle(int fd, long core)
{
	const int on = 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return fail("cannot use the core");
	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ? fail("cannot switch off Nagle") : 0;
}

/* 1 = a byte arrived, 0 = closed, negative. */
static int await(int fd)
{
	char byte;
	ssize_t got;

	do
		got = recv(fd, &byte, 1, MSG_DONTWAIT);
	while (got < 0 && (errno == EAGAIN || errno == EINTR));
	return got < 0 && errno != ECONNRESET ? fail("cannot receive") : got > 0;
}

static int answer(const struct sockaddr_in *addr, long core)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0)
		return fail("cannot connect");
	if (settle(fd, core) < 0)
		return -1;
	while ((rc = await(fd)) > 0 && send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		;
	return rc < 0 ? -1 : 0;
}

static void print(uint64_t samples, int64_t sum)
{
	uint64_t before = 0;
	size_t at = 0;

	while ((before += bucket[at]) * 2 < samples)
		at++;
	printf("%.1f %.1f\n", (double)sum / (double)samples / 2, ((double)at + 0.5) * BUCKET_NS / 2);
}

static int ask(int fd, int64_t seconds)
{
	const int64_t begin = now_ns() + WARM_UP_NS, end = begin + seconds * 1000000000;
	uint64_t samples = 0;
	int64_t now = 0, sum = 0;

	while (now < end) {
		const int64_t posted = now_ns();
		size_t at;

		if (send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
			return fail("cannot send");
		if (await(fd) <= 0)
			return -1;
		now = now_ns();
		if (posted < begin)
			continue;
		at = (size_t)(now - posted) / BUCKET_NS;
		bucket[at < BUCKETS ? at : BUCKETS - 1]++;
		samples++;
		sum += now - posted;
	}
	print(samples, sum);
	return 0;
}

static int run(long seconds, long server_core, long client_core)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd, rc;
	pid_t child;

	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, len) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&addr, &len) < 0)
		return fail("cannot listen");
	child = fork();
	if (child < 0)
		return fail("cannot fork");
	if (child == 0)
		_exit(answer(&addr, server_core) < 0);
	fd = accept(listener, NULL, NULL);
	rc = fd < 0 ? fail("cannot accept") : settle(fd, client_core);
	if (rc == 0)
		rc = ask(fd, seconds);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return rc;
}

static long number(const char *word, long max)
{
	char *end;
	const long value = strtol(word, &end, 10);

	return *word == '\0' || *end != '\0' || value < 0 || value > max ? -1 : value;
}

int main(int argc, char **argv)
{
	const long seconds = argc == 4 ? number(argv[1], SECONDS_MAX) : -1;
	const long server_core = argc == 4 ? number(argv[2], CPU_SETSIZE - 1) : -1;
	const long client_core = argc == 4 ? number(argv[3], CPU_SETSIZE - 1) : -1;

	if (seconds <= 0 || server_core < 0 || client_core < 0) {
		fprintf(stderr, "usage: tcp_ping SECONDS SERVER_CORE CLIENT_CORE\n");
		return 1;
	}
	return run(seconds, server_core, client_core) < 0;
}
