/* Waits for events of the connection manager, each with a deadline. */
#include "driver/ibv_cm.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>

int ib_cm_failed(const struct ib_port *p, const char *call, const char *what, struct error *err)
{
	return ib_fail(err, errno, call, "rdma_cm on %s: %s", p->name, what);
}

void ib_cm_ack(const struct ib_port *p, struct rdma_cm_event *event)
{
	errno = 0;
	if (rdma_ack_cm_event(event))
		ib_kept(p, errno ? errno : EIO, "rdma_ack_cm_event", "an rdma_cm event");
}

/*
 * Both ends connect at the same time and a peer that failed sends no event: it tells so over the control connection,
 * once this end is back there.
 */
#define CM_PATIENCE_NS 5000000000
#define SLICE_NS       200000000 /* how late a lost peer is noticed */

static bool is_failure(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_ADDR_ERROR || type == RDMA_CM_EVENT_ROUTE_ERROR ||
	       type == RDMA_CM_EVENT_CONNECT_ERROR || type == RDMA_CM_EVENT_UNREACHABLE ||
	       type == RDMA_CM_EVENT_REJECTED || type == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

/* Sleeps until the channel may have an event, or the deadline has passed or the peer is gone. */
static int wait_readable(const struct ib_port *p, int64_t deadline_ns, const char *what, struct error *err)
{
	int64_t left = deadline_ns - clock_now(p->conf.clock);
	struct pollfd fd = { .fd = p->cm->channel->fd, .events = POLLIN };
	const struct timespec limit = { .tv_nsec = left < SLICE_NS ? left : SLICE_NS };

	if (left <= 0)
		return error_set(err, -ETIMEDOUT, "rdma_cm on %s: the peer did not answer in time (waiting for %s)",
				 p->name, what);
	if (ppoll(&fd, 1, &limit, NULL) < 0 && errno != EINTR)
		return ib_cm_failed(p, "ppoll", "cannot wait for an event", err);
	return port_peer(&p->conf, err);
}

/* Any event, before the deadline; the caller acknowledges it. */
static int next_event(const struct ib_port *p, const char *what, int64_t deadline_ns, struct rdma_cm_event **ret,
		      struct error *err)
{
	while (rdma_get_cm_event(p->cm->channel, ret)) {
		int rc;

		if (errno != EAGAIN && errno != EINTR)
			return ib_cm_failed(p, "rdma_get_cm_event", "cannot take an event", err);
		rc = wait_readable(p, deadline_ns, what, err);
		if (rc)
			return rc;
	}
	return 0;
}

int ib_cm_wait(const struct ib_port *p, const struct rdma_cm_id *id, enum rdma_cm_event_type want, int64_t deadline_ns,
	       struct rdma_cm_event **ret, struct error *err)
{
	int64_t patience = clock_now(p->conf.clock) + CM_PATIENCE_NS;

	deadline_ns = deadline_ns < patience ? deadline_ns : patience;
	for (;;) {
		struct rdma_cm_event *event;
		int rc = next_event(p, rdma_event_str(want), deadline_ns, &event, err);

		if (rc)
			return rc;
		if (event->event == want && (!id || event->id == id)) {
			*ret = event;
			return 0;
		}
		if (id && event->id == id && is_failure(event->event))
			rc = error_set(err, -ECONNREFUSED, "rdma_cm on %s: %s (status %d) instead of %s", p->name,
				       rdma_event_str(event->event), event->status, rdma_event_str(want));
		ib_cm_ack(p, event);
		if (rc)
			return rc;
	}
}

int ib_cm_expect(const struct ib_port *p, const struct rdma_cm_id *id, enum rdma_cm_event_type want,
		 int64_t deadline_ns, struct error *err)
{
	struct rdma_cm_event *event;
	int rc = ib_cm_wait(p, id, want, deadline_ns, &event, err);

	if (!rc)
		ib_cm_ack(p, event);
	return rc;
}
