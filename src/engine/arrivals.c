/* Tells by its own clock to which slot's burst a message belongs that has come: the last one that was due. */
#include "engine/arrivals.h"

#include "engine/burst.h"
#include "engine/burst_line.h"
#include "engine/engine.h"
#include "spec/arrivals.h"

#include <errno.h>
#include <stdlib.h>

#define EARLY_NS 5000 /* clocks may differ by so much, or a quarter of a short period */

struct arriving {
	uint64_t number; /* of the slot at hand, */
	int64_t due_ns; /* and when it was due */
	struct burst_grid next; /* the one behind it */
	int64_t early_ns;
	uint64_t seen; /* of flow->received */
};

int arrivals_make(struct flow *flow)
{
	if (!flow->receives || !flow->control->followed || flow->spec->burst_profile == BURST_STORAGE)
		return 0;
	if (!flow->arrivals)
		flow->arrivals = calloc(1, sizeof(*flow->arrivals));
	if (!flow->result->arrivals)
		flow->result->arrivals = burst_arrivals_new();
	if (!flow->arrivals || !flow->result->arrivals)
		return error_set(&flow->error, -ENOMEM, "no memory for the arrivals of bursts");
	return 0;
}

void arrivals_free(struct flow *flow)
{
	free(flow->arrivals);
	flow->arrivals = NULL;
}

static void go_on(struct arriving *a)
{
	a->number = a->next.number;
	a->due_ns = burst_due(&a->next);
	burst_grid_next(&a->next);
}

void arrivals_start(struct flow *flow)
{
	struct arriving *a = flow->arrivals;

	if (!a)
		return;
	burst_grid_init(&a->next, flow->spec, 0, flow->phase.start_ns);
	a->early_ns = (int64_t)(a->next.step >> 64) / 4;
	a->early_ns = a->early_ns < EARLY_NS ? a->early_ns : EARLY_NS;
	a->seen = flow->received;
	go_on(a);
}

void arrivals_take(struct flow *flow)
{
	struct arriving *a = flow->arrivals;
	const int64_t now = clock_now(flow->clock), at = now + a->early_ns - flow_shift(flow->control, now);

	while (burst_due(&a->next) <= at && burst_has_slot(flow, &a->next))
		go_on(a);
	if (burst_in_window(flow, a->due_ns) && flow->received > a->seen)
		burst_arrived(flow->result->arrivals, a->number, now, flow->received - a->seen);
	a->seen = flow->received;
}
