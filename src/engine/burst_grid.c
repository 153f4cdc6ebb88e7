/* Computes the slots of bursts: a fixed period, with storage from a phase drawn by lot, or bursts and pauses drawn by lot. */
#include "engine/burst.h"

#define TRAINING_STREAM UINT64_C(0xb0b5) /* of random numbers: the same on all hosts */
#define STORAGE_STREAM  (UINT64_C(1) << 32)

static burst_instant instant(int64_t ns)
{
	return (burst_instant)(uint64_t)ns << 64;
}

/* count units at a rate per second. */
static burst_instant time_of(unsigned __int128 count, uint64_t rate)
{
	const unsigned __int128 time = count * 1000000000u;

	return time / rate << 64 | ((time % rate) << 64) / rate;
}

static void draw_step(struct burst_grid *grid)
{
	const uint64_t span = (uint64_t)grid->pause_span_ns + 1;
	const int64_t extra = (int64_t)((unsigned __int128)lot_draw(&grid->lot) * span >> 64);

	grid->step = instant(grid->length_ns + grid->pause_min_ns + extra);
}

void burst_grid_init(struct burst_grid *grid, const struct spec *spec, uint64_t flow, int64_t start_ns)
{
	*grid = (struct burst_grid){ .due = instant(start_ns) };
	if (spec->burst_profile == BURST_TRAINING) {
		grid->length_ns = spec->burst_ns;
		grid->pause_min_ns = spec->pause_min_ns;
		grid->pause_span_ns = spec->pause_max_ns - spec->pause_min_ns;
		lot_init(&grid->lot, spec->seed, TRAINING_STREAM);
		draw_step(grid);
	} else if (spec->burst_profile == BURST_STORAGE) {
		grid->step = time_of((unsigned __int128)spec->burst_size * spec->size * 8, spec->rate_limit);
		lot_init(&grid->lot, spec->seed, STORAGE_STREAM + flow);
		grid->due += (grid->step >> 32) * (lot_draw(&grid->lot) >> 32);
	} else {
		grid->step = instant(spec_burst_period_ns(spec));
	}
}

void burst_grid_now(struct burst_grid *grid, int64_t now)
{
	grid->step = 0;
	if (grid->due < instant(now))
		grid->due = instant(now);
}

void burst_grid_next(struct burst_grid *grid)
{
	grid->due += grid->step;
	grid->number++;
	if (grid->length_ns)
		draw_step(grid);
}

uint64_t burst_grid_skip(struct burst_grid *grid, int64_t now)
{
	const uint64_t first = grid->number;

	if (grid->length_ns) {
		while (burst_due(grid) + grid->length_ns <= now)
			burst_grid_next(grid);
	} else if (instant(now) >= grid->due + grid->step) {
		const burst_instant passed = (instant(now) - grid->due) / grid->step;

		grid->due += passed * grid->step;
		grid->number += (uint64_t)passed;
	}
	return grid->number - first;
}
