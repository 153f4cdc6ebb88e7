/* The plan of a scenario: hosts, endpoints, and the connections between them, which are streamed, not stored. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/pattern.h"
#include "plan/roles.h"
#include "plan/scenario.h"

#define PLAN_MAX_ENDPOINTS 65536 /* of a test, repetitions included */
#define PLAN_NO_GPU        UINT32_MAX
#define PLAN_ALL_HOSTS     UINT32_MAX

/* A host has a rank, whose number is the host's index. "localhost%2" is a rank of its own on localhost. */
struct plan_host {
	char *name; /* as it was written */
	uint32_t endpoints; /* that are on it, of all tests */
};

/* What sends and receives: a device of a host, with a GPU's memory or without. All tests share the list; no two are equal. */
struct endpoint {
	uint32_t host; /* index into plan->host */
	uint32_t device; /* index into plan->device, where each name is there once; "" = none was named */
	uint32_t gpu; /* CUDA's number, or PLAN_NO_GPU */
};

struct plan_pair {
	uint32_t from, to; /* positions */
};

struct plan_test {
	char name[SPEC_NAME];
	enum role role;
	enum pattern pattern;
	enum traffic_direction direction;
	enum partition partition;
	bool peer_shifting, iteration_sync;
	bool no_matrix; /* no connection matrix of it is printed */
	struct sweep
		sweep; /* its points, which run one after another; what is an endpoint's own comes from plan_spec() */
	uint32_t positions; /* of the pattern: hosts times devices in the order in which they were written */
	uint32_t *endpoint; /* of each position, an index into plan->endpoint */
	uint64_t connections; /* how many plan_next() gives */
	uint32_t rounds; /* 1, or with peer shifting their number */
	uint32_t skipped; /* pairs without a connection, as their size is 0 */
	uint32_t datatype; /* with sizes of each pair: what was counted, an index into ucc_type_names */
	uint32_t *bytes; /* with ptiniFile: the message size of each pair of positions, row by row; else NULL */
	char *sizes_file; /* with ptiniFile: its name */
	/* Private to connections.c: */
	uint32_t pairs;
	struct plan_pair *pair; /* all connections of a pattern that has few */
	uint32_t *by_host,
		*first; /* ALL_TO_ALL: positions of host h are by_host[first[h]] ... by_host[first[h + 1] - 1] */
};

struct plan {
	uint32_t hosts, devices, endpoints, tests;
	struct plan_host *host;
	char **device;
	struct endpoint *endpoint;
	struct plan_test *test;
	uint32_t rounds; /* most of any test */
	uint64_t connections; /* of all tests */
};

/*
 * One connection: `from` is its requestor, `to` its responder. With BIDIR both send, on the same queue pairs, and a pair of
 * endpoints has one connection; with DUAL_UNIDIR it has two.
 */
struct connection {
	uint32_t test; /* index into plan->test */
	uint32_t from, to; /* indices into plan->endpoint, never the same */
	bool both; /* BIDIR */
	uint32_t round; /* 0, or with peer shifting 1 ... positions - 1: rounds run one after another */
	uint64_t bytes; /* size of its messages, where each pair has one (ptiniFile); 0: that of the sweep's point */
	uint64_t key; /* unlike that of any other connection of the test, and the same on all ranks */
};

/*
 * The plan of a command line with --traffic_pattern or -f (scenario_of_request(), then plan_build()). No device is
 * touched. Settings of a file for the whole scenario go into the request.
 */
int plan_of_request(struct plan **ret, struct request *request, const struct request_host *host, struct error *err);
/* Makes the plan of a resolved scenario, from which it takes the sweeps. -EINVAL, -E2BIG, -ENOMEM and a sentence. */
int plan_build(struct plan **ret, struct scenario *scenario, struct error *err);
void plan_free(struct plan *plan);

/* Walks through the connections: all of them, or those in which one host takes part, without looking at the others. */
struct plan_cursor {
	const struct plan *plan;
	uint32_t host; /* or PLAN_ALL_HOSTS */
	uint32_t test, outer;
	uint64_t inner;
};
void plan_begin(struct plan_cursor *cursor, const struct plan *plan, uint32_t host);
bool plan_next(struct plan_cursor *cursor, struct connection *ret); /* false: that was the last */

/* Stages run one after another: each point of the sweep, and of it each round of peer shifting. */
struct stage {
	unsigned point;
	uint32_t round; /* 0 without peer shifting; only connections of this round are in it */
};
static inline unsigned plan_points(const struct plan *plan)
{
	return plan->test[0].sweep.count; /* more than one only where there is one test, or of roles their phases */
}
/* Tests have roles: points are the phases of congestion impact. */
static inline bool plan_has_roles(const struct plan *plan)
{
	return plan->test[0].role != ROLE_NONE;
}
/* Whether a test runs at a point. */
static inline bool plan_runs(const struct plan *plan, uint32_t test, unsigned point)
{
	return role_runs(plan->test[test].role, point);
}
static inline uint64_t plan_stages(const struct plan *plan)
{
	return (uint64_t)plan_points(plan) * plan->rounds;
}
static inline struct stage plan_stage(const struct plan *plan, uint64_t number)
{
	return (struct stage){ .point = (unsigned)(number / plan->rounds),
			       .round = plan->test[0].peer_shifting ? (uint32_t)(number % plan->rounds) + 1 : 0 };
}
/* The stage in which a connection runs at one point. */
static inline uint64_t plan_stage_of(const struct plan *plan, const struct connection *connection, unsigned point)
{
	return (uint64_t)point * plan->rounds + (connection->round ? connection->round - 1 : 0);
}

/* Bytes of a message from one position to another of a test with bytes. */
uint64_t plan_size(const struct plan_test *test, uint32_t from, uint32_t to);

/* The spec of one end of a connection at one point of its test's sweep: its device and GPU, its direction. */
void plan_spec(const struct plan *plan, const struct connection *connection, bool requestor, unsigned point,
	       struct spec *ret);

/* "node1:mlx5_0", "node1:mlx5_0:gpu2", "node1". ret of PLAN_LABEL bytes. */
#define PLAN_LABEL 384
char *plan_label(const struct plan *plan, uint32_t endpoint, char *ret);

#endif
