/* Congestion impact: the roles of a scenario's tests, and the three phases in which they run. */
#ifndef PLAN_ROLES_H
#define PLAN_ROLES_H

#include "plan/scenario.h"

#include <stdbool.h>

struct error;

/* Points of the tests' sweeps: victims run in all of them, aggressors under load only. */
enum impact_phase { IMPACT_BEFORE, IMPACT_LOADED, IMPACT_AFTER, IMPACT_PHASES };

const char *role_name(enum role role); /* "victim"; NULL for none */
const char *impact_phase_name(unsigned phase); /* "isolated", "loaded", "isolated" */
bool role_parse(const char *text, enum role *ret);

/* Checks the roles, and gives each test its phases. Without roles nothing changes. -EINVAL and a sentence; -ENOMEM. */
int roles_settle(struct scenario *scenario, struct error *err);

static inline bool role_runs(enum role role, unsigned point)
{
	return role != ROLE_AGGRESSOR || point == IMPACT_LOADED;
}

#endif
