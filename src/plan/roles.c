/* Roles of tests: whether they can be compared, and the phases that a test with one runs in. */
#include "plan/roles.h"

#include "base/error.h"

#include <errno.h>
#include <strings.h>

static const char *const names[] = { [ROLE_VICTIM] = "victim", [ROLE_AGGRESSOR] = "aggressor" };

const char *role_name(enum role role)
{
	return names[role];
}

const char *impact_phase_name(unsigned phase)
{
	return phase == IMPACT_LOADED ? "loaded" : "isolated";
}

bool role_parse(const char *text, enum role *ret)
{
	for (enum role role = ROLE_VICTIM; role <= ROLE_AGGRESSOR; role++) {
		if (strcasecmp(text, names[role]) != 0)
			continue;
		*ret = role;
		return true;
	}
	return false;
}

/* It loads the network from before the window to behind it. */
static int check_aggressor(const struct scenario_test *test, struct error *err)
{
	const struct spec *const spec = test->sweep.spec;

	if (spec->metric != METRIC_BW)
		return error_set(err, -EINVAL,
				 "an aggressor is a test of bandwidth (\"metric\": \"bw\"), with bursts or "
				 "without: latency is what a victim measures");
	if (spec->validate)
		return error_set(err, -EINVAL,
				 "an aggressor does not go with dataValidation: it sends from before the window until "
				 "it is over, and there no message may be outside the window");
	if (spec->warmup_ns <= 0 || spec->end_margin_ns <= 0)
		return error_set(err, -EINVAL,
				 "an aggressor is under way before the window begins and until it is over: it needs a "
				 "warmupTime and an endMargin");
	return 0;
}

static int check_one(const struct scenario_test *test, struct error *err)
{
	if (test->role == ROLE_NONE)
		return error_set(err, -EINVAL,
				 "role is missing: where one test is a victim or an aggressor, each test is one");
	if (test->iteration_sync)
		return error_set(err, -EINVAL,
				 "role does not go with iterationSync: its iterations wait for each other, "
				 "and with them the load");
	if (test->sweep.spec->warmup_iterations)
		return error_set(err, -EINVAL, "tests with roles warm up by time: use warmupTime");
	return test->role == ROLE_AGGRESSOR ? check_aggressor(test, err) : 0;
}

static int check(const struct scenario *scenario, const struct scenario_test **at, struct error *err)
{
	uint32_t victims = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < scenario->tests; i++) {
		*at = &scenario->test[i];
		victims += (*at)->role == ROLE_VICTIM;
		rc = check_one(*at, err);
	}
	if (rc)
		return rc;
	*at = &scenario->test[0];
	if (!victims)
		return error_set(err, -EINVAL, "all tests are aggressors: another test has to be their victim");
	if (victims == scenario->tests)
		return error_set(err, -EINVAL, "all tests are victims: another test has to be the aggressor");
	return 0;
}

/* The same test in each phase. */
static int repeat(struct sweep *sweep, struct error *err)
{
	struct sweep phases = { 0 };
	const int rc = sweep_alloc(&phases, IMPACT_PHASES, err);

	for (unsigned i = 0; rc == 0 && i < IMPACT_PHASES; i++) {
		phases.spec[i] = sweep->spec[0];
		phases.fresh[i] = true;
	}
	if (rc == 0) {
		sweep_release(sweep);
		*sweep = phases;
	}
	return rc;
}

int roles_settle(struct scenario *scenario, struct error *err)
{
	const struct scenario_test *at = NULL;
	bool any = false;
	int rc;

	for (uint32_t i = 0; i < scenario->tests; i++)
		any |= scenario->test[i].role != ROLE_NONE;
	if (!any)
		return 0;
	rc = check(scenario, &at, err);
	if (rc && at->where)
		error_prefix(err, "%s", at->where);
	for (uint32_t i = 0; rc == 0 && i < scenario->tests; i++)
		rc = repeat(&scenario->test[i].sweep, err);
	return rc;
}
