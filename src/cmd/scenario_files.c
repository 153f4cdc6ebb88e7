/* The scenario command: one run, its page, and the files that were asked for: the result document, each burst. */
#include "cmd/cmd.h"
#include "cmd/scenario.h"
#include "plan/outcome.h"
#include "report/burst_log.h"
#include "report/many.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

static int write_json(const struct request *request, struct outcome *outcome, struct error *err)
{
	char path[SPEC_TEXT + 64];
	int rc = 0;

	if (request->print_json)
		rc = report_json_write(report_many_json(outcome, &outcome->scratch), "-", err);
	if (rc < 0 || !request->json)
		return rc;
	snprintf(path, sizeof(path), "%s", request->json_path);
	if (!path[0])
		report_json_default_path(outcome->started_unix_ns, path, sizeof(path));
	rc = report_json_write(report_many_json(outcome, &outcome->scratch), path, err);
	if (rc == 0 && strcmp(path, "-") != 0)
		fprintf(stderr, "fabperf: the result is in %s\n", path);
	return rc;
}

int scenario_write(const struct request *request, struct outcome *outcome, struct error *err)
{
	int rc = write_json(request, outcome, err);

	if (rc < 0 || !request->burst_log[0] || !outcome->measured)
		return rc;
	rc = report_file(request->burst_log, burst_log_outcome, outcome, err);
	error_prefix(err, "--burst_log");
	return rc;
}

static int report(void *context, struct outcome *outcome, int rc)
{
	const struct request *request = context;
	struct error trouble = { 0 };
	int status;

	if (outcome->measured && !request->print_json)
		report_many(stdout, outcome);
	if (outcome->status == RUN_FAILED || rc < 0)
		cmd_complain(&outcome->error);
	status = cmd_finish(cmd_status(outcome->status));
	if (scenario_write(request, outcome, &trouble) < 0 && (outcome->measured || outcome->status != RUN_FAILED))
		status = cmd_complain(&trouble); /* else it is known why there is nothing to write */
	return status;
}

int cmd_scenario(struct request *request)
{
	struct error err = { 0 };
	atomic_int *interrupted = interrupt_flag(&err);

	return interrupted ? scenario_run(request, interrupted, report, request) : cmd_complain(&err);
}
