/* Sums of a scenario's connections in its result document: by host, device and process, by pair; the best and the worst. */
#ifndef REPORT_JSON_SUMS_H
#define REPORT_JSON_SUMS_H

#include "plan/outcome.h"

#include <jansson.h>

/* Entries of each test at each point that ran. */
json_t *part_per_node(const struct outcome *outcome);
json_t *part_per_device(const struct outcome *outcome);
json_t *part_per_process(const struct outcome *outcome);
/* Of one test: both directions of its pairs together; null without such. */
json_t *part_pairs(const struct outcome *outcome, unsigned point, uint32_t test);
/* The ten best connections of a test, or the ten worst. */
json_t *part_extremes(const struct outcome *outcome, unsigned point, uint32_t test, bool best);
/* Connections without a figure, as far as they are told, and why. */
json_t *part_failures(const struct outcome *outcome, unsigned point, uint32_t test);

#endif
