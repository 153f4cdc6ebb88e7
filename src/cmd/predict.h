/* From the bursts of a plan to numbers, and to what they will do. */
#ifndef CMD_PREDICT_H
#define CMD_PREDICT_H

#include "plan/plan.h"
#include "report/predict.h"

/* Of the first test with bursts whose links' rate is known; without one ret->there is false. -ENOMEM, -ELOOP and a sentence. */
int cmd_predict(const struct plan *plan, bool simulate, struct report_prediction *ret, struct error *err);

#endif
