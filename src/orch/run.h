/* A run on one rank while it is carried through (private to orch/). */
#ifndef ORCH_RUN_H
#define ORCH_RUN_H

#include "base/topo.h"
#include "counters/counters.h"
#include "engine/engine.h"
#include "orch/comm.h"
#include "orch/orch.h"
#include "spec/sweep.h"

#include <stdbool.h>

#define RUN_STEP_NS 60000000000LL /* longest that one step of the set-up may take */

struct run {
	struct comm *comm;
	const struct orch_conf *conf;
	const struct request *request; /* rank 0 */
	struct sweep sweep; /* all tests: the same on all ranks but for device and cores, which are this rank's */
	unsigned test; /* the one at hand, */
	struct spec spec; /* and its values: what the flows and drivers look at */
	const struct driver *drv;
	const struct engine *engine;
	bool active; /* this rank sends; with two directions: it connects */
	struct core_list cores;
	bool cores_shared; /* with each other or with another rank of this machine */
	int node; /* NUMA node of the buffers */
	struct flow_control control;
	struct flow *flows;
	unsigned workers;
	struct rank_result mine;
	struct nics nics; /* of all workers, while their counters are watched */
	int64_t clock_offset_ns,
		clock_error_ns; /* rank 0: of rank 1's clock; others: of the own one, against rank 0's */
	int64_t rtt_ns;
	struct error closing; /* what the device did not take back at the end */
	bool stuck; /* a worker hangs in its driver: what it uses stays until the process ends */
	bool interrupted; /* somebody asked to stop: the error below says who */
	struct error stop;
};

static inline bool run_sends(const struct run *run)
{
	return run->active || run->spec.bidirectional;
}

static inline int64_t run_deadline(const struct run *run)
{
	return clock_now(run->conf->clock) + RUN_STEP_NS;
}

/* tests.c: all ranks get the tests of rank 0, and choose their cores. */
int tests_agree(struct run *run, struct error *err);

/* placement.c: chooses this rank's cores; rank 1 keeps off those of rank 0 when both are on one machine. */
struct placement {
	char machine[64]; /* the same text on two ranks of one machine */
	struct core_list cores;
};
void machine_name(char *ret, size_t size); /* the same text for all that runs on one kernel */
void placement_pack(const struct placement *p, struct buf *to);
int placement_unpack(struct placement *ret, struct cursor *from);
int placement_choose(struct run *run, const struct placement *other, struct placement *ret, struct error *err);
/* Whether any core is used twice, by two workers or by both ranks. */
bool placement_shared(const struct placement *mine, const struct placement *other);

/* join.c: the endpoints of both sides have each other's addresses, are connected and prepared. */
int join_flows(struct run *run, struct error *err);
int run_prepare(const struct run *run, struct flow *flow, struct error *err); /* for the test at hand */

/* traffic.c: all phases of the test, from a common start instant. */
int traffic_run(struct run *run, struct error *err);

/* collect.c: this rank's result, and all of them at rank 0. */
uint64_t resident_bytes(void); /* highest of this process; 0: not known */
void collect_mine(struct run *run);
int collect_all(struct run *run, struct result *result, struct error *err);

/* Whether the passive side sees every message: what it counts is no figure when it sees some. */
static inline bool run_sees_all(const struct spec *spec)
{
	return !spec_has_list(spec) || !(spec_verbs(spec) & ~TWO_SIDED_VERBS);
}

#endif
