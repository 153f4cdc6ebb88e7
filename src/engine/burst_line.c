/* Keeps account of the bursts of a worker: when slots are due, which are left out, what is under way, and when it is done. */
#include "engine/burst_line.h"

#include "base/pages.h"
#include "engine/engine.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MIN   16u /* bursts under way at once */
#define OPEN_MAX   1024u
#define TIGHT_NS   20000
#define WAKE_TRIES 16
#define WAKE_NS    50000 /* sleep of a try */
#define WAKE_MIN   60000
#define WAKE_MAX   1000000

bool burst_in_window(const struct flow *flow, int64_t due)
{
	return flow->phase.measure && due >= flow->phase.begin_ns && due < flow->phase.end_ns;
}

/* --- making --- */

/* How late a sleep ends on this host, with something on top. */
static int64_t measure_wake(const struct clock *clock)
{
	int64_t worst = 0;

	for (unsigned i = 0; i < WAKE_TRIES; i++) {
		const int64_t begun = clock_now(clock);
		int64_t late;

		ppoll(NULL, 0, &(struct timespec){ .tv_nsec = WAKE_NS }, NULL);
		late = clock_now(clock) - begun - WAKE_NS;
		worst = late > worst ? late : worst;
	}
	worst += worst / 4;
	return worst < WAKE_MIN ? WAKE_MIN : worst > WAKE_MAX ? WAKE_MAX : worst;
}

static uint32_t ring_size(const struct spec *spec)
{
	const uint64_t wanted = spec->burst_size ? spec->tx_depth / spec->burst_size + 2 : OPEN_MIN;
	uint32_t size = OPEN_MIN;

	while (size < wanted && size < OPEN_MAX)
		size *= 2;
	return size;
}

static void lay_out(struct flow *flow, struct bursts *b, uint32_t ring)
{
	struct burst_open *open = b->memory;
	struct burst_part *part = (struct burst_part *)(open + (size_t)b->lines * ring);
	const uint32_t count = flow->qps / b->lines;

	for (uint32_t i = 0; i < b->lines; i++)
		b->line[i] = (struct burst_line){ .first = i * count, .count = count, .open = open + (size_t)i * ring };
	for (uint32_t i = 0; i < flow->qps; i++)
		b->lane[i] = (struct burst_lane){ .line = i / count, .part = part + (size_t)i * ring };
	b->mask = ring - 1;
}

void burst_free(struct flow *flow)
{
	struct bursts *b = flow->bursts;

	if (!b)
		return;
	free(b->line);
	free(b->lane);
	free(b->memory);
	free(b);
	flow->bursts = NULL;
}

int burst_make(struct flow *flow)
{
	const struct spec *spec = flow->spec;
	const uint32_t ring = ring_size(spec);
	struct bursts *b;

	burst_free(flow);
	b = flow->bursts = calloc(1, sizeof(*b));
	if (b) {
		b->lines = spec->burst_profile == BURST_STORAGE ? flow->qps : 1;
		b->line = calloc(b->lines, sizeof(*b->line));
		b->lane = calloc(flow->qps, sizeof(*b->lane));
		b->memory = calloc(ring, b->lines * sizeof(struct burst_open) + flow->qps * sizeof(struct burst_part));
	}
	if (!flow->result->bursts)
		flow->result->bursts = burst_stats_new();
	if (!b || !b->line || !b->lane || !b->memory || !flow->result->bursts)
		return error_set(&flow->error, -ENOMEM, "no memory for the bursts of %u queue pairs", flow->qps);
	pages_touch(b->memory, ring * (b->lines * sizeof(struct burst_open) + flow->qps * sizeof(struct burst_part)));
	lay_out(flow, b, ring);
	b->depth = (uint32_t)spec->tx_depth;
	b->batch = (uint32_t)spec->post_batch;
	b->first_batch =
		transport_is_socket(spec->transport) ? 1 : b->batch; /* a call is long: the first one is to be short */
	b->wake_ns = measure_wake(flow->clock);
	return 0;
}

/* --- slots --- */

/* The others have slots at the same instants everywhere; those of storage are drawn apart for each queue pair. */
static uint64_t stream_of(const struct flow *flow, uint32_t line)
{
	return flow->stream + (uint64_t)flow->index * RESULT_QPS + line;
}

