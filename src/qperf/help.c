/* qperf's help topics, written from the tables of options and tests. */
#include "qperf/qperf.h"

#include "qperf/test.h"

#include <string.h>

#define WIDTH 76

/* Words of a text in lines of at most WIDTH, each indented. */
static void paragraph(FILE *to, int indent, const char *text)
{
	int column = 0;

	while (*text) {
		const int len = (int)strcspn(text, " ");

		if (column && column + 1 + len > WIDTH) {
			fputc('\n', to);
			column = 0;
		}
		if (column)
			fputc(' ', to);
		else
			fprintf(to, "%*s", indent, "");
		column += (column ? 1 : indent) + len;
		fwrite(text, 1, (size_t)len, to);
		text += (size_t)len + strspn(text + len, " ");
	}
	fputc('\n', to);
}

static void topic_main(FILE *to)
{
	fputs("Synopsis\n    qperf\n    qperf SERVERNODE [OPTIONS] TESTS\n\nDescription\n", to);
	paragraph(
		to, 4,
		"Measures bandwidth and latency between two nodes, over sockets and RDMA. On one node it runs without "
		"arguments and is the server. On the other it is given the server's name and the tests; options stand "
		"before the tests that they are for.");
	fputs("\n    qperf --help examples     Some command lines\n"
	      "    qperf --help opts         Options, a line each\n"
	      "    qperf --help options      Options, described\n"
	      "    qperf --help tests        Tests, a line each\n"
	      "    qperf --help TESTNAME     More on a test\n"
	      "    qperf --help categories   All topics\n",
	      to);
}

static void topic_categories(FILE *to)
{
	fputs("qperf --help CATEGORY, where CATEGORY is\n"
	      "    categories          This list\n"
	      "    examples            Some command lines\n"
	      "    options             Options, described\n"
	      "    opts                Options, a line each\n"
	      "    tests               Tests, a line each\n"
	      "or one of the tests\n",
	      to);
	for (unsigned i = 0; i < QPERF_TESTS; i++)
		fprintf(to, "    %s\n", qperf_tests[i].name);
}

static void topic_examples(FILE *to)
{
	static const char *const examples[][2] = {
		{ "TCP bandwidth and latency:", "qperf myserver tcp_bw tcp_lat" },
		{ "TCP bandwidth for ten seconds:", "qperf myserver -t 10 tcp_bw" },
		{ "UDP latency, then end the server:", "qperf myserver udp_lat quit" },
		{ "UD latency and bandwidth:", "qperf myserver ud_lat ud_bw" },
		{ "RC bandwidth in both directions:", "qperf myserver rc_bi_bw" },
		{ "TCP latency for sizes from 1 to 64K:", "qperf myserver -oo msg_size:1:64K:*2 -vu tcp_lat" },
	};

	fputs("The server runs on the node myserver: qperf without arguments. Then, on another node:\n", to);
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		fprintf(to, "    * %s\n        %s\n", examples[i][0], examples[i][1]);
}

/* "--time Time (-t)" */
static void spelling(const struct qperf_option *option, char *ret, size_t size)
{
	if (!option->name)
		snprintf(ret, size, "%s", option->letters);
	else if (!option->letters)
		snprintf(ret, size, "%s", option->name);
	else
		snprintf(ret, size, "%s%s%s (%s)", option->name, option->value ? " " : "",
			 option->value ? option->value : "", option->letters);
}

static int depth(const struct qperf_option *option)
{
	return !option->name || (option->effect == SETS && option->sides != SIDE_BOTH) ? 2 : 0;
}

static void topic_opts(FILE *to)
{
	char text[80];

	for (const struct qperf_option *o = qperf_options; o->name || o->letters; o++) {
		spelling(o, text, sizeof(text));
		fprintf(to, "%*s%-*s %s\n", depth(o), "", 36 - depth(o), text, o->brief);
	}
}

static void topic_options(FILE *to)
{
	char text[80];

	for (const struct qperf_option *o = qperf_options; o->name || o->letters; o++) {
		spelling(o, text, sizeof(text));
		fprintf(to, "%*s%s\n      %s.\n", depth(o), "", text, o->brief);
		paragraph(to, 6, o->more);
	}
}

static void topic_tests(FILE *to)
{
	static const struct {
		const char *title, *prefix[6];
	} groups[] = {
		{ "Miscellaneous", { "conf", "quit" } },
		{ "Sockets", { "rds_", "sctp_", "sdp_", "tcp_", "udp_" } },
		{ "RDMA", { "rc_", "uc_", "ud_", "xrc_" } },
		{ "Verification", { "ver_" } },
	};

	for (size_t group = 0; group < sizeof(groups) / sizeof(groups[0]); group++) {
		fprintf(to, "%s\n", groups[group].title);
		for (int p = 0; p < 6 && groups[group].prefix[p]; p++)
			for (unsigned i = 0; i < QPERF_TESTS; i++)
				if (!strncmp(qperf_tests[i].name, groups[group].prefix[p],
					     strlen(groups[group].prefix[p])))
					fprintf(to, "    %-23s %s\n", qperf_tests[i].name, qperf_tests[i].purpose);
	}
}

static void topic_test(FILE *to, const struct qperf_test *test)
{
	char text[80];

	fprintf(to, "Purpose\n    %s\nOptions\n", test->purpose);
	for (const struct qperf_option *o = qperf_options; o->name || o->letters; o++) {
		if (o->effect != SETS || o->sides != SIDE_BOTH || o->fixed || !(test->uses & PARAM_BIT(o->param)))
			continue;
		spelling(o, text, sizeof(text));
		fprintf(to, "    %-32s %s\n", text, o->brief);
	}
	if (test->size)
		fprintf(to, "Default message size\n    %u bytes\n", test->size);
}

bool qperf_help(FILE *to, const char *topic)
{
	static const struct {
		const char *name;
		void (*print)(FILE *to);
	} topics[] = {
		{ "main", topic_main }, { "categories", topic_categories }, { "examples", topic_examples },
		{ "opts", topic_opts }, { "options", topic_options },       { "tests", topic_tests },
	};
	const int test = qperf_test_find(topic);

	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		if (strcmp(topic, topics[i].name))
			continue;
		topics[i].print(to);
		return true;
	}
	if (test < 0)
		return false;
	topic_test(to, &qperf_tests[test]);
	return true;
}
