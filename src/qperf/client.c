/* A qperf client's side of a test: asks for it, takes part in it, takes the server's results and shows both. */
#include "qperf/qperf.h"

#include "qperf/conf.h"
#include "qperf/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS   1000000000ull
#define MTU_DEFAULT 2048

struct client {
	struct qperf_line *line;
	const struct qperf_test *test;
	unsigned number;
	const struct qperf_output *output;
	struct clock clock;
	struct qperf_channel channel;
	struct qperf_params loc, rem; /* of this test: defaults filled in */
	struct qperf_stat there;
};

static void warn_of(const struct client *c, const char *option)
{
	fprintf(c->output->results, "warning: %s set but not used in test %s\n", option, c->test->name);
}

/* qperf's own warning of options that the test has no use for. */
static void warn(const struct client *c)
{
	struct qperf_line *line = c->line;
	uint32_t idle = line->given_loc | line->given_rem;

	if (c->test->family == FAMILY_CONTROL)
		return;
	line->used |=
		qperf_test_uses(c->test, &c->loc) | PARAM_BIT(PARAM_STREAMS); /* which is refused, not warned of */
	idle &= ~line->used;
	for (int id = 0; id < PARAMS; id++) {
		const char *loc = line->spelled_loc[id], *rem = line->spelled_rem[id];

		if (idle & PARAM_BIT(id) && loc)
			warn_of(c, loc);
		if (idle & PARAM_BIT(id) && rem && !(loc && !strcmp(loc, rem)))
			warn_of(c, rem);
	}
}

/* A test by count has no time, unless one was given. */
static void fill(struct qperf_params *params, uint32_t given, const struct qperf_test *test)
{
	if (!(given & test->uses & PARAM_BIT(PARAM_MSG_SIZE)))
		params->msg_size = test->size;
	if (!(given & PARAM_BIT(PARAM_MTU_SIZE)) && test->family == FAMILY_RDMA)
		params->mtu_size = MTU_DEFAULT;
	if (params->no_msgs && !(given & PARAM_BIT(PARAM_TIME))) {
		params->time = 0;
		params->time_ns = 0;
	}
}

/* --debug */
static void trace(const struct client *c, const char *step)
{
	if (c->line->debug)
		fprintf(c->output->errors, "%s: %s\n", c->test->name, step);
}

static int connect_server(struct client *c, unsigned test, struct error *err)
{
	const struct qperf_request request = { .test = (uint16_t)test, .params = c->rem };
	uint8_t data[REQ_BYTES];
	int rc;

	c->channel = (struct qperf_channel){
		.fd = -1, .clock = &c->clock, .timeout_ns = qperf_timeout_ns(c->loc.timeout), .client = true
	};
	rc = qperf_channel_connect(&c->channel, c->line->host, c->line->listen_port, (int64_t)c->line->wait_ns, err);
	if (rc)
		return rc;
	trace(c, "connected");
	qperf_request_pack(&request, data);
	return qperf_send(&c->channel, data, sizeof(data), "request", err);
}

static int ask_conf(struct client *c, struct qperf_conf *ret, struct error *err)
{
	uint8_t data[CONF_BYTES];
	int rc = connect_server(c, 0, err);

	if (rc == 0)
		rc = qperf_recv(&c->channel, data, sizeof(data), "configuration", err);
	if (rc == 0)
		qperf_conf_unpack(data, ret);
	return rc;
}

/* What only our server can do; qperf's would do something else, or never end. */
static const char *ours_only(const struct client *c)
{
	if (!strncmp(c->test->name, "xrc_", 4))
		return "XRC";
	if (c->loc.streams > 1)
		return "--streams";
	if (c->loc.time_ns % SECOND_NS)
		return "-t with a fraction of a second";
	if (c->loc.flip && (c->test->uses & PARAM_BIT(PARAM_FLIP)))
		return "-f";
	if (c->loc.no_msgs && strcmp(c->test->name, "rc_bw") && strcmp(c->test->name, "uc_bw") &&
	    strcmp(c->test->name, "ud_bw"))
		return "-n";
	return NULL;
}

static int check_server(struct client *c, struct error *err)
{
	const char *what = ours_only(c);
	struct qperf_conf conf;
	int rc = 0;

	if (!what || !(c->test->uses & PARAM_BIT(PARAM_TIME)))
		return 0;
	rc = ask_conf(c, &conf, err);
	qperf_channel_close(&c->channel);
	if (rc == 0 && !qperf_conf_is_ours(&conf))
		rc = error_set(err, -EOPNOTSUPP,
			       "%s: the server is qperf %.20s, which cannot do that in %s: leave it out, or run "
			       "'fabperf qperf' there",
			       what, conf.version, c->test->name);
	return rc;
}

static int run_conf(struct client *c, struct error *err)
{
	struct qperf_conf loc, rem;
	int rc = ask_conf(c, &rem, err);

	if (rc)
		return rc;
	qperf_conf_read(&loc);
	qperf_show_conf(c->output->results, c->line, &loc, &rem);
	return 0;
}

static int run_quit(struct client *c, struct error *err)
{
	int rc = connect_server(c, c->number, err);

	return rc ? rc : qperf_sync(&c->channel, BEFORE_TEST, err);
}

