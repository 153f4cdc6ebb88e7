/* What one rank of a scenario reports: who it is, and the result of each of its ends of connections. */
#ifndef SPEC_PART_H
#define SPEC_PART_H

#include "base/buf.h"
#include "spec/result.h"

struct part_head {
	char host[SPEC_TEXT], version[32];
	uint64_t rss_bytes;
	bool cores_shared, interrupted;
	uint32_t ends;
};

/* An end: which connection's, and its result (rank_result_pack) as it travels. */
struct part_end {
	uint32_t test;
	uint64_t key;
	bool active;
	struct cursor result;
};

void part_head_pack(const struct part_head *head, struct buf *to);
void part_end_pack(uint32_t test, uint64_t key, const struct rank_result *result, struct buf *to);
/* -EPROTO. What an end points to stays in the bytes that are read. */
int part_head_unpack(struct part_head *ret, struct cursor *from);
int part_end_unpack(struct part_end *ret, struct cursor *from);

/* How far each rank's clock was from rank 0's before and after the traffic. */
struct part_clock {
	int64_t offset_ns[2], error_ns[2]; /* theirs minus rank 0's, which lies within +- error_ns */
	int64_t u95_ns[2]; /* within that in 95 of 100 cases */
	int64_t at_ns[2]; /* when, on rank 0's clock */
	bool shared; /* it is rank 0's clock: the error is that of reading it */
};
void part_clock_pack(const struct part_clock *clock, struct buf *to);
int part_clock_unpack(struct part_clock *ret, struct cursor *from);
/* Their clock minus rank 0's at an instant of theirs: between the two, along the line through them. */
int64_t part_clock_at(const struct part_clock *clock, int64_t own_ns);

/* Pairs of ranks measured each other directly: how far that is from what rank 0 knows of the two. */
struct closure {
	uint32_t pairs; /* 0: there were less than three ranks */
	uint32_t outside; /* pairs whose difference is larger than the bounds together allow: a clock jumps */
	int64_t median_ns, p95_ns, max_ns; /* of the differences, without sign */
};
void part_closure_pack(const struct closure *closure, struct buf *to);
int part_closure_unpack(struct closure *ret, struct cursor *from);

#endif
