/* Each burst of each sender, as far as they were kept, as a table of comma-separated values. */
#ifndef REPORT_BURST_LOG_H
#define REPORT_BURST_LOG_H

#include <stdio.h>

/* For report_file(). Instants are ns of rank 0's clock. */
void burst_log_results(FILE *to, void *of); /* a struct results */
void burst_log_outcome(FILE *to, void *of); /* a struct outcome, whose scratch is used */

#endif
