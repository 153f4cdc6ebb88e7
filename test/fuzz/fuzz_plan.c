/* Fuzz target: scenarios, pattern files, lists of names and packed scenarios: a plan, or one sentence. */
#include "base/buf.h"
#include "base/error.h"
#include "plan/names.h"
#include "plan/plan.h"
#include "plan/wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANKS 3
#define STEPS 10000 /* connections that are looked at */

static void check_error(int rc, const struct error *err)
{
	if (rc < 0 && (!err->code || !err->text[0] || strchr(err->text, '\n')))
		abort();
}

static void walk(const struct plan *plan)
{
	struct plan_cursor cursor;
	struct connection one;
	unsigned steps = 0;

	plan_begin(&cursor, plan, 0);
	while (steps++ < STEPS && plan_next(&cursor, &one))
		if (one.from >= plan->endpoints || one.to >= plan->endpoints || one.from == one.to)
			abort();
}

static void try_scenario(const char *text)
{
	const struct request_host host = { .has_rdma = true, .device_is_rdma = true };
	struct request request;
	struct plan *plan = NULL;
	struct error err = { 0 };
	int rc;

	if (*text != '{' || strstr(text, "tini")) /* no files */
		return;
	request_init(&request);
	request.input_file = text;
	rc = plan_of_request(&plan, &request, &host, &err);
	check_error(rc, &err);
	if (rc == 0)
		walk(plan);
	plan_free(plan);
}

static void try_sizes(char *text)
{
	char name[] = "f";
	const struct ptini file = { .name = name, .text = text };
	uint32_t bytes[RANKS * RANKS];
	struct error err = { 0 };

	check_error(ptini_read(&file, RANKS, bytes, &err), &err);
}

static void try_names(const char *text)
{
	struct names names = { 0 };
	struct error err = { 0 };

	check_error(names_expand(&names, text, &err), &err);
	names_release(&names);
}

static void try_packed(const uint8_t *data, size_t size)
{
	struct scenario scenario = { 0 };
	struct plan *plan = NULL;
	struct error err = { 0 };
	struct cursor from;
	int rc;

	cursor_init(&from, data, size);
	rc = scenario_unpack(&scenario, &from, &err);
	if (rc == 0)
		rc = plan_build(&plan, &scenario, &err);
	check_error(rc, &err);
	if (rc == 0)
		walk(plan);
	plan_free(plan);
	scenario_release(&scenario);
}

/* First byte: what the rest is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 1)
		return 0;
	text = calloc(1, size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	switch (data[0] % 4) {
	case 0:
		try_scenario(text);
		break;
	case 1:
		try_sizes(text);
		break;
	case 2:
		if (size < 64)
			try_names(text);
		break;
	default:
		try_packed(data + 1, size - 1);
	}
	free(text);
	return 0;
}
