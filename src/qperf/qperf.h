/* qperf: the same command line, output and messages on the wire as qperf 0.4.11's. */
#ifndef QPERF_QPERF_H
#define QPERF_QPERF_H

#include "base/error.h"
#include "qperf/line.h"

#include <stdio.h>

/* Where it prints. */
struct qperf_output {
	FILE *results, *errors; /* errors that came from the server */
	void (*say)(const char *sentence); /* a server's: what went wrong with a client */
};

/* What of the line does not go with a test, before anything is run. */
int qperf_client_check(const struct qperf_line *line, unsigned test, struct error *err);
/* Runs one test of the line and prints its result. 0 or a negative errno; err's sentence is the caller's to print. */
int qperf_client_test(struct qperf_line *line, unsigned test, const struct qperf_output *output, struct error *err);

/* Serves until a client asks for quit or a signal comes: 0, or a negative errno. say prints a client's trouble. */
int qperf_serve(const struct qperf_line *line, void (*say)(const char *sentence), struct error *err);

/* A topic of the help; false when there is none of that name. */
bool qperf_help(FILE *to, const char *topic);

/* Reads the words from left to right and runs each test when its name comes. Returns the exit status. */
int qperf_run_words(int count, char *const *words, const struct qperf_output *output);

#endif
