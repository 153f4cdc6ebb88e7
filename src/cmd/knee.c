/* The knee command: incasts of bursts of many sizes, round by round closer to the size with which loss begins. */
#include "plan/knee.h"
#include "cmd/cmd.h"
#include "cmd/scenario.h"
#include "model/share.h"
#include "report/knee.h"
#include "report/report.h"
#include "spec/legal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZES "8:2048:*2"
#define LONGEST     1.0 /* s of a pause that the program chooses */

struct search {
	const struct request *request;
	struct knees knees;
	struct knee *knee; /* of them, that is looked for */
	char sizes[SPEC_TEXT]; /* of the next round; empty: that was the last */
	double pause; /* s: the buffer drains in it; 0: not known yet */
};

static int set(struct request *request, int row, const char *value, struct error *err)
{
	return option_set(request, row, option_rows[row].key, value, err);
}

/* What is not given: a first look at all sizes, and bursts that a buffer has time to drain between. */
static int complete(struct request *request, struct error *err)
{
	const struct {
		int row;
		const char *value;
	} defaults[] = {
		{ ROW(spec.burst_profile), "sync_burst" },
		{ ROW(spec.burst_size), FIRST_SIZES },
		{ ROW(spec.burst_pause_ns), "20" },
		{ ROW(spec.burst_count), "10" },
		{ ROW(spec.warmup_ns), "0" },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (!option_given(request, defaults[i].row))
			rc = set(request, defaults[i].row, defaults[i].value, err);
	if (rc == 0 && request->spec.transport == TRANSPORT_UDP && !option_given(request, ROW(spec.gso)))
		rc = set(request, ROW(spec.gso), "off", err); /* the kernel would drop many messages as one */
	return rc;
}

/* One test, of which only the size of bursts varies, and one text on the standard output. */
static int check_single(const struct request *request, struct error *err)
{
	if (strcmp(request->curve, "-") == 0)
		return error_set(err, -EINVAL, "--curve takes a file: the report or JSON goes to the standard output");
	if (*request->burst_log || *request->input_file)
		return error_set(err, -EINVAL, "%s does not go with knee, which makes several runs of one test",
				 name_of(request, *request->input_file ? ROW(input_file) : ROW(burst_log)).text);
	if (*request->size_list || *request->qps_list || *request->depth_list)
		return error_set(err, -EINVAL, "knee takes one value of %s: the size of bursts is what varies",
				 name_of(request, *request->size_list  ? ROW(spec.size)
						  : *request->qps_list ? ROW(spec.qps)
								       : ROW(spec.tx_depth))
					 .text);
	return 0;
}

/* What would change what is counted, or judge an average that means nothing here. */
static int check_unwanted(const struct request *request, struct error *err)
{
	const struct {
		int row;
		const char *why;
	} rows[] = {
		{ ROW(dual_unidir), "one port receives, and all others send to it" },
		{ ROW(spec.bidirectional), "one port receives, and all others send to it" },
		{ ROW(spec.validate), "it looks for what is lost" },
		{ ROW(spec.buffer), "it finds the buffer" },
		{ ROW(spec.warmup_ns), "each of its bursts counts" },
		{ ROW(spec.warmup_iterations), "each of its bursts counts" },
		{ ROW(spec.duration_ns), "it sends --burst_count bursts of each size" },
		{ ROW(spec.iterations), "it sends --burst_count bursts of each size" },
		{ ROW(spec.bw_threshold), "it judges no rate" },
		{ ROW(spec.lat_threshold), "it judges no latency" },
		{ ROW(spec.qp_histogram), "it draws the curve of what is lost" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (option_given(request, rows[i].row))
			return error_set(err, -EINVAL, "%s does not go with knee: %s",
					 name_of(request, rows[i].row).text, rows[i].why);
	return 0;
}

/* Before the driver is chosen. */
static bool is_roce(const struct spec *spec)
{
	return spec->transport != TRANSPORT_UDP && spec->driver != DRIVER_OFI && spec->driver != DRIVER_NULL;
}

static int check(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const uint32_t transport = spec->transport;

	if (request_pattern(request) != PATTERN_MANY_TO_ONE)
		return error_set(err, -EINVAL, "knee needs --traffic_pattern incast with -n: many that send to one");
	if (spec->metric != METRIC_BW)
		return error_set(err, -EINVAL, "%s does not go with knee: it counts what is lost of bursts",
				 naming_of(request, ROW(spec.metric)).text);
	if (spec->burst_profile != BURST_NONE && spec->burst_profile != BURST_SYNC)
		return error_set(err, -EINVAL, "%s has no knee: --burst_profile sync_burst has",
				 naming_of(request, ROW(spec.burst_profile)).text);
	if (transport != TRANSPORT_UC && transport != TRANSPORT_UD && transport != TRANSPORT_UDP)
		return error_set(err, -EINVAL, "knee needs a transport that loses messages: -c UC, UD or UDP");
	if (!spec->link_rate)
		return error_set(err, -EINVAL, "knee needs --link_rate: how fast the receiver's port drains a buffer");
	if (is_roce(spec) && spec->mtu == SPEC_AUTO)
		return error_set(err, -EINVAL, "knee over verbs needs --mtu: a message's headers are counted by it");
	return check_single(request, err) ? err->code : check_unwanted(request, err);
}

static void list(struct search *search, const uint64_t *size, unsigned count)
{
	size_t len = 0;

	search->sizes[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		len += (size_t)snprintf(search->sizes + len, sizeof(search->sizes) - len, "%s%" PRIu64, i ? "," : "",
					size[i]);
}

/* The next round's sizes: of the queue alone, then of it beside another. */
static void choose(struct search *search)
{
	const struct request *const request = search->request;
	const struct knee *const one = &search->knees.one;
	const uint64_t depth = request->spec.tx_depth, most = depth == SPEC_AUTO ? UINT64_MAX : depth;
	uint64_t size[KNEE_SIZES];
	unsigned count = knee_next(search->knee, most, size);

	if (!count && search->knee == one && one->estimates && *request->second_incast) {
		search->knee = &search->knees.two;
		count = knee_beside(search->knee, one, most, size);
	}
	list(search, size, count);
	search->pause = one->estimates ? 1.5 * one->limit.median / one->drain : 0;
}

/* Of what was found, be it all or what there was until a round failed. */
static int write_documents(struct search *search, struct outcome *outcome, struct error *err)
{
	const struct request *const request = search->request;
	char path[SPEC_TEXT + 64];
	int rc = 0;

	if (*request->curve && search->knees.one.points)
		rc = report_file(request->curve, report_knee_curve, &search->knees, err);
	if (rc == 0 && request->print_json)
		rc = report_json_write(report_knee_json(&search->knees, outcome), "-", err);
	if (rc == 0 && request->json) {
		snprintf(path, sizeof(path), "%s", request->json_path);
		if (!path[0])
			report_json_default_path(outcome->started_unix_ns, path, sizeof(path));
		rc = report_json_write(report_knee_json(&search->knees, outcome), path, err);
		if (rc == 0 && strcmp(path, "-") != 0)
			fprintf(stderr, "fabperf: the result is in %s\n", path);
	}
	return rc;
}

static int report(struct search *search, struct outcome *outcome, struct error *err)
{
	struct knees *const knees = &search->knees;

	share_infer(&knees->one.limit, &knees->two.limit, &knees->share);
	if (!search->request->print_json && knees->one.points)
		report_knee(stdout, knees, outcome->plan);
	return write_documents(search, outcome, err);
}

/* Whether nothing went wrong but that a sender was away for all bursts of a size, which is then left out. */
static bool is_usable(const struct outcome *outcome, int rc)
{
	if (outcome->status == RUN_OK)
		return rc == 0;
	for (uint32_t i = 0; i < outcome->failures; i++)
		if (outcome->failure[i].error.code != -ENODATA)
			return false;
	return rc == 0 && outcome->failures && outcome->status == RUN_FAILED &&
	       outcome->done == plan_stages(outcome->plan);
}

/* A round is over. */
static int take(void *context, struct outcome *outcome, int rc)
{
	struct search *const search = context;
	struct error err = { 0 };

	if (!is_usable(outcome, rc)) {
		if (outcome->status == RUN_FAILED || rc < 0)
			cmd_complain(&outcome->error);
		if (report(search, outcome, &err) < 0) /* what the rounds before found */
			cmd_complain(&err);
		return cmd_status(outcome->status == RUN_OK ? RUN_FAILED : outcome->status);
	}
	rc = plan_knee(search->knee, outcome, &err);
	if (rc == 0)
		rc = knee_end(search->knee, &err);
	if (rc == 0)
		choose(search);
	if (rc == 0 && !search->sizes[0])
		rc = report(search, outcome, &err);
	return rc < 0 ? cmd_complain(&err) : cmd_finish(EXIT_DONE);
}

static int run_round(struct search *search, const struct request *request, atomic_int *interrupted)
{
	struct request one = *request;
	struct error err = { 0 };
	char pause[32];
	int rc = 0;

	if (search->knee == &search->knees.one)
		one.second_incast = "";
	if (search->sizes[0])
		rc = set(&one, ROW(spec.burst_size), search->sizes, &err);
	if (rc == 0 && search->pause > 0 && !option_given(search->request, ROW(spec.burst_pause_ns))) {
		snprintf(pause, sizeof(pause), "%.3fms", 1e3 * fmin(search->pause, LONGEST) + 1);
		rc = set(&one, ROW(spec.burst_pause_ns), pause, &err);
	}
	return rc < 0 ? cmd_complain(&err) : scenario_run(&one, interrupted, take, search);
}

int cmd_knee(struct request *request)
{
	const struct request asked = *request;
	struct request whole;
	struct search search = { .request = &asked, .knee = &search.knees.one };
	atomic_int *interrupted = NULL;
	struct error err = { 0 };
	int rc = check(request, &err);

	request->kneeing = true;
	if (rc == 0)
		rc = complete(request, &err);
	if (rc == 0)
		rc = report_file_check(asked.curve, "--curve", &err);
	if (rc == 0)
		interrupted = interrupt_flag(&err);
	if (!interrupted)
		return cmd_complain(&err);
	whole = *request; /* the second incast, too, which comes only later */
	rc = scenario_run(&whole, interrupted, NULL, NULL);
	while (rc == EXIT_DONE && (!search.knees.one.rounds || search.sizes[0]))
		rc = run_round(&search, request, interrupted);
	knee_release(&search.knees.one);
	knee_release(&search.knees.two);
	return rc;
}
