/* Finds options as they are written, old spellings included, and carries out what they set. */
#include "base/units.h"
#include "qperf/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEVEL_MAX  15u
#define PORT_MAX   65535u
#define DEFAULT_S  2u
#define TIMEOUT_S  5u
#define SECOND_NS  1000000000ull
#define DIGITS_MAX 20u

/* Spellings of older qperfs. */
static const struct {
	const char *old, *now;
} obsolete[] = {
	{ "--affinity", "--cpu_affinity" },
	{ "-a", "-ca" },
	{ "-la", "-lca" },
	{ "-ra", "-rca" },
	{ "--rate", "--static_rate" },
	{ "-r", "-sr" },
	{ "-lr", "-lsr" },
	{ "-rr", "-rsr" },
	{ "--port", "--ip_port" },
	{ "-p", "-ip" },
	{ "-P", "-cp" },
	{ "-lP", "-lcp" },
	{ "-rP", "-rcp" },
	{ "-R", "-nr" },
	{ "-lR", "-lnr" },
	{ "-rR", "-rnr" },
	{ "-T", "-to" },
	{ "-lT", "-lto" },
	{ "-rT", "-rto" },
	{ "-S", "-sl" },
	{ "-lS", "-lsl" },
	{ "-rS", "-rsl" },
	{ "--wait", "--wait_server" },
	{ "-W", "-ws" },
	{ "-vC", "-vvc" },
	{ "-vS", "-vvs" },
	{ "-vT", "-vvt" },
	{ "-vU", "-vvu" },
	{ "-aro", "-ar1" },
	{ "-cmo", "-cm1" },
	{ "-fo", "-f1" },
	{ "-cpo", "-cp1" },
	{ "-lcpo", "-lcp1" },
	{ "-rcpo", "-rcp1" },
	{ "-Ar", "-ar" },
	{ "-M", "-mt" },
	{ "-u", "-uu" },
};

void qperf_line_init(struct qperf_line *line)
{
	memset(line, 0, sizeof(*line));
	line->listen_port = QPERF_PORT;
	line->wait_ns = 5 * SECOND_NS;
	line->view.precision = 3;
	line->loc.time = DEFAULT_S;
	line->loc.time_ns = DEFAULT_S * SECOND_NS;
	line->loc.timeout = TIMEOUT_S;
	line->rem = line->loc;
}

static bool written(const struct qperf_option *option, const char *word)
{
	return (option->name && !strcmp(option->name, word)) || (option->letters && !strcmp(option->letters, word));
}

static int find(const char *word)
{
	for (int i = 0; qperf_options[i].name || qperf_options[i].letters; i++)
		if (written(&qperf_options[i], word))
			return i;
	return -1;
}

int qperf_option_find(const char *word, const char **now)
{
	*now = NULL;
	for (size_t i = 0; i < sizeof(obsolete) / sizeof(obsolete[0]); i++)
		if (!strcmp(obsolete[i].old, word))
			*now = obsolete[i].now;
	return find(*now ? *now : word);
}

int qperf_option_named(const char *name)
{
	for (int i = 0; qperf_options[i].name || qperf_options[i].letters; i++) {
		const struct qperf_option *option = &qperf_options[i];

		if (option->effect != SETS || option->fixed || qperf_params[option->param].type == TYPE_TEXT)
			continue;
		if (!strcmp(option->name + 2, name) || (option->letters && !strcmp(option->letters + 1, name)))
			return i;
	}
	return -1;
}

/* It is known from now on that the option was given, and how. */
static void give(struct qperf_line *line, const struct qperf_option *option, const char *word)
{
	if (option->sides & SIDE_LOC) {
		line->spelled_loc[option->param] = word;
		line->given_loc |= PARAM_BIT(option->param);
	}
	if (option->sides & SIDE_REM) {
		line->spelled_rem[option->param] = word;
		line->given_rem |= PARAM_BIT(option->param);
	}
}

static void set_number(struct qperf_params *params, int param, uint32_t value)
{
	memcpy((char *)params + qperf_params[param].offset, &value, sizeof(value));
	if (param == PARAM_TIME)
		params->time_ns = value * SECOND_NS;
}

static void set_number_of(struct qperf_line *line, int option, const char *word, uint32_t value)
{
	const struct qperf_option *o = &qperf_options[option];

	if (o->sides & SIDE_LOC)
		set_number(&line->loc, o->param, value);
	if (o->sides & SIDE_REM)
		set_number(&line->rem, o->param, value);
	give(line, o, word);
}

static int set_text(struct qperf_line *line, int option, const char *word, const char *value, struct error *err)
{
	const struct qperf_option *o = &qperf_options[option];
	const size_t at = qperf_params[o->param].offset;

	if (strlen(value) >= QPERF_TEXT)
		return error_set(err, -EINVAL, "%s %.60s...: too long", word, value);
	if (o->sides & SIDE_LOC)
		snprintf((char *)&line->loc + at, QPERF_TEXT, "%s", value);
	if (o->sides & SIDE_REM)
		snprintf((char *)&line->rem + at, QPERF_TEXT, "%s", value);
	give(line, o, word);
	return 0;
}

