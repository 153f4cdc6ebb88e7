/* Short names for the endpoints of a table: what all hosts' names begin with is left out, the device stands by itself. */
#ifndef REPORT_LABELS_H
#define REPORT_LABELS_H

#include "plan/plan.h"

struct labels {
	const struct plan *plan;
	const uint32_t *endpoint; /* of each row, an index into plan->endpoint */
	uint32_t count;
	size_t prefix; /* bytes that the names of all hosts begin with, numbers left whole; 0: none, or there is one host */
	int host_width, device_width; /* of the longest; 0: no device has a name */
};

void labels_init(struct labels *ret, const struct plan *plan, const uint32_t *endpoint, uint32_t count);
const char *labels_host(const struct labels *labels, uint32_t row);
/* The device, with its GPU where it has one. ret of PLAN_LABEL bytes. */
const char *labels_device(const struct labels *labels, uint32_t row, char *ret);
/* "node*", or "" when nothing is left out. ret of PLAN_LABEL bytes. */
const char *labels_left_out(const struct labels *labels, char *ret);

#endif
