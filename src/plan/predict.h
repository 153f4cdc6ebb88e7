/* From the bursts of a plan to numbers, and to what they will do to a port of a switch. */
#ifndef PLAN_PREDICT_H
#define PLAN_PREDICT_H

#include "base/error.h"
#include "model/predict.h"
#include "plan/plan.h"

struct plan_prediction {
	bool there; /* there are bursts, and the rate of the links is known */
	bool switch_named; /* more than that is known: how the senders start, or anything of the switch */
	bool simulated;
	struct error left_out; /* why the simulation that was asked for, or that figures follow from, was left out */
	uint32_t test; /* which of the plan's tests all bursts are taken to be like */
	uint32_t profile; /* enum burst_profile */
	bool headers; /* the links' rate is payload of packets of that size; else as given */
	struct prediction is;
	struct simulation simulation;
};

/*
 * Of all tests with bursts, as if all were like the first of them whose links' rate is known; without one ret->there is false. -ENOMEM
 * and a sentence.
 */
int plan_predict(const struct plan *plan, bool simulate, struct plan_prediction *ret, struct error *err);

#endif
