/* Iterations in step: what a worker's endpoints compare, and the engine that waits for everybody behind each iteration. */
#ifndef ENGINE_LOCKSTEP_H
#define ENGINE_LOCKSTEP_H

#include "engine/engine.h"

/* What one endpoint has compared. */
struct step_check {
	uint64_t compared, wrong, wrong_bytes;
	struct invalid first; /* of the wrong ones */
};

/* Data validation in step, with a seed for each endpoint that both ends of its connection have. */
struct step_checks {
	uint64_t *seed; /* by endpoint */
	struct step_check *check;
};

extern const struct engine engine_lockstep;

/*
 * The spec of one end: an iteration is its message and an empty write_imm (of 8 bytes over libfabric) that tells of it. So a QP completes twice as many
 * as the test has iterations, and as many arrive, or half of them where the message itself does not show.
 */
void lockstep_spec(struct spec *spec);
unsigned lockstep_arrivals(const struct spec *spec); /* of an iteration */

#endif
