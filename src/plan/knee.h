/* From what became of a scenario of bursts to the points of a knee. */
#ifndef PLAN_KNEE_H
#define PLAN_KNEE_H

#include "model/knee.h"
#include "plan/outcome.h"

/* Adds each size of bursts that was carried out; the first time also what all have in common. -ENODATA: loss was not counted. */
int plan_knee(struct knee *knee, struct outcome *outcome, struct error *err);

#endif
