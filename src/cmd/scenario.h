/* Private to the scenario command: what it checks before it starts anything. */
#ifndef CMD_SCENARIO_H
#define CMD_SCENARIO_H

#include "base/error.h"
#include "plan/plan.h"

int scenario_check_limits(const struct plan *plan, struct error *err);

#endif