void burst_start(struct flow *flow)
{
	struct bursts *b = flow->bursts;
	int64_t step;

	for (uint32_t i = 0; i < b->lines; i++) {
		burst_grid_init(&b->line[i].grid, flow->spec, stream_of(flow, i), flow->phase.start_ns);
		b->line[i].before = 0;
		b->line[i].rung0_ns = 0;
	}
	b->follow = flow->spec->burst_profile != BURST_STORAGE;
	flow->result->bursts->by_device = b->by_device = flow->caps.paces;
	if (b->by_device)
		burst_device_start(flow, b);
	step = (int64_t)(b->line[0].grid.step >> 64) / b->lines;
	b->tight_ns = step / 4 < TIGHT_NS ? step / 4 : TIGHT_NS;
	burst_choose(flow);
}

/* By count each line has so many slots; by time those that are due before the traffic ends. */
bool burst_has_slot(const struct flow *flow, const struct burst_grid *grid)
{
	if (flow->phase.quota)
		return grid->number < flow->spec->burst_count;
	return burst_due(grid) < flow->phase.stop_ns;
}

void burst_choose(struct flow *flow)
{
	struct bursts *b = flow->bursts;

	b->next_ns = INT64_MAX;
	b->shift_ns = b->follow ? flow_shift(flow->control, burst_due(&b->line[0].grid)) : 0;
	for (uint32_t i = 0; i < b->lines; i++) {
		struct burst_line *line = &b->line[i];

		if (b->by_device && !burst_device_due(flow, line))
			continue;
		if (burst_due(&line->grid) + b->shift_ns >= b->next_ns || !burst_has_slot(flow, &line->grid))
			continue;
		b->next = i;
		b->next_ns = burst_due(&line->grid) + b->shift_ns;
	}
}

bool burst_has_room(const struct flow *flow, const struct burst_line *line)
{
	const struct bursts *b = flow->bursts;

	if (line->on || line->tail - line->head > b->mask)
		return false;
	for (uint32_t i = line->first; i < line->first + line->count; i++)
		if (flow->eps[i].outstanding + flow->spec->burst_size > b->depth)
			return false;
	return true;
}

/* Slots of a line, but no more than so many, that are due before an instant, which has passed. */
static uint64_t due_before(const struct burst_line *line, int64_t ns, uint64_t most)
{
	struct burst_grid grid = line->grid;

	burst_grid_skip(&grid, ns - 1);
	while (burst_due(&grid) < ns)
		burst_grid_next(&grid);
	return grid.number - line->grid.number < most ? grid.number - line->grid.number : most;
}

/* Those that have passed while the worker was away, of which by count there are no more than asked for. */
static void skip(const struct flow *flow, struct burst_line *line, int64_t now)
{
	const struct phase *phase = &flow->phase;
	struct burst_stats *stats = flow->result->bursts;
	struct burst_grid to = line->grid;
	uint64_t count = burst_grid_skip(&to, now), kept;

	if (!count)
		return;
	if (phase->quota && to.number > flow->spec->burst_count) {
		to.number = flow->spec->burst_count;
		count = to.number - line->grid.number;
	}
	kept = due_before(line, phase->end_ns < now ? phase->end_ns : now, count) -
	       due_before(line, phase->begin_ns < now ? phase->begin_ns : now, count);
	stats->slots += phase->measure ? kept : 0;
	stats->skipped += phase->measure ? kept : 0;
	line->grid = to;
}

static void open_burst(const struct flow *flow, struct burst_line *line, bool keep)
{
	const struct bursts *b = flow->bursts;
	const bool timed = line->grid.length_ns > 0;
	const int64_t due = burst_due(&line->grid) + b->shift_ns;
	const uint32_t unposted = timed ? UINT32_MAX : (uint32_t)flow->spec->burst_size;
	const uint32_t peers = flow->peers && line->count >= flow->peers ? flow->peers : 1;

	line->tail++;
	*burst_current(b, line) = (struct burst_open){
		.record = { .number = line->grid.number, .due_ns = due, .qp = b->lines > 1 ? line->first : 0 },
		.keep = keep
	};
	line->on = true;
	line->until_ns = timed ? due + line->grid.length_ns : 0;
	line->unposted = timed ? UINT64_MAX : (uint64_t)unposted * line->count;
	line->turn = (uint32_t)((flow->number + line->grid.number) % peers) * (line->count / peers);
	for (uint32_t i = line->first; i < line->first + line->count; i++)
		b->lane[i].unposted = unposted;
}

bool burst_begin(struct flow *flow, struct burst_line *line, int64_t now)
{
	struct burst_stats *stats = flow->result->bursts;
	bool keep, room;

	now -= flow->bursts->shift_ns;
	if (!flow->bursts->by_device)
		skip(flow, line, now);
	if (!burst_has_slot(flow, &line->grid) || burst_due(&line->grid) > now) /* of training a pause may be now */
		return false;
	keep = !flow->bursts->by_device && burst_in_window(flow, burst_due(&line->grid));
	room = burst_has_room(flow, line);
	stats->slots += keep;
	stats->full += keep && !room;
	if (room) {
		open_burst(flow, line, keep);
		flow->bursts->posting++;
	}
	burst_grid_next(&line->grid);
	return room;
}

