/* The blocks of the terminal report, from top to bottom; each prints nothing when it has nothing to say. */
#ifndef REPORT_BLOCKS_H
#define REPORT_BLOCKS_H

#include <stdbool.h>

struct page;
struct request;
struct result;

/* Bandwidth or latency, both sides, loss, steadiness. */
void block_figures(const struct page *page, const struct result *result);
void block_validity(const struct page *page, const struct result *result); /* with --validate */
void block_operations(const struct page *page, const struct result *result); /* a line each of a list */
void block_workers(const struct page *page, const struct result *result); /* a line each, when there are several */
void block_qps(const struct page *page, const struct result *result); /* a bar each, with --qp_histogram */
void block_notes(const struct page *page, const struct result *result); /* what a reader must know about the figures */
void block_threshold(const struct page *page, const struct result *result);
void block_conditions(const struct page *page, const struct result *result); /* what was used, and the options */
void block_options(const struct page *page, const struct result *result); /* what was given, what was chosen */

/* "write, 65536 bytes" or "write:64Ki,send:4Ki an iteration"; what stands between verb and size. */
#define OPERATION_TEXT 600
char *operation_text(const struct request *request, const char *between, char ret[OPERATION_TEXT]);

#endif
