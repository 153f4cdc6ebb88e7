/* A test's result in qperf's rows, or as JSON. */
#ifndef QPERF_SHOW_H
#define QPERF_SHOW_H

#include "qperf/line.h"
#include "qperf/run.h"
#include "qperf/wire.h"

#include <stdio.h>

/* What a test gave. */
struct qperf_outcome {
	const struct qperf_test *test;
	const struct qperf_line *line; /* how it is shown, and what was given */
	const struct qperf_params *loc, *rem; /* what it was run with */
	struct qperf_stat here, there; /* exchanged */
	const struct hist *hist; /* round trips or operations, ns; NULL: none */
	bool whole; /* of hist: not halved */
};

void qperf_show(FILE *to, const struct qperf_outcome *outcome);
void qperf_show_conf(FILE *to, const struct qperf_line *line, const struct qperf_conf *loc,
		     const struct qperf_conf *rem);
/* The latency of a test, s: of samples alone where messages were lost, else as qperf computes it. */
double qperf_latency(const struct qperf_outcome *outcome, const struct qperf_figures *figures);

/* One line of JSON with fixed units (json.c). */
void qperf_show_json(FILE *to, const struct qperf_outcome *outcome);

#endif