/* The wire carries whole seconds: a fraction is rounded up there and kept beside it. */
static int set_time(struct qperf_line *line, int option, const char *word, const char *value, struct error *err)
{
	const struct qperf_option *o = &qperf_options[option];
	uint64_t ns;
	int rc = qperf_parse_time(word, value, &ns, err);

	if (rc)
		return rc;
	if (ns == 0)
		return error_set(err, -EINVAL, "bad argument: %.60s: more than 0", value);
	set_number_of(line, option, word, (uint32_t)((ns + SECOND_NS - 1) / SECOND_NS));
	if (o->param == PARAM_TIME)
		line->loc.time_ns = line->rem.time_ns = ns;
	return 0;
}

static int check_number(int param, uint32_t value, const char *text, struct error *err)
{
	if (qperf_params[param].type == TYPE_LEVEL && value > LEVEL_MAX)
		return error_set(err, -EINVAL, "service level must be between 0 and 15: %.60s given", text);
	if (param == PARAM_PORT && value > PORT_MAX)
		return error_set(err, -EINVAL, "bad argument: %.60s: a port is at most %u", text, PORT_MAX);
	if (param == PARAM_MSG_SIZE && value == 0)
		return error_set(err, -EINVAL, "bad argument: %.60s: a message has at least a byte", text);
	if (param == PARAM_STREAMS && (value == 0 || value > STREAMS_MAX))
		return error_set(err, -EINVAL, "bad argument: %.60s: 1 to %u streams", text, STREAMS_MAX);
	return 0;
}

int qperf_param_set(struct qperf_line *line, int option, const char *word, const char *value, struct error *err)
{
	const int param = qperf_options[option].param;
	const enum qperf_type type = qperf_params[param].type;
	uint32_t number = 0;
	double bytes;
	int rc = 0;

	if (type == TYPE_TEXT)
		return set_text(line, option, word, value, err);
	if (type == TYPE_TIME)
		return set_time(line, option, word, value, err);
	if (type == TYPE_SIZE) {
		rc = qperf_parse_size(word, value, &bytes, err);
		number = rc ? 0 : (uint32_t)bytes;
	} else if (type != TYPE_CPU || strcasecmp(value, "any")) {
		rc = qperf_parse_count(word, value, &number, err);
	}
	if (rc == 0)
		rc = check_number(param, number, value, err);
	if (rc)
		return rc;
	if (type == TYPE_ON_OFF)
		number = number != 0;
	if (type == TYPE_CPU && strcasecmp(value, "any"))
		number++; /* 0 on the wire: any */
	set_number_of(line, option, word, number);
	return 0;
}

static void set_verbose(struct qperf_view *view, const struct qperf_option *option)
{
	const uint8_t level = (uint8_t)(option->fixed[0] - '0');

	for (int group = 0; group < GROUPS; group++)
		if ((option->param == GROUPS || option->param == group) && view->verbose[group] < level)
			view->verbose[group] = level;
}

static int set_port(struct qperf_line *line, const char *word, const char *value, struct error *err)
{
	uint32_t port;
	int rc = qperf_parse_count(word, value, &port, err);

	if (rc == 0 && (port == 0 || port > PORT_MAX))
		rc = error_set(err, -EINVAL, "bad argument: %.60s: a port is 1 to %u", value, PORT_MAX);
	if (rc == 0)
		line->listen_port = port;
	return rc;
}

static int set_precision(struct qperf_line *line, const char *word, const char *value, struct error *err)
{
	uint32_t digits;
	int rc = qperf_parse_count(word, value, &digits, err);

	if (rc == 0 && digits > DIGITS_MAX)
		rc = error_set(err, -EINVAL, "bad argument: %.60s: at most %u digits", value, DIGITS_MAX);
	if (rc == 0)
		line->view.precision = digits;
	return rc;
}

static bool is_servers(const struct qperf_option *option)
{
	return option->effect == SETS_LISTEN_PORT || option->effect == SETS_DEBUG ||
	       (option->effect == SETS && option->param == PARAM_TIMEOUT && option->sides == SIDE_LOC);
}

int qperf_option_set(struct qperf_line *line, int option, const char *word, const char *value, struct error *err)
{
	const struct qperf_option *o = &qperf_options[option];

	line->client_only |= !is_servers(o);
	switch (o->effect) {
	case SETS:
		return qperf_param_set(line, option, word, o->fixed ? o->fixed : value, err);
	case SETS_LISTEN_PORT:
		return set_port(line, word, value, err);
	case SETS_PRECISION:
		return set_precision(line, word, value, err);
	case SETS_WAIT:
		return qperf_parse_time(word, value, &line->wait_ns, err);
	case SETS_VERBOSE:
		set_verbose(&line->view, o);
		return 0;
	case IS_LOOP:
		if (line->loops == QPERF_LOOPS)
			return error_set(err, -EINVAL, "%s: at most %d loops", word, QPERF_LOOPS);
		return qperf_parse_loop(word, value, &line->loop[line->loops++], err);
	case IS_HOST:
		line->host = value;
		return 0;
	case SETS_DEBUG:
		line->debug = true;
		return 0;
	case SETS_UNIFY_NODES:
		line->view.unify_nodes = true;
		return 0;
	case SETS_UNIFY_UNITS:
		line->view.unify_units = true;
		return 0;
	case SETS_BITS:
		line->view.bits = true;
		return 0;
	case SETS_JSON:
		line->view.json = true;
		return 0;
	case SETS_POLL:
		line->poll = true;
		return 0;
	case IS_HELP:
	case IS_VERSION:
		break;
	}
	return 0;
}
