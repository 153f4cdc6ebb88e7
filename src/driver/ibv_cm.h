/* Private to the two files that connect by rdma_cm: a port's identifiers and waiting for events. */
#ifndef DRIVER_IBV_CM_H
#define DRIVER_IBV_CM_H

#include "driver/ibv.h"

#include <rdma/rdma_cma.h>

struct ib_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* passive end */
	struct rdma_cm_id **ids; /* by endpoint */
	uint32_t count;
	uint8_t addr[16]; /* IPv6 or IPv4-mapped */
};

/* The call that just failed left its reason in errno. */
int ib_cm_failed(const struct ib_port *p, const char *call, const char *what, struct error *err);

void ib_cm_ack(const struct ib_port *p, struct rdma_cm_event *event);

/*
 * The next event of a type that concerns id (NULL: a listener's); the caller acknowledges it. What comes in between
 * (the passive end's ESTABLISHED of endpoints before) is taken and forgotten.
 */
int ib_cm_wait(const struct ib_port *p, const struct rdma_cm_id *id, enum rdma_cm_event_type want, int64_t deadline_ns,
	       struct rdma_cm_event **ret, struct error *err);
/* The same when nothing of the event is needed. */
int ib_cm_expect(const struct ib_port *p, const struct rdma_cm_id *id, enum rdma_cm_event_type want,
		 int64_t deadline_ns, struct error *err);

#endif
