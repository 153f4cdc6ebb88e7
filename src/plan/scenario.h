/* A scenario: the tests that run together, each with the hosts, devices and GPUs that take part, as they were written. */
#ifndef PLAN_SCENARIO_H
#define PLAN_SCENARIO_H

#include "plan/pattern.h"
#include "plan/ptini.h"
#include "spec/spec.h"
#include "spec/sweep.h"

#define SCENARIO_MAX_TESTS 256
#define SCENARIO_MAX_NODES 4096 /* entries of a test's list; each may stand for many hosts */

/* One entry of testNodes: lists with ranges (names.h). devices NULL: no device is named; gpus NULL: none is. */
struct scenario_node {
	char *hosts, *devices, *gpus;
};

/* Of a test in congestion impact (roles.h): all tests of a scenario have one, or none has. */
enum role { ROLE_NONE, ROLE_VICTIM, ROLE_AGGRESSOR };

struct scenario_test {
	char name[SPEC_NAME];
	enum role role;
	enum pattern pattern;
	enum traffic_direction direction;
	enum partition partition;
	bool peer_shifting, iteration_sync, no_matrix;
	uint32_t nodes;
	struct scenario_node *node;
	/*
	 * The test as specs: one, or one for each combination of its lists, or for each phase of its role. Completed (request_resolve), but for what is
	 * an endpoint's own: device, gpu and cores.
	 */
	struct sweep sweep;
	struct ptini ptini; /* sizes of each pair; name NULL: all have the test's */
	char *where; /* "file:line:column: path" of a test that stands in a file, else NULL */
};

struct scenario {
	uint32_t tests;
	struct scenario_test *test;
};

/*
 * The tests of a request: the one of a command line with --traffic_pattern, or those of its input_file, whose settings for
 * the whole scenario go into the request. Each is completed and checked; so is that they can run together. host: as for
 * request_resolve(). -EINVAL and one sentence.
 */
int scenario_of_request(struct scenario *ret, struct request *request, const struct request_host *host,
			struct error *err);

/* Frees what it holds; fine on an empty one. */
void scenario_release(struct scenario *scenario);

#endif
