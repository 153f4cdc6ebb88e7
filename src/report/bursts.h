/* What bursts came to, as lines for people and as a part of the result document. */
#ifndef REPORT_BURSTS_H
#define REPORT_BURSTS_H

#include "spec/burst.h"

#include <jansson.h>

struct page;

void block_bursts(const struct page *page, const struct spec *spec, const struct burst_summary *bursts);
json_t *part_bursts(const struct spec *spec, const struct burst_summary *bursts); /* NULL bursts: null */

json_t *part_burst_size(const struct spec *spec); /* messages of a queue pair's burst; null: none are counted out */

/* Who kept the rate of storage: "program", "device", or "both" of different senders. */
const char *paced_by(const struct burst_summary *b);

#endif
