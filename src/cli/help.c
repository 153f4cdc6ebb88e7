/* Prints the help: usage, examples, then every option by group, aligned and wrapped, from the option table. */
#include "cli/cli.h"
#include "spec/option.h"

#include <string.h>

#define WIDTH  100 /* columns */
#define COLUMN 32 /* where the explanations begin */

static const char head[] =
	"fabperf measures bandwidth, message rate and latency between two hosts, over RDMA verbs,\n"
	"libfabric or sockets.\n"
	"\n"
	"Usage: fabperf -n HOST [OPTION...]    test against HOST; a server is started there if none listens\n"
	"       fabperf [OPTION...]            be a server; -d and -C choose its device and cores, and other\n"
	"                                      test options are conditions that a client's test must meet\n"
	"       fabperf plan [OPTION...]       what a test of many hosts (--traffic_pattern, -f) is\n"
	"       fabperf knee [OPTION...]       with which bursts of many hosts to one loss begins\n"
	"       fabperf qperf [WORD...]        qperf's words, output and protocol (fabperf qperf --help)\n"
	"\n"
	"Examples:\n"
	"  fabperf -d mlx5_0 -n node2                         RDMA write bandwidth, 64Ki messages, 10 s\n"
	"  fabperf -d mlx5_0 -n node2 -c UD -v send -m lat    send latency over UD, with percentiles\n"
	"  fabperf -n node2 -c TCP -N 4 -R 1 -j               four TCP streams, a line each second, and JSON\n"
	"  fabperf -n localhost -r null --null_rate 100G      check the figures against a link of known rate\n"
	"\n"
	"Sizes take K M G or Ki Mi Gi (steps of 1024) and k m g or kb mb gb (steps of 1000), times ns us ms\n"
	"s m h (a bare number: seconds), rates k M G T. Lists (-s, -q, -t) are 8,64,4K or ranges: 1:64K:*2,\n"
	"each twice the one before, or 16:128:+16; each value is a test. Names may be written with '-' for\n"
	"'_'. In brackets: [default; what is allowed]. An option that can have no effect is refused.\n"
	"Exit status: 0 done, 1 failed, 2 threshold missed, 130 interrupted.\n";

/* Prints text at the cursor's column and wraps at WIDTH to COLUMN. */
static void wrap(FILE *to, const char *text)
{
	size_t column = COLUMN;

	while (*text) {
		const size_t len = strcspn(text, " ");

		if (column > COLUMN && column + 1 + len > WIDTH) {
			fprintf(to, "\n%*s", COLUMN, "");
			column = COLUMN;
		} else if (column > COLUMN) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", (int)len, text);
		column += len;
		text += len + (text[len] == ' ');
	}
}

/* "[10s; 100ms to 1000000s]": default and legal values, as far as the row has them. */
static void limits(const struct option_row *row, char *ret, size_t size)
{
	char allowed[OPTION_VALUE_MAX], value[OPTION_VALUE_MAX];
	struct request request;

	ret[0] = '\0';
	if (row->type == OPTION_FLAG)
		return;
	request_init(&request);
	option_get(&request, (int)(row - option_rows), value, sizeof(value));
	if (row->type == OPTION_TEXT || row->type == OPTION_WORD || row->type == OPTION_CORES ||
	    row->type == OPTION_PERCENTILES || row->type == OPTION_OPERATIONS)
		snprintf(ret, size, "%s%s%s", *value ? " [" : "", value, *value ? "]" : "");
	else
		snprintf(ret, size, " [%s; %s]", value, option_allowed(row, allowed));
}

static void names(FILE *to, const struct option_row *row)
{
	char text[2 * COLUMN], letter[] = "  -?, ";
	const bool optional = row->type == OPTION_CHOICE || (row->flags & OPTION_VALUE_OPTIONAL);
	const char *const brackets = optional ? "[]" : "";
	int len;

	letter[3] = row->letter;
	len = snprintf(text, sizeof(text), "%s--%s%s%.1s%s%s", row->letter ? letter : "      ", row->key,
		       *row->metavar ? " " : "", brackets, row->metavar, *brackets ? brackets + 1 : "");
	if (len > COLUMN - 2)
		fprintf(to, "%s\n%*s", text, COLUMN, "");
	else
		fprintf(to, "%-*s", COLUMN, text);
}

static void option(FILE *to, const struct option_row *row)
{
	char text[4 * OPTION_VALUE_MAX], range[2 * OPTION_VALUE_MAX + 8];

	names(to, row);
	limits(row, range, sizeof(range));
	snprintf(text, sizeof(text), "%s.%s", row->help, range);
	wrap(to, text);
	fputc('\n', to);
}

void cli_help(FILE *to)
{
	const char *group = "";

	fputs(head, to);
	for (const struct option_row *row = option_rows; row < option_rows + option_count; row++) {
		if (row->flags & OPTION_HIDDEN)
			continue;
		if (strcmp(group, row->group) != 0)
			fprintf(to, "\n%s:\n", row->group);
		group = row->group;
		option(to, row);
	}
}
