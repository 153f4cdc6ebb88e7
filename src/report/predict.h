/* What is predicted of a plan's bursts, for people and as JSON. */
#ifndef REPORT_PREDICT_H
#define REPORT_PREDICT_H

#include "plan/predict.h"

#include <jansson.h>
#include <stdio.h>

void report_predict(FILE *to, const struct plan_prediction *prediction);
/* null when there is none */
json_t *report_predict_json(const struct plan_prediction *prediction);

#endif