/* --- what was posted and done --- */

/* The doorbell has rung for the first time in a burst. */
static void rung(struct burst_line *line, struct burst_open *open, int64_t now)
{
	open->record.rung_ns = now;
	if (!open->keep)
		return;
	if (line->rung0_ns == 0)
		line->rung0_ns = now;
	line->rung_ns = now;
}

void burst_posted(struct bursts *b, struct burst_line *line, uint32_t at, uint32_t count, int64_t now)
{
	struct burst_open *open = burst_current(b, line);
	struct burst_lane *lane = &b->lane[at];
	const uint32_t position = line->tail - 1;
	struct burst_part *last = &lane->part[(lane->tail - 1) & b->mask];

	if (!open->record.rung_ns)
		rung(line, open, now);
	open->record.posted_ns = now;
	open->record.messages += count;
	open->left += count;
	b->under_way += count;
	if (!line->until_ns) {
		lane->unposted -= count;
		line->unposted -= count;
	}
	if (lane->head != lane->tail && last->open == position)
		last->left += count;
	else
		lane->part[lane->tail++ & b->mask] = (struct burst_part){ .open = position, .left = count };
}

/* Gaps are those of slots that follow one another. */
static void count_gap(struct burst_line *line, struct burst_stats *stats, const struct burst_record *record)
{
	const int64_t at = stats->by_device ? record->done_ns : record->rung_ns;

	if (line->before && line->before == record->number)
		hist_record(&stats->gap, (uint64_t)(at - line->before_ns));
	line->before = record->number + 1;
	line->before_ns = at;
}

/* Bursts are done in the order in which they began. Of training one may have found no room at all. */
static void close_done(struct flow *flow, struct burst_line *line)
{
	struct bursts *b = flow->bursts;

	while (line->head != line->tail) {
		struct burst_open *open = &line->open[line->head & b->mask];

		if (open->left || !open->ended)
			return;
		line->head++;
		if (b->by_device)
			burst_device_done(flow, line, open);
		if (!open->keep)
			continue;
		if (!open->record.messages) {
			flow->result->bursts->full++;
			continue;
		}
		count_gap(line, flow->result->bursts, &open->record);
		burst_keep(flow->result->bursts, &open->record);
		line->between += open->record.messages;
	}
}

void burst_ended(struct flow *flow, struct burst_line *line)
{
	struct bursts *b = flow->bursts;

	burst_current(b, line)->ended = true;
	line->on = false;
	b->posting--;
	for (uint32_t i = line->first; i < line->first + line->count; i++)
		b->lane[i].unposted = 0;
	close_done(flow, line);
}

void burst_done(struct flow *flow, uint32_t at, uint32_t count, int64_t now)
{
	struct bursts *b = flow->bursts;
	struct burst_lane *lane = &b->lane[at];
	struct burst_line *line = &b->line[lane->line];

	b->under_way -= count < b->under_way ? count : b->under_way;
	while (count && lane->head != lane->tail) {
		struct burst_part *part = &lane->part[lane->head & b->mask];
		struct burst_open *open = &line->open[part->open & b->mask];
		const uint32_t n = count < part->left ? count : part->left;

		part->left -= n;
		open->left -= n;
		open->record.done_ns = now;
		count -= n;
		if (part->left)
			break;
		lane->head++;
	}
	close_done(flow, line);
}

/* What is not completed after all the patience was sent all the same: its slot had a burst. */
static void close_rest(struct flow *flow, struct burst_line *line)
{
	for (uint32_t i = line->head; i != line->tail; i++) {
		struct burst_open *open = &line->open[i & flow->bursts->mask];

		if (open->left)
			open->record.done_ns = 0;
		open->left = 0;
		open->ended = true;
	}
	close_done(flow, line);
}

/* A queue pair's average is that from the first doorbell to the last, whose burst is not part of it. */
void burst_finish(struct flow *flow)
{
	const struct bursts *b = flow->bursts;

	for (uint32_t i = 0; flow->phase.measure && i < b->lines; i++) {
		struct burst_line *line = &b->line[i];
		const uint64_t last = flow->spec->burst_size;

		close_rest(flow, line);
		if (flow->spec->burst_profile == BURST_STORAGE)
			burst_keep_rate(flow->result->bursts, line->between > last ? line->between - last : 0,
					line->rung_ns - line->rung0_ns);
	}
}
