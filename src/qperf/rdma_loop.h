/* Private to the RDMA loops: a loop's state, posting, and waiting for completions. */
#ifndef QPERF_RDMA_LOOP_H
#define QPERF_RDMA_LOOP_H

#include "qperf/rdma.h"

struct loop {
	struct qperf_rdma *r;
	struct qperf_run *run;
	struct qperf_stat *stat;
	uint64_t posted, limit; /* work requests; messages at most */
	uint64_t sent, received; /* completions, also of what is not counted any more */
	uint64_t verified; /* values checked so far */
	struct error *err;
};

/* UC and UD lose messages. */
static inline bool loop_loses(const struct loop *l)
{
	return l->r->test->type == IBV_QPT_UC || l->r->test->type == IBV_QPT_UD;
}

int loop_post(struct loop *l); /* the next work request of the test */
/* Takes what has completed: how many, or a negative errno. over: it is no longer counted. */
int loop_take(struct loop *l, bool over);
int loop_rest(struct loop *l); /* sleeps until the next completion or tick: what loop_take says */
/* Until at least one completion came: how many, 0 when the test is over or the time has come, negative errno. */
int loop_wait(struct loop *l, int64_t until);
int loop_drain(struct loop *l); /* until all that was posted has completed, or the test is over */
void loop_count(struct qperf_count *to, uint32_t bytes);

/* rdma_pingpong.c: the two ends, and writes into memory that is polled. */
int loop_ping(struct loop *l);
int loop_pong(struct loop *l);
int loop_marks(struct loop *l);

#endif
