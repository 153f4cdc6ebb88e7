/* What is predicted of a plan's bursts, for people and as JSON. */
#ifndef REPORT_PREDICT_H
#define REPORT_PREDICT_H

#include "model/predict.h"

#include <jansson.h>
#include <stdio.h>

struct report_prediction {
	bool there; /* there are bursts, and the rate of the links is known */
	bool simulated;
	uint32_t test; /* which of the plan's tests; others of the scenario are not reckoned with */
	uint32_t profile; /* enum burst_profile */
	bool headers; /* the links' rate is payload of packets of that size; else as given */
	struct prediction is;
	struct simulation simulation;
};

void report_predict(FILE *to, const struct report_prediction *prediction);
json_t *report_predict_json(const struct report_prediction *prediction); /* null when there is none */

#endif
