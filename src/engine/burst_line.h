/* The bursts of a worker while they are under way: lines of slots, what each endpoint has of a burst, and what is done of it. */
#ifndef ENGINE_BURST_LINE_H
#define ENGINE_BURST_LINE_H

#include "engine/burst.h"

#include <stdbool.h>
#include <stdint.h>

struct flow;

/* A burst that has begun and is not done. */
struct burst_open {
	struct burst_record record;
	uint32_t left; /* messages posted and not completed */
	bool ended; /* all is posted */
	bool keep; /* its slot lies in the window */
};

/* Messages of an open burst that an endpoint has posted and that are not completed. */
struct burst_part {
	uint32_t open, left; /* position in its line's ring */
};

struct burst_lane { /* an endpoint */
	uint32_t line;
	uint32_t unposted; /* messages of the current burst to be posted */
	uint32_t head, tail; /* part[head ... tail) */
	struct burst_part *part;
};

/* Endpoints whose bursts begin together: with storage each has a line of its own, else a worker has one. */
struct burst_line {
	struct burst_grid grid;
	uint32_t first, count; /* endpoints */
	uint32_t turn; /* the one that begins */
	bool on; /* a burst is being posted */
	int64_t until_ns; /* training: when it ends; else 0 */
	uint64_t unposted; /* messages of all endpoints to be posted */
	uint32_t head, tail; /* open[head ... tail) */
	struct burst_open *open;
	uint64_t before; /* 1 + number of the burst before, 0: none */
	int64_t before_ns; /* when its doorbell rang */
	int64_t rung0_ns, rung_ns; /* the first and the last doorbell (by_device: completion) in the window, */
	uint64_t between; /* and the messages in between */
};

struct bursts {
	uint32_t lines, mask; /* size of the rings - 1 */
	uint32_t depth, batch, first_batch;
	uint32_t posting; /* lines that are on */
	uint64_t under_way; /* messages */
	bool by_device; /* it paces: bursts are posted as soon as there is room, and only so many that */
	int64_t queued_ns; /* what is in its queue takes no longer than that */
	bool follow; /* slots are rank 0's clock's, and move as this one drifts */
	int64_t shift_ns; /* by which slots are moved now */
	uint32_t next; /* line whose slot is next, */
	int64_t next_ns; /* and when; INT64_MAX: there is none any more */
	int64_t wake_ns; /* a sleep may end so late */
	int64_t tight_ns; /* before a slot nothing else is done for so long */
	struct burst_line *line;
	struct burst_lane *lane;
	void *memory; /* of the rings */
};

static inline struct burst_open *burst_current(const struct bursts *b, const struct burst_line *line)
{
	return &line->open[(line->tail - 1) & b->mask];
}

int burst_make(struct flow *flow); /* -ENOMEM with flow->error */
void burst_start(struct flow *flow); /* at phase.start_ns */
bool burst_in_window(const struct flow *flow, int64_t due);
bool burst_has_slot(const struct flow *flow, const struct burst_grid *grid); /* the next one is a slot of the traffic */
void burst_choose(struct flow *flow); /* the next slot of all lines */
bool burst_has_room(const struct flow *flow, const struct burst_line *line); /* for another burst */
bool burst_begin(struct flow *flow, struct burst_line *line, int64_t now); /* false: the slot has no burst */
void burst_posted(struct bursts *b, struct burst_line *line, uint32_t at, uint32_t count, int64_t now);
void burst_ended(struct flow *flow, struct burst_line *line);
void burst_done(struct flow *flow, uint32_t at, uint32_t count, int64_t now);
void burst_finish(struct flow *flow); /* the figures of the lines */

/* burst_device.c: where the device paces */
void burst_device_start(const struct flow *flow, struct bursts *b);
bool burst_device_due(const struct flow *flow, struct burst_line *line); /* there is room for a burst, if it is time */
void burst_device_done(const struct flow *flow, struct burst_line *line, struct burst_open *open);

#endif
