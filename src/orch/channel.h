/* What the command that was typed and rank 0 say to each other through mpirun: frames on rank 0's stdin and stdout. */
#ifndef ORCH_CHANNEL_H
#define ORCH_CHANNEL_H

#include "base/buf.h"
#include "base/error.h"
#include "orch/frame.h"

struct patience;

/*
 * To rank 0: FRAME_BCAST, the job; FRAME_NOTE NOTE_STOP. From it: FRAME_WELCOME (struct hello) once all ranks are joined;
 * FRAME_NOTE of a kind below; FRAME_GATHER, u32 rank and its part; FRAME_REFUSED, the end: u32 code and sentence.
 */
enum channel_note { CHANNEL_STEP = 1, CHANNEL_PROGRESS, CHANNEL_TOTAL, CHANNEL_BITS, CHANNEL_MESSAGES, CHANNEL_LIVE };

struct channel {
	int in, out;
	struct frame_reader reader;
};

void channel_init(struct channel *channel, int in, int out);
void channel_release(struct channel *channel);
int channel_send(struct channel *channel, enum frame_type type, const struct buf *payload, const struct patience *until,
		 struct error *err);
int channel_note(struct channel *channel, uint32_t kind, uint64_t value, const struct patience *until,
		 struct error *err);
/* The next frame. -ECHILD without a sentence: the other end has closed; -ETIMEDOUT, -EINTR likewise. */
int channel_take(struct channel *channel, unsigned *ret_type, struct buf *ret, const struct patience *until,
		 struct error *err);

#endif
