/* Writes what a scenario came to into the files that were asked for: the result document, each burst. */
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
	const int rc = write_json(request, outcome, err);

	if (rc < 0 || !request->burst_log[0] || !outcome->measured)
		return rc;
	return report_file(request->burst_log, burst_log_outcome, outcome, err);
}
