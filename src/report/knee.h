/* Where loss begins, for people, as JSON and as a picture. */
#ifndef REPORT_KNEE_H
#define REPORT_KNEE_H

#include "model/share.h"
#include "plan/outcome.h"

#include <stdio.h>

void report_knee(FILE *to, const struct knees *knees, const struct plan *plan);
/* The result document of the latest round of bursts (docs/result.schema.json) with the knee in it. NULL without memory. */
char *report_knee_json(const struct knees *knees, struct outcome *outcome);
/* The curve as SVG, for report_file(); of: struct knees. */
void report_knee_curve(FILE *to, void *of);

#endif
