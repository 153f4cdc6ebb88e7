/* Reads a qperf command line from left to right: options change what follows, a test's name runs the test. */
#include "qperf/qperf.h"

#include "qperf/test.h"

#include <errno.h>
#include <string.h>

struct reader {
	struct qperf_line line;
	const struct qperf_output *output;
	char *const *words;
	int count, next;
	bool dry; /* nothing runs and nothing is printed: only to find what is wrong */
	bool tested, trailing; /* a test was named; an option came since */
	const char *last; /* that option */
	bool ended; /* help, version or quit: nothing more is done */
};

static int set_value(struct reader *r, const struct qperf_loop *loop, double value, struct error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%.0f", value);
	return qperf_param_set(&r->line, loop->option, loop->word, text, err);
}

/* One test for each value of the loops, the first loop outermost. */
static int run_loops(struct reader *r, unsigned test, unsigned depth, struct error *err)
{
	const struct qperf_loop *loop = &r->line.loop[depth];
	int rc = 0;

	if (depth == r->line.loops)
		return qperf_client_test(&r->line, test, r->output, err);
	for (double value = loop->first; rc == 0 && value <= loop->last;
	     value = loop->multiply ? value * loop->step : value + loop->step) {
		rc = set_value(r, loop, value, err);
		if (rc == 0)
			rc = run_loops(r, test, depth + 1, err);
	}
	return rc;
}

static double last_value(const struct qperf_loop *loop)
{
	double value = loop->first;

	if (!loop->multiply)
		return value + (double)(uint64_t)((loop->last - value) / loop->step) * loop->step;
	while (value * loop->step <= loop->last)
		value *= loop->step;
	return value;
}

/* An option allows a range: when it allows the first and the last value of a loop it allows all. */
static int check_loops(struct reader *r, unsigned test, struct error *err)
{
	int rc = qperf_client_check(&r->line, test, err);

	for (unsigned i = 0; rc == 0 && i < r->line.loops; i++) {
		rc = set_value(r, &r->line.loop[i], r->line.loop[i].first, err);
		if (rc == 0)
			rc = set_value(r, &r->line.loop[i], last_value(&r->line.loop[i]), err);
	}
	return rc;
}

static int run_test(struct reader *r, const char *name, struct error *err)
{
	const int test = qperf_test_find(name);

	if (test < 0)
		return error_set(err, -EINVAL, "%.60s: bad test; try: qperf --help tests", name);
	r->tested = true;
	r->trailing = false;
	r->ended = !strcmp(name, "quit");
	return r->dry ? check_loops(r, (unsigned)test, err) : run_loops(r, (unsigned)test, 0, err);
}

static int show_help(struct reader *r, const char *topic, struct error *err)
{
	r->ended = true;
	if (r->dry || qperf_help(r->output->results, topic))
		return 0;
	return error_set(err, -EINVAL, "cannot find help category %.60s; try: qperf --help categories", topic);
}

static int show_version(struct reader *r)
{
	if (!r->dry)
		fprintf(r->output->results, "qperf %s (fabperf %s)\n", QPERF_VERSION, FABPERF_VERSION);
	r->ended = true;
	return 0;
}

static int take_option(struct reader *r, const char *word, struct error *err)
{
	const char *now, *value = NULL;
	const int option = qperf_option_find(word, &now);

	if (option < 0)
		return error_set(err, -EINVAL, "%.60s: bad option; try: qperf --help options", word);
	if (now && !r->dry)
		fprintf(r->output->results, "warning: obsolete option: %s; use %s instead\n", word, now);
	if (qperf_options[option].effect == IS_VERSION)
		return show_version(r);
	if (qperf_options[option].value && r->next < r->count)
		value = r->words[r->next++];
	if (qperf_options[option].effect == IS_HELP)
		return show_help(r, value ? value : "main", err);
	if (qperf_options[option].value && !value)
		return error_set(err, -EINVAL, "missing argument to %s", word);
	r->trailing = true;
	r->last = word;
	return qperf_option_set(&r->line, option, word, value, err);
}

static int take_word(struct reader *r, const char *word, struct error *err)
{
	if (word[0] == '-')
		return take_option(r, word, err);
	if (!r->line.host) {
		if (qperf_test_find(word) >= 0 && r->count == 1)
			return error_set(err, -EINVAL, "must specify host name first; try: qperf --help");
		r->line.host = word;
		return 0;
	}
	return run_test(r, word, err);
}

/* What only the whole line shows. An option behind the last test would do nothing. */
static int check_end(const struct reader *r, struct error *err)
{
	if (r->ended && !r->tested)
		return 0;
	if (!r->line.host && r->line.client_only)
		return error_set(err, -EINVAL,
				 "you used a client-only option but did not specify the server name.\n"
				 "Do you want to be a client or server?");
	if (!r->line.host)
		return 0;
	if (!r->tested)
		return error_set(err, -EINVAL, "must specify a test type; try: qperf --help");
	if (r->trailing)
		return error_set(err, -EINVAL,
				 "%s stands behind the last test and would have no effect: put it before the test "
				 "that it is for",
				 r->last);
	return 0;
}

static int read_all(struct reader *r, struct error *err)
{
	int rc = 0;

	while (rc == 0 && r->next < r->count && !r->ended)
		rc = take_word(r, r->words[r->next++], err);
	return rc;
}

static int complain(const struct reader *r, const struct error *err)
{
	FILE *to = strncmp(err->text, "server:", 7) ? r->output->results : r->output->errors;

	fprintf(to, "%s\n", err->text);
	return 1;
}

int qperf_run_words(int count, char *const *words, const struct qperf_output *output)
{
	struct reader reader = { .output = output, .words = words, .count = count }, dry;
	struct error err = { 0 };
	int rc;

	qperf_line_init(&reader.line);
	dry = reader;
	dry.dry = true;
	rc = read_all(&dry, &err); /* what is wrong is said before the first test runs */
	if (rc == 0)
		rc = check_end(&dry, &err);
	if (rc == 0)
		rc = read_all(&reader, &err);
	if (rc == 0 && !reader.ended && !reader.line.host)
		rc = qperf_serve(&reader.line, output->say, &err);
	return rc ? complain(&reader, &err) : 0;
}
