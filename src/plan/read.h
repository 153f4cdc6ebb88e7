/* Private to the files that read a scenario: from JSON to tests. */
#ifndef PLAN_READ_H
#define PLAN_READ_H

#include "plan/scenario.h"

struct error;

/* scenario.c: fills in a test, but for its name and nodes, from the request that describes it. */
int scenario_complete(struct scenario_test *test, const struct request *request, const struct request_host *host,
		      struct error *err);

/* read.c: the tests of request->input_file, a path or a text that begins with '{'. */
int scenario_read(struct scenario *ret, struct request *request, const struct request_host *host, struct error *err);

#endif