/* The server's results come when its own time is over. */
static int take_results(struct client *c, const struct qperf_run *run, struct error *err)
{
	uint8_t data[STAT_BYTES], rest[MORE_BYTES];
	bool more;
	int rc = qperf_recv_within(&c->channel, data, sizeof(data), QPERF_BEHIND * c->channel.timeout_ns, "results",
				   err);

	if (rc == 0)
		rc = qperf_stat_unpack(data, &c->there, &more, err);
	if (rc == 0 && more) {
		rc = qperf_recv(&c->channel, rest, sizeof(rest), "results", err);
		if (rc == 0)
			qperf_more_unpack(rest, &c->there);
	}
	return rc || run->told_end ? rc : qperf_send_text(&c->channel, AFTER_TEST, err);
}

static bool nothing(const struct qperf_run *run, const struct qperf_stat *there)
{
	return run->test->figure == SHOW_LATENCY && !run->stat.recv.msgs && !there->recv.msgs;
}

static void set_seconds(struct qperf_stat *stat, double seconds)
{
	stat->end[CLOCK_REAL] = stat->start[CLOCK_REAL] + (uint64_t)(seconds * stat->ticks);
}

/*
 * By count the end that began late has too short a time: the longer one holds for both. An end that took no part knows
 * neither when it began nor when it ended.
 */
static void even_times(struct qperf_stat *here, struct qperf_stat *there, bool alone)
{
	const double own = qperf_seconds(here, CLOCK_REAL), peers = qperf_seconds(there, CLOCK_REAL);

	if (alone || own > peers)
		set_seconds(there, own);
	else
		set_seconds(here, peers);
}

static void show(struct client *c, struct qperf_run *run)
{
	struct qperf_outcome outcome = { .test = c->test,
					 .line = c->line,
					 .loc = &c->loc,
					 .rem = &c->rem,
					 .here = run->stat,
					 .there = c->there,
					 .hist = run->hist,
					 .whole = run->whole };

	qperf_stat_exchange(&outcome.here, &outcome.there);
	if (c->loc.no_msgs)
		even_times(&outcome.here, &outcome.there, run->told_end);
	if (c->loc.no_msgs && c->test->figure != SHOW_LATENCY &&
	    outcome.there.lost != UINT64_MAX) /* all have arrived or never will */
		outcome.there.lost = outcome.here.send.msgs - outcome.there.recv.msgs;
	if (c->line->view.json)
		qperf_show_json(c->output->results, &outcome);
	else
		qperf_show(c->output->results, &outcome);
}

static int run_measured(struct client *c, struct error *err)
{
	struct qperf_run run = { .channel = &c->channel,
				 .test = c->test,
				 .params = c->loc,
				 .client = true,
				 .poll = c->line->poll,
				 .clock = &c->clock,
				 .hist = c->test->figure == SHOW_LATENCY ? malloc(sizeof(*run.hist)) : NULL };
	int rc;

	if (run.hist)
		hist_init(run.hist);
	else if (c->test->figure == SHOW_LATENCY)
		return error_set(err, -ENOMEM, "no memory for a histogram");
	rc = connect_server(c, c->number, err);
	if (rc == 0)
		rc = qperf_run_test(&run, err);
	if (rc == 0)
		trace(c, "waiting for results");
	if (rc == 0)
		rc = take_results(c, &run, err);
	qperf_run_close(&run);
	if (rc == 0) /* else the next test would begin behind this one's data */
		qperf_channel_drain(&c->channel, QPERF_BEHIND * c->channel.timeout_ns);
	if (rc == 0 && nothing(&run, &c->there))
		rc = error_set(err, -ENODATA, "%s: no message came back", c->test->name);
	if (rc == 0)
		show(c, &run);
	free(run.hist);
	return rc;
}

static int run_test(struct client *c, struct error *err)
{
	int rc;

	if (!strcmp(c->test->name, "conf"))
		return run_conf(c, err);
	if (!strcmp(c->test->name, "quit"))
		return run_quit(c, err);
	rc = check_server(c, err);
	return rc ? rc : run_measured(c, err);
}

int qperf_client_check(const struct qperf_line *line, unsigned test, struct error *err)
{
	const bool uses = qperf_tests[test].uses & PARAM_BIT(PARAM_STREAMS);
	double most = line->loc.streams;

	for (unsigned i = 0; i < line->loops; i++)
		if (qperf_options[line->loop[i].option].param == PARAM_STREAMS && line->loop[i].last > most)
			most = line->loop[i].last;
	if (most <= 1 || qperf_tests[test].family == FAMILY_CONTROL)
		return 0;
	if (!uses)
		return error_set(err, -EINVAL,
				 "--streams: %s has one: several have tcp_bw, udp_bw, sctp_bw, sdp_bw and rds_bw; put "
				 "--streams 1 before others",
				 qperf_tests[test].name);
	if (most > STREAMS_MAX)
		return error_set(err, -EINVAL, "-oo streams: at most %u", STREAMS_MAX);
	if (line->loc.no_msgs)
		return error_set(err, -EINVAL, "--streams and -n exclude each other: several streams run for a time");
	return 0;
}

int qperf_client_test(struct qperf_line *line, unsigned test, const struct qperf_output *output, struct error *err)
{
	struct client client = { .line = line,
				 .test = &qperf_tests[test],
				 .number = test,
				 .output = output,
				 .channel.fd = -1,
				 .loc = line->loc,
				 .rem = line->rem };
	int rc;

	clock_init(&client.clock, false);
	if (!line->view.json)
		fprintf(output->results, "%s:\n", client.test->name);
	warn(&client);
	fflush(output->results);
	fill(&client.loc, line->given_loc, client.test);
	fill(&client.rem, line->given_rem, client.test);
	rc = run_test(&client, err);
	if (rc)
		qperf_channel_complain(&client.channel, err);
	qperf_channel_close(&client.channel);
	fflush(output->results);
	return rc;
}
