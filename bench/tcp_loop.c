/*
 * The least that a TCP stream costs here: a bare loop that makes the calls that fabperf's bandwidth test makes, and
 * nothing else. tcp_loop SECONDS BYTES_A_CALL RECEIVER_CORE SENDER_CORE prints the bytes received in a second.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
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

struct loop {
	long seconds, bytes, receiver_core, sender_core;
	char *buffer;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int fail(const char *what)
{
	fprintf(stderr, "tcp_loop: %s: %s\n", what, strerror(errno));
	return -1;
}

static int pin(long core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? fail("cannot use the core") : 0;
}

static int send_until_closed(const struct loop *loop, int fd)
{
	const size_t ring = (size_t)loop->bytes;
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	size_t at = 0;

	for (;;) {
		const size_t want = ring - at;
		const ssize_t sent = send(fd, loop->buffer + at, want, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (sent < 0 && errno != EAGAIN)
			return fail("cannot send");
		if (sent > 0)
			at = at + (size_t)sent == ring ? 0 : at + (size_t)sent;
		if (sent < (ssize_t)want && ppoll(&room, 1, NULL, NULL) < 0)
			return fail("cannot wait");
	}
}

static int sender(const struct loop *loop, const struct sockaddr_in *addr)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pin(loop->sender_core) < 0)
		return -1;
	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0)
		return fail("cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return send_until_closed(loop, fd);
}

/* Bytes until the time is over, or negative; what came in the warm-up does not count. */
static double receive(const struct loop *loop, int fd)
{
	const int64_t begin = now_ns() + WARM_UP_NS, end = begin + loop->seconds * 1000000000;
	int64_t now = 0, from = 0;
	uint64_t bytes = 0;

	while (now < end) {
		const ssize_t got = recv(fd, loop->buffer, (size_t)loop->bytes, 0);

		if (got <= 0)
			return fail("cannot receive");
		now = now_ns();
		if (from)
			bytes += (uint64_t)got;
		else if (now >= begin)
			from = now;
	}
	return (double)bytes * 1e9 / (double)(now - from);
}

static double receiver(const struct loop *loop, int listener)
{
	const int fd = accept(listener, NULL, NULL);
	double rate;

	if (fd < 0)
		return fail("cannot accept");
	rate = pin(loop->receiver_core) < 0 ? -1 : receive(loop, fd);
	close(fd);
	return rate;
}

static int run(const struct loop *loop)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	double rate;
	pid_t child;

	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, len) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&addr, &len) < 0)
		return fail("cannot listen");
	child = fork();
	if (child < 0)
		return fail("cannot fork");
	if (child == 0)
		_exit(sender(loop, &addr) < 0);
	rate = receiver(loop, listener);
	if (rate < 0)
		kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (rate >= 0)
		printf("%.0f\n", rate);
	return rate < 0 ? -1 : 0;
}

static long number(const char *word, long max)
{
	char *end;
	const long value = strtol(word, &end, 10);

	return *word == '\0' || *end != '\0' || value < 0 || value > max ? -1 : value;
}

int main(int argc, char **argv)
{
	struct loop loop = { 0 };
	int rc;

	if (argc == 5) {
		loop.seconds = number(argv[1], SECONDS_MAX);
		loop.bytes = number(argv[2], 1 << 30);
		loop.receiver_core = number(argv[3], CPU_SETSIZE - 1);
		loop.sender_core = number(argv[4], CPU_SETSIZE - 1);
	}
	if (loop.seconds <= 0 || loop.bytes <= 0 || loop.receiver_core < 0 || loop.sender_core < 0) {
		fprintf(stderr, "usage: tcp_loop SECONDS BYTES_A_CALL RECEIVER_CORE SENDER_CORE\n");
		return 1;
	}
	loop.buffer = calloc(1, (size_t)loop.bytes);
	rc = loop.buffer ? run(&loop) : fail("no memory");
	free(loop.buffer);
	return rc < 0;
}
