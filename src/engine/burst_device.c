/* Bursts that the device paces: each is posted as soon as the queue has room, and belongs to the window by its completion. */
#include "engine/burst_line.h"

#include "engine/engine.h"

#define QUEUED_NS 100000000LL /* what waits in the queue: enough that it never runs dry, little enough to end soon */

/* At least two bursts: one that leaves and one that is next. */
void burst_device_start(const struct flow *flow, struct bursts *b)
{
	const uint64_t size = flow->spec->burst_size;
	const int64_t step = (int64_t)(b->line[0].grid.step >> 64) + 1;
	uint64_t bursts = QUEUED_NS / (uint64_t)step;

	bursts = bursts < 2 ? 2 : bursts;
	if (bursts * size < b->depth)
		b->depth = (uint32_t)(bursts * size);
	b->queued_ns = (int64_t)bursts * step;
}

bool burst_device_due(const struct flow *flow, struct burst_line *line)
{
	if (!burst_has_room(flow, line))
		return false;
	burst_grid_now(&line->grid, clock_now(flow->clock));
	return true;
}

void burst_device_done(const struct flow *flow, struct burst_line *line, struct burst_open *open)
{
	const int64_t done = open->record.done_ns;

	open->keep = done && burst_in_window(flow, done);
	if (!open->keep)
		return;
	flow->result->bursts->slots++;
	line->rung0_ns = line->rung0_ns ? line->rung0_ns : done;
	line->rung_ns = done;
}
