/* Waits for one file descriptor until a deadline or until Ctrl-C. */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define WAIT_SLICE_NS INT64_C(200000000) /* how late Ctrl-C is noticed */

/* How long to wait. */
struct patience {
	const struct clock *clock;
	int64_t deadline_ns; /* of that clock */
	const atomic_int *interrupted; /* set by Ctrl-C; NULL: nothing ends the wait early */
};

/* The same with an earlier deadline: at most ns from now. */
static inline struct patience wait_sooner(const struct patience *until, int64_t ns)
{
	struct patience sooner = *until;
	const int64_t deadline_ns = clock_now(until->clock) + ns;

	if (deadline_ns < until->deadline_ns)
		sooner.deadline_ns = deadline_ns;
	return sooner;
}

/* 0 when one of the events (or an error or the end) is there, -ETIMEDOUT, -EINTR (Ctrl-C), or another negative errno. */
static inline int wait_fd(int fd, short events, const struct patience *until)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };
	struct timespec timeout;
	int64_t left;
	int rc;

	while ((left = until->deadline_ns - clock_now(until->clock)) > 0) {
		if (until->interrupted && *until->interrupted)
			return -EINTR;
		left = left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS;
		timeout = (struct timespec){ .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };
		rc = ppoll(&poll_fd, 1, &timeout, NULL);
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

#endif
