/* A qperf command line while it is read from left to right: what is set so far, and what the next test is run with. */
#ifndef QPERF_LINE_H
#define QPERF_LINE_H

#include "base/error.h"
#include "qperf/param.h"

#include <stdbool.h>
#include <stdint.h>

#define QPERF_PORT    19765
#define QPERF_VERSION "0.4.11" /* whose behaviour this is */
#define QPERF_LOOPS   8 /* most -oo */

enum qperf_group { GROUP_CONF, GROUP_STAT, GROUP_TIME, GROUP_USED, GROUPS };

/* One -oo: an option's parameter over a range of values. */
struct qperf_loop {
	int option; /* row of qperf_options, */
	const char *word; /* and as the loop names it, with dashes */
	double first, last, step;
	bool multiply;
};

/* How results are shown. */
struct qperf_view {
	uint32_t precision; /* significant digits */
	bool unify_nodes, unify_units, bits, json;
	uint8_t verbose[GROUPS]; /* 0, 1, 2 */
};

struct qperf_line {
	const char *host; /* NULL: this is a server */
	uint32_t listen_port;
	uint64_t wait_ns;
	bool debug, client_only; /* an option was given that only a client has */
	bool poll; /* sockets: never sleep */
	struct qperf_params loc, rem;
	uint32_t given_loc, given_rem; /* parameters that were set: masks of PARAM_BIT */
	uint32_t used; /* those that some test has used: qperf warns of them no more */
	const char *spelled_loc[PARAMS], *spelled_rem[PARAMS]; /* as the option was written, for each side */
	struct qperf_view view;
	unsigned loops;
	struct qperf_loop loop[QPERF_LOOPS];
};

/* What an option does beside setting a parameter. */
enum qperf_effect {
	SETS, /* the parameter, on the sides it names */
	IS_HELP,
	IS_HOST,
	IS_LOOP,
	IS_VERSION,
	SETS_LISTEN_PORT,
	SETS_PRECISION,
	SETS_WAIT,
	SETS_DEBUG,
	SETS_UNIFY_NODES,
	SETS_UNIFY_UNITS,
	SETS_BITS,
	SETS_JSON,
	SETS_POLL,
	SETS_VERBOSE, /* group in .param, GROUPS: all; level in .fixed */
};
#define SIDE_LOC  1u
#define SIDE_REM  2u
#define SIDE_BOTH 3u

struct qperf_option {
	const char *name, *letters; /* "--time", "-t"; NULL: none */
	enum qperf_effect effect;
	int param; /* SETS: enum qperf_param_id */
	uint8_t sides;
	const char *fixed; /* its value when it takes none */
	const char *value; /* what the help calls its value; NULL: takes none */
	const char *brief, *more; /* help: one line; sentences */
};
extern const struct qperf_option qperf_options[]; /* NULL-terminated by name and letters */

void qperf_line_init(struct qperf_line *line);
/* Row of an option as it was written, obsolete spellings included (then *now says how it is written today); -1. */
int qperf_option_find(const char *word, const char **now);
/* The row of a parameter's plain option by a name without dashes, as -oo has it; -1. */
int qperf_option_named(const char *name);
/* Sets what an option with its value means. */
int qperf_option_set(struct qperf_line *line, int option, const char *word, const char *value, struct error *err);
/* A parameter's value from a text: to its field on the sides of the option. */
int qperf_param_set(struct qperf_line *line, int option, const char *word, const char *value, struct error *err);

/* Values (value.c). */
int qperf_parse_count(const char *word, const char *text, uint32_t *ret, struct error *err);
int qperf_parse_size(const char *word, const char *text, double *ret, struct error *err); /* bytes */
int qperf_parse_time(const char *word, const char *text, uint64_t *ret_ns, struct error *err);
int qperf_parse_loop(const char *word, const char *text, struct qperf_loop *ret, struct error *err);

#endif
