/* Carries a scenario through on all of its ranks: each plans its own share, opens it, joins its peers, runs, reports. */
#ifndef ORCH_MANY_H
#define ORCH_MANY_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdint.h>

struct buf;
struct clock;
struct comm;
struct plan;
struct topo;

/* How far a run has come. */
enum many_step { MANY_ATTEND, MANY_OPEN, MANY_JOIN, MANY_CLOCKS, MANY_TRAFFIC, MANY_GATHER, MANY_STEPS };

struct many_conf {
	struct clock *clock; /* becomes rank 0's where that is the same one */
	const struct topo *topo;
	const struct plan *plan; /* the same on all ranks; its hosts are the ranks */
	const char *cuda_lib_path, *sysfs;
	const atomic_int *interrupted; /* set by Ctrl-C: end the traffic, keep what was measured */
	/* Rank 0, called by the thread that called many_run(): a step begins; how much of the traffic is over (s). */
	void (*step)(void *context, enum many_step step);
	void (*progress)(void *context, double elapsed, double total);
	void (*live)(void *context, double at, double gbps,
		     double mpps); /* the sum of all ranks, each live_ns; 0: never */
	int64_t live_ns;
	/* Rank 0: of each stage the part of each rank (spec/part.h), in their order; then, as one more, the clocks. */
	int (*part)(void *context, uint32_t rank, const struct buf *part, struct error *err);
	void *context;
};

/*
 * 0: it ran, and how is in the parts; -EINTR: somebody interrupted, the parts say what was measured; else a negative errno
 * with a sentence, the same on all ranks that are still there.
 */
int many_run(struct comm *comm, const struct many_conf *conf, struct error *err);

#endif
