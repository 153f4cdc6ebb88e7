/* Where loss begins: bursts of many sizes, what was lost of each, and the buffer that explains it. */
#ifndef MODEL_KNEE_H
#define MODEL_KNEE_H

#include "model/infer.h"

#include <stdbool.h>

#define KNEE_ROUNDS 3 /* powers of two, then twice closer to the knee; only the latter beside another queue */
#define KNEE_SIZES  15 /* most sizes of a closer round */

/* Bursts of one size. */
struct knee_point {
	uint64_t messages; /* of a connection's burst */
	uint64_t sent, lost; /* messages of all senders */
	bool calm; /* a queue beside it was to be full and lost nearly nothing: what was lost here tells nothing */
	uint32_t count; /* bursts of senders whose times are known; 0: not of all */
	struct arrival *arrival;
	double limit; /* that explains the loss; NAN: none lost, or nearly none or nearly all */
	double predicted; /* share lost with the limit that all together explains; NAN */
};

struct knee {
	double frame; /* bytes that a message has in a queue, headers included */
	double payload; /* bytes of its payload */
	double drain; /* bytes of frames per second */
	double workers; /* of a sender, which share its link */
	double sender; /* the same of a sender's worker; 0: not known */
	double connections; /* into the port, each with a queue pair's burst */
	uint32_t points, cap;
	struct knee_point *point; /* by size, once it has ended */
	unsigned rounds; /* that have ended */
	bool slow; /* senders take as long as a link does of their rate, or of the port's, not as short as their completions say */
	bool told; /* that: by the search before, as limits of either kind can't be compared */
	uint64_t clean, lossy; /* the largest burst below the smallest with loss; that; 0: none */
	uint32_t estimates;
	struct infer_range limit; /* bytes of frames */
	struct infer_range messages; /* of a connection's burst with which loss begins when all start at once */
};

/* Takes over the point's arrivals. */
int knee_add(struct knee *knee, const struct knee_point *point, struct error *err);
/* What all points come to so far. -ENOMEM. */
int knee_end(struct knee *knee, struct error *err);
/* Begins the search for the same queue beside another, which takes at most half of the buffer: sizes up to most to look at first. */
unsigned knee_beside(struct knee *knee, const struct knee *alone, uint64_t most, uint64_t ret[KNEE_SIZES]);
/* Sizes up to most to look at next, ascending, no two equal; returns how many: 0 where nothing was lost, all is known well, or at the end. */
unsigned knee_next(const struct knee *knee, uint64_t most, uint64_t ret[KNEE_SIZES]);
bool knee_tells(uint64_t lost, uint64_t sent); /* whether more than nearly nothing was lost */
void knee_release(struct knee *knee);

#endif
