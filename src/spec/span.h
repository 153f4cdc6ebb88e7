/* The least and the largest of the instants, or times, seen so far. */
#ifndef SPEC_SPAN_H
#define SPEC_SPAN_H

#include <stdint.h>

struct span {
	int64_t least, most; /* ns */
};

#define SPAN_NONE ((struct span){ INT64_MAX, INT64_MIN })

static inline void span_add(struct span *span, int64_t ns)
{
	span->least = ns < span->least ? ns : span->least;
	span->most = ns > span->most ? ns : span->most;
}

/* Of one that is not empty, ns. */
static inline int64_t span_length(const struct span *span)
{
	return span->most - span->least;
}

#endif
