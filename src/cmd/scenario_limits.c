/* Refuses what a scenario may ask for and this version does not run yet, with a sentence that names it. */
#include "cmd/scenario.h"

#include "orch/share.h"
#include "spec/legal.h"

#include <errno.h>
#include <string.h>

static int not_yet(const char *what, struct error *err)
{
	return error_set(err, -EOPNOTSUPP, "%s does not run on many hosts yet ('fabperf plan' shows what it would be)",
			 what);
}

/* What a test's spec asks for that only runs between two hosts. */
static const char *two_hosts_only(const struct spec *spec)
{
	if (spec->use_ece)
		return "--use_ece";
	if (spec->rdma_cm == CHOICE_ON)
		return "--rdma_cm";
	if (spec->data_port)
		return "--data_port";
	return NULL;
}

/* "localhost" means another host on each of them. */
static int check_names(const struct plan *plan, struct error *err)
{
	char name[SPEC_TEXT], local[SPEC_TEXT] = "", other[SPEC_TEXT] = "";

	for (uint32_t i = 0; i < plan->hosts; i++) {
		many_host_name(plan->host[i].name, name, sizeof(name));
		memcpy(!strncmp(name, "localhost", 9) || !strncmp(name, "127.", 4) || !strcmp(name, "::1") ? local
													   : other,
		       name, sizeof(name));
	}
	if (local[0] && other[0])
		return error_set(
			err, -EINVAL,
			"'%s' is another host for each of the hosts: name this one as '%s' and the others know it",
			local, other);
	return 0;
}

/* A file may say it, and the command line where the document goes. */
static int check_detail(const struct request *request, struct error *err)
{
	if (request->json || request->print_json || request->results_detail == DETAIL_PROCESSES)
		return 0;
	return error_set(err, -EINVAL,
			 "--results_detail has no effect without -j or --print_json_results: it says what stands in "
			 "the JSON result");
}

/* A line is a rate while the traffic runs: in step only iterations are timed, and latency has none. */
static int check_live(const struct plan *plan, const struct request *request, struct error *err)
{
	bool any = false;

	if (!request->spec.report_interval_ns)
		return 0;
	for (uint32_t i = 0; i < plan->tests; i++)
		any |= plan->test[i].sweep.spec[0].metric == METRIC_BW && !plan->test[i].iteration_sync;
	if (any)
		return 0;
	return error_set(err, -EINVAL,
			 "--report_interval has no effect here: it takes a test of bandwidth that is not in step "
			 "(--iteration_sync)");
}

/* MPI connects all ranks before any test begins. */
static int check_control_class(const struct plan *plan, struct error *err)
{
	const int64_t first = (int64_t)plan->test[0].sweep.spec[0].control_class;

	for (uint32_t i = 1; i < plan->tests; i++)
		if ((int64_t)plan->test[i].sweep.spec[0].control_class != first)
			return error_set(
				err, -EINVAL,
				"tests differ in controlTrafficClass: all of them have MPI's connections in common");
	return 0;
}

/* A port of both would have the bursts of both; alpha follows from limits only where both queues fill at one pace. */
static int check_second_incast(const struct plan *plan, const struct request *request, struct error *err)
{
	const struct plan_test *const one = &plan->test[0], *const two = &plan->test[1];

	if (*request->second_incast && one->positions != two->positions)
		return error_set(
			err, -EINVAL,
			"-n has %u senders and --second_incast %u: take as many, so that both queues fill alike",
			one->positions - 1, two->positions - 1);
	for (uint32_t i = 0; *request->second_incast && i < one->positions; i++)
		for (uint32_t k = 0; k < two->positions; k++)
			if (one->endpoint[i] == two->endpoint[k])
				return error_set(err, -EINVAL,
						 "'%s' is in -n and in --second_incast: each port is in one incast",
						 plan->host[plan->endpoint[one->endpoint[i]].host].name);
	return 0;
}

int scenario_check_limits(const struct plan *plan, const struct request *request, struct error *err)
{
	if (plan->hosts < 2)
		return error_set(err, -EINVAL,
				 "the scenario has one host: name two or more, or ranks of one as 'localhost%%[1-2]'");
	for (uint32_t i = 0; i < plan->tests; i++) {
		const char *what = two_hosts_only(&plan->test[i].sweep.spec[0]);

		if (what)
			return not_yet(what, err);
	}
	if (check_detail(request, err) || check_live(plan, request, err) || check_second_incast(plan, request, err) ||
	    check_control_class(plan, err))
		return -EINVAL;
	return check_names(plan, err);
}
