/* The parts of the result document; each returns a new value, null where nothing was measured, NULL without memory. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "spec/result.h"

#include <jansson.h>

json_t *part_version_info(void);
json_t *part_status(enum run_status status);
json_t *part_error(enum run_status status, const struct error *error); /* null unless it failed or was interrupted */
json_t *part_started(int64_t unix_ns); /* 2026-01-31T12:00:00.123Z */
json_t *part_connection(const struct result *result, unsigned number); /* of one direction */
/* An entry per pair of hosts: both of its directions, the first of them connection number first, and their sum. */
void part_append_pair(json_t **array, const struct result *result, unsigned first);
json_t *part_scenario(const struct request *request); /* every option by its JSON key */
json_t *part_spec(const struct spec *spec); /* a test's options alone, without direction and device */
json_t *part_test_config(const struct result *result);

json_t *part_bw(const struct result *result, const struct rank_result *rank); /* bwResults; null for latency */
json_t *part_bw_total(const struct result *result); /* the same of all directions together */
json_t *part_lat(const struct result *result); /* latResults with histogram; null for bandwidth */
json_t *part_lat_summary(const struct result *result); /* the same without the histogram */
json_t *part_load(const struct result *result);
json_t *part_validity(const struct result *result); /* validationResults; null without --validate */
json_t *part_operation(const struct spec_op *op); /* verb and msgSize */
json_t *part_operations(const struct result *result); /* of a list each with its figures; null when there is none */
json_t *part_loss(const struct result *result);
json_t *part_steadiness(const struct result *result, const struct rank_result *rank);
json_t *part_window(const struct result *result, const struct rank_result *rank);
json_t *part_cpu(const struct rank_result *rank);
json_t *part_threshold(const struct result *result);
json_t *part_remarks(const struct result *result);

/* Host, device, cores, memory, facts; server: its name is the one that was asked for when it was never reached. */
json_t *part_side(const struct result *result, const struct rank_result *rank, bool server);
json_t *part_counters(const struct port_counters *counters); /* each that was read; null when none was */
json_t *part_processes(const struct result *result); /* a row per worker of both sides */

#endif
