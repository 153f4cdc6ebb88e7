/* Renders a result: terminal block, JSON document, progress and live lines. Sees results only. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/error.h"
#include "spec/result.h"

#include <stdbool.h>
#include <stdio.h>

/* The block for people: figures (label, value ending in column 46, [unit]) and under it the conditions. */
void report_terminal(FILE *to, const struct result *result);

/* A sweep: the row of test i (0: with title and head) when it is over, and at the end what is to be said of the whole. */
void report_row(FILE *to, const struct results *results, unsigned i);
void report_table_end(FILE *to, const struct results *results);

/* The complete JSON document (docs/result.schema.json), also of a failed or interrupted run. NULL when out of memory. */
char *report_json(const struct results *results);
/* Writes it to path through a temporary file and rename(); "-" is stdout. */
int report_json_file(const struct results *results, const char *path, struct error *err);
/* The same of a document that is made already, which it takes over; NULL: there was no memory for it. */
int report_json_write(char *text, const char *path, struct error *err);
/* What write() writes, piece by piece, in the same way. */
typedef void report_writer(FILE *to, void *of);
int report_file(const char *path, report_writer *write, void *of, struct error *err);
/* Before a run: whether a file of that option could be written at all; nothing is written. No path, "-": it can. */
int report_file_check(const char *path, const char *option, struct error *err);
/* Default path of -j without a value: ./fabperf_results_<UTC time, ms>.json */
void report_json_default_path(int64_t started_unix_ns, char *ret, size_t size);

/* Progress on stderr: a spinner line while preparing, a bar of 40 cells with elapsed and remaining time, live lines. */
struct progress_view {
	FILE *to;
	bool enabled; /* a terminal and not --non_interactive */
	bool live; /* live lines are printed even without a terminal; set by progress_init */
	int last_phase, spin;
	unsigned test, tests; /* of a sweep: number of the one at hand, and how many there are */
	bool line_open; /* a line without its newline is on the screen */
};
void progress_init(struct progress_view *view, FILE *to, bool interactive);
void progress_test(struct progress_view *view, unsigned number, unsigned of);
void progress_preparing(struct progress_view *view, const char *what, double seconds);
void progress_traffic(struct progress_view *view, double elapsed, double total);
/* A live line is progress, not a result: out is stderr (docs/measures.md), so that stdout holds the report alone. */
struct live_line {
	double at, gbps, mpps; /* s, 10^9 bit/s, 10^6 messages/s */
	bool both; /* two directions: the figures are the sum, and each in Gb/s is */
	double to_server, to_client;
};
void progress_live(struct progress_view *view, FILE *out, const struct live_line *line);
void progress_end(struct progress_view *view); /* clears the open line */

#endif
