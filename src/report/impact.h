/* What the load did to the victims of a scenario: a table for people, and a part of the result document. */
#ifndef REPORT_IMPACT_H
#define REPORT_IMPACT_H

#include "plan/outcome.h"

#include <jansson.h>

struct page;

/* Of a scenario whose tests have roles. */
void block_impact(const struct page *page, const struct outcome *outcome);
json_t *part_impact(const struct outcome *outcome);

#endif
