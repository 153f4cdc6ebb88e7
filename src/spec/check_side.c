/* Refuses options that belong elsewhere: to a server, its client, a scenario of many hosts, its plan, or its knee. */
#include "spec/legal.h"
#include "spec/sweep.h"

#include <errno.h>
#include <string.h>

/* What a server admits is one value. */
static int check_lists(const struct request *request, struct error *err)
{
	for (int row = 0; row < (int)option_count; row++)
		if (*list_of(request, row))
			return error_set(err, -EINVAL, "%s: a list is for a client, which names its server with -n",
					 naming_of(request, row).text);
	return 0;
}

/* One host, and one GPU: lists of them belong to a scenario. */
static int check_single(const struct request *request, struct error *err)
{
	const size_t len = strlen(request->host);

	if (len >= SPEC_TEXT)
		return error_set(err, -EINVAL, "-n: '%.40s...' is too long: %zu bytes, at most %d", request->host, len,
				 SPEC_TEXT - 1);
	if (strpbrk(request->host, ",["))
		return error_set(err, -EINVAL, "%s names several hosts: give --traffic_pattern, or one host",
				 naming_of(request, ROW(host)).text);
	if (*request->gpu_list)
		return error_set(err, -EINVAL, "%s names several GPUs: give --traffic_pattern, or one GPU",
				 naming_of(request, ROW(spec.gpu)).text);
	return 0;
}

static uint32_t side_of(const struct request *request)
{
	if (request_is_scenario(request))
		return SIDE_MANY | (request->planning ? SIDE_PLAN : 0) | (request->kneeing ? SIDE_KNEE : 0);
	return *request->host ? SIDE_CLIENT : SIDE_SERVER;
}

static int elsewhere(const struct request *request, int row, uint32_t side, struct error *err)
{
	const uint32_t sides = option_rows[row].scope.sides;
	const struct naming named = name_of(request, row);
	const char *const name = named.text;

	if (sides == SIDE_PLAN || sides == SIDE_KNEE)
		return error_set(err, -EINVAL, "%s has no effect here: it belongs to 'fabperf %s'", name,
				 sides == SIDE_PLAN ? "plan" : "knee");
	if (side & SIDE_MANY)
		return error_set(err, -EINVAL, "%s has no effect with %s: it belongs to a test between two hosts", name,
				 name_of(request, *request->input_file ? ROW(input_file) : ROW(traffic_pattern)).text);
	if (sides == SIDE_MANY)
		return error_set(err, -EINVAL,
				 "%s has no effect without --traffic_pattern or -f: it belongs to a "
				 "test of many hosts",
				 name);
	if (side == SIDE_SERVER)
		return error_set(
			err, -EINVAL,
			"%s has no effect on a server: it belongs to the client, which names its server with -n", name);
	return error_set(err, -EINVAL,
			 "%s has no effect on a client (-n %.80s): it belongs to a server, which has no -n", name,
			 request->host);
}

int request_check_side(const struct request *request, struct error *err)
{
	const uint32_t side = side_of(request);

	for (int row = 0; row < (int)option_count; row++) {
		const uint32_t sides = option_rows[row].scope.sides;

		if (option_given(request, row) && sides && !(sides & side))
			return elsewhere(request, row, side, err);
	}
	if (side & SIDE_MANY)
		return 0;
	return side == SIDE_SERVER ? check_lists(request, err) : check_single(request, err);
}
