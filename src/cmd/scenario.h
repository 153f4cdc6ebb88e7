/* Private to the commands that run scenarios: the run, what it checks before it starts anything, and what it writes at the end. */
#ifndef CMD_SCENARIO_H
#define CMD_SCENARIO_H

#include "base/error.h"
#include "plan/outcome.h"

#include <stdatomic.h>

/* Gets what became of the run (rc < 0: outcome->error tells why), which is released behind it; returns an exit status. */
typedef int scenario_tell_fn(void *context, struct outcome *outcome, int rc);
/* Plans the request, runs it on its hosts and hands the outcome over. What tell returns, or EXIT_FAILED and a sentence was printed. tell NULL: nothing runs, EXIT_DONE: it could. */
int scenario_run(struct request *request, atomic_int *interrupted, scenario_tell_fn *tell, void *context);

int scenario_check_limits(const struct plan *plan, const struct request *request, struct error *err);
/* The result document and the bursts, where they were asked for. */
int scenario_write(const struct request *request, struct outcome *outcome, struct error *err);

#endif
