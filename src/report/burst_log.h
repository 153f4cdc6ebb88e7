/* Each burst of each sender, as far as they were kept, as a table of comma-separated values. */
#ifndef REPORT_BURST_LOG_H
#define REPORT_BURST_LOG_H

struct outcome;
struct result;
struct results;

/* The text, to be freed; NULL: no memory. Instants are ns of rank 0's clock. */
char *burst_log_results(const struct results *results);
char *burst_log_outcome(const struct outcome *outcome, struct result *scratch);

#endif
