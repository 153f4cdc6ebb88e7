/* Renders what became of a scenario: for people a summary of each test and the matrix of its connections. */
#ifndef REPORT_MANY_H
#define REPORT_MANY_H

#include "plan/outcome.h"

#include <jansson.h>
#include <stdio.h>

void report_many(FILE *to, const struct outcome *outcome);
/* The complete JSON document (docs/result.schema.json), also of a run that failed or was interrupted. NULL without memory. */
json_t *report_many_tree(const struct outcome *outcome, struct result *scratch);
char *report_many_json(const struct outcome *outcome, struct result *scratch);

#endif
