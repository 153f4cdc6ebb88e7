/* Private to the scenario command: what it checks before it starts anything, and what it writes at the end. */
#ifndef CMD_SCENARIO_H
#define CMD_SCENARIO_H

#include "base/error.h"
#include "plan/outcome.h"

int scenario_check_limits(const struct plan *plan, const struct request *request, struct error *err);
/* The result document and the bursts, where they were asked for. */
int scenario_write(const struct request *request, struct outcome *outcome, struct error *err);

#endif
