/* Checks a test that came from another host: that it is whole and legal, and meets the conditions of this server. */
#include "spec/legal.h"

#include <errno.h>
#include <string.h>

/* A test that arrives has every value that the sizes of buffers and queues follow from. */
static int check_complete(const struct request *request, struct error *err)
{
	const int rows[] = { ROW(spec.driver),   ROW(spec.transport), ROW(spec.verb),       ROW(spec.size),
			     ROW(spec.tx_depth), ROW(spec.rx_depth),  ROW(spec.post_batch), ROW(spec.cq_mod) };
	char value[OPTION_VALUE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!(rows[i] == ROW(spec.verb) && spec_has_list(&request->spec)) &&
		    !strcmp(option_get(request, rows[i], value, sizeof(value)), "auto"))
			return error_set(err, -EINVAL, "the test leaves %s open", name_of(request, rows[i]).text);
	return 0;
}

int spec_check(const struct spec *spec, struct error *err)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	memset(request.given, 0xff, sizeof(request.given));
	request.spec = *spec;
	return check_complete(&request, err) ? -EINVAL : request_check_values(&request, err);
}

/* A client's value that this host replaces by its own or chooses by itself. */
static bool is_own(int row)
{
	return row == ROW(spec.device) || row == ROW(spec.cores) || row == ROW(spec.exclude_cores) ||
	       row == ROW(spec.mem) || row == ROW(spec.gpu);
}

/* A condition on one kind of end is not met by a test that uses the other. */
static int admits_ends(const struct request *server, const struct spec *test, struct error *err)
{
	const int duration = ROW(spec.duration_ns), warmup = ROW(spec.warmup_ns);

	if (option_given(server, duration) && spec_quota(test))
		return error_set(err, -EINVAL, "this server was started with %s, but the client's test ends by count",
				 naming_of(server, duration).text);
	if (option_given(server, warmup) && test->warmup_iterations)
		return error_set(err, -EINVAL,
				 "this server was started with %s, but the client's test warms up by iterations",
				 naming_of(server, warmup).text);
	return 0;
}

/* A server's own cores are for as many workers as they are. */
static int admits_workers(const struct request *server, const struct spec *test, struct error *err)
{
	const int cores = ROW(spec.cores);

	if (!option_given(server, cores) || strcmp(server->spec.cores, test->cores) != 0 ||
	    server->spec.workers == test->workers)
		return 0;
	return error_set(
		err, -EINVAL,
		"this server was started with %s, a core for each of %llu workers, but the client's test has %llu",
		naming_of(server, cores).text, (unsigned long long)server->spec.workers,
		(unsigned long long)test->workers);
}

int request_admits(const struct request *server, const struct spec *test, struct error *err)
{
	struct request client;
	char value[OPTION_VALUE_MAX], asked[OPTION_VALUE_MAX];

	if (admits_ends(server, test, err) || admits_workers(server, test, err))
		return -EINVAL;
	memset(&client, 0, sizeof(client));
	client.spec = *test;
	for (int row = 0; row < (int)option_count; row++) {
		if (!option_given(server, row) || !(option_rows[row].flags & OPTION_WIRE) || is_own(row))
			continue;
		option_get(server, row, value, sizeof(value));
		option_get(&client, row, asked, sizeof(asked));
		if (strcmp(value, "auto") != 0 && strcmp(value, asked) != 0)
			return error_set(err, -EINVAL, "this server was started with %s, but the client's test has %s",
					 naming_of(server, row).text, asked);
	}
	return 0;
}
