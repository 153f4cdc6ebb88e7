/* The nodes of a test in a scenario file. */
#ifndef PLAN_NODES_H
#define PLAN_NODES_H

#include "plan/json_text.h"
#include "plan/scenario.h"

/*
 * Fills in the test's nodes from the list at place; GPUs of a node are marked in the request as given, those of the request
 * are for nodes without. -EINVAL and a sentence with the place.
 */
int read_nodes(const struct document *document, const struct place *place, const json_t *list, struct request *request,
	       struct scenario_test *test, struct error *err);

/* endpoints.c: whether a list of hosts (devices, GPUs) can be expanded, and all lists of a node go together. */
int scenario_check_hosts(const char *list, struct error *err);
int scenario_check_devices(const char *list, struct error *err);
int scenario_check_gpus(const char *list, struct error *err);
int scenario_check_node(const struct scenario_node *node, struct error *err);

#endif
