/* Waits for one file descriptor until a deadline. */
#ifndef ORCH_WAIT_H
#define ORCH_WAIT_H

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <time.h>

/* 0 when one of the events (or an error or the end) is there, -ETIMEDOUT at the deadline, or another negative errno. */
static inline int wait_fd(int fd, short events, const struct clock *clock, int64_t deadline_ns)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };
	struct timespec timeout;
	int64_t left;
	int rc;

	while ((left = deadline_ns - clock_now(clock)) > 0) {
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
