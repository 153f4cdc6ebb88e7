/* The plan command: what a scenario would connect, and what it takes; no device is touched. */
#include "report/plan.h"
#include "cmd/cmd.h"
#include "orch/orch.h"
#include "orch/share.h"
#include "spec/legal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int print(const struct request *request, const struct report_plan *report, struct error *err)
{
	const char *const path = request->json_path;
	FILE *to = stdout;
	int rc;

	if (!request->json && !request->print_json) {
		report_plan(stdout, report);
		return 0;
	}
	if (*path && strcmp(path, "-") != 0)
		to = fopen(path, "we");
	if (!to)
		return error_sys(err, -errno, "cannot write to %.200s", path);
	rc = report_plan_json(to, report, err);
	if (to == stdout)
		return rc;
	if (ferror(to) | fclose(to))
		return error_sys(err, -errno, "cannot write to %.200s", path);
	return rc;
}

/* What no run would take: an endpoint's queue pairs, where one has enough of them for that. */
static int check_shares(const struct plan *plan, const struct plan_totals *totals, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < plan->hosts; i++)
		if (totals->host[i].side_qps > RESULT_QPS)
			rc = share_check(plan, i, err);
	return rc;
}

/* What follows from the plan, and its page or document. */
static int tell(const struct request *request, const struct plan *plan, struct error *err)
{
	struct plan_prediction prediction = { 0 };
	struct plan_totals totals = { 0 };
	const struct report_plan report = { plan, &totals, &prediction, request->summary };
	int rc = plan_sum(plan, orch_memory_of, &totals, err);

	if (rc == 0)
		rc = check_shares(plan, &totals, err);
	if (rc == 0)
		rc = plan_predict(plan, request->simulate, &prediction, err);
	if (rc == 0 && request->simulate && !prediction.there)
		rc = error_set(err, -EINVAL,
			       "--simulate has no effect: it needs a test with --burst_profile and --link_rate");
	if (rc == 0)
		rc = print(request, &report, err);
	if (rc == 0 && prediction.left_out.code)
		fprintf(stderr, "fabperf: the simulation is left out: %s\n", prediction.left_out.text);
	plan_totals_release(&totals);
	return rc;
}

int cmd_plan(struct request *request)
{
	/* Devices are elsewhere: that they exist is found out by the run. */
	const struct request_host host = { .has_rdma = true, .device_is_rdma = true };
	struct plan *plan = NULL;
	struct request run;
	struct error err = { 0 };
	int rc;

	request->planning = true;
	run = *request;
	option_reset(&run, ROW(json_path)); /* where the plan goes; a file says where the run's result goes */
	option_reset(&run, ROW(print_json));
	if (!request_is_scenario(request))
		rc = error_set(&err, -EINVAL, "plan needs a scenario: --traffic_pattern with -n, or -f");
	else
		rc = plan_of_request(&plan, &run, &host, &err);
	if (rc == 0)
		rc = tell(request, plan, &err);
	plan_free(plan);
	return rc < 0 ? cmd_complain(&err) : cmd_finish(EXIT_DONE);
}
