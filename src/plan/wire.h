/* The wire form of a scenario: rank 0 hands it to all, and each plans its own share. */
#ifndef PLAN_WIRE_H
#define PLAN_WIRE_H

#include "plan/scenario.h"

struct buf;
struct cursor;
struct error;

void scenario_pack(const struct scenario *scenario, struct buf *to);
/* -EPROTO, -ENOMEM, or what sweep_unpack says. Fills an empty one, which is to be released also on failure. */
int scenario_unpack(struct scenario *ret, struct cursor *from, struct error *err);

#endif
