/* What rank 0 is told to do, as it travels: from the command that was typed to rank 0, and from there to all ranks. */
#ifndef CMD_JOB_H
#define CMD_JOB_H

#include "plan/scenario.h"
#include "spec/spec.h"

struct buf;
struct error;

struct job {
	char version[32]; /* of who asks: all ranks must have the same */
	struct scenario scenario;
	uint32_t ranks;
	uint32_t *rank_of; /* of the number that mpirun gives: hosts that are written twice are started together */
	int64_t live_ns; /* a live line that often; 0: none */
	char cuda_lib_path[SPEC_TEXT], sysfs[SPEC_TEXT];
};

/* scenario: as scenario_pack() wrote it, before a plan took its sweeps. */
void job_pack(const struct job *job, const struct buf *scenario, struct buf *to);
/* -EPROTO, -ENOMEM, or that the version is another one. Fills an empty one, which is to be released also on failure. */
int job_unpack(struct job *ret, const struct buf *from, struct error *err);
void job_release(struct job *job);

#endif
