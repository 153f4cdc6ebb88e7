/* What tests of the simulated switch share: units, ports, flows and running a simulation. */
#ifndef SIM_PORT_H
#define SIM_PORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/lot.h"
#include "model/sim.h"

#define MB     1e6
#define US     1e-6
#define GBIT   (1e9 / 8)
#define KIB64  65536.0
#define PACKET 4096.0

typedef int engine(const struct sim *, struct sim_outcome *, uint64_t *, struct error *);
static engine *const engines[] __attribute__((unused)) = { sim_fluid, sim_packets };

static inline void near(double is, double want, double slack)
{
	if (!(fabs(is - want) <= slack))
		fail_msg("%.9g is not %.9g within %.3g", is, want, slack);
}

static inline void simulate(engine *run, const struct sim *sim, struct sim_outcome *ret)
{
	struct error err = { 0 };
	uint64_t work;

	if (run(sim, ret, &work, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(work > 0);
}

static const struct sim_queue port __attribute__((unused)) = { .drain = 400 * GBIT, .copies = 1 };

static inline struct sim_switch switch_of(double pool, double alpha, double limit)
{
	return (struct sim_switch){
		.buffer = { .pool = pool, .alpha = alpha, .limit = limit },
		.ecn.kmin = INFINITY,
		.xoff = INFINITY,
	};
}

static inline struct sim_flow flow_of(uint32_t queue, double messages, double start)
{
	return (struct sim_flow){ .queue = queue,
				  .senders = 1,
				  .rate = 400 * GBIT,
				  .bytes = messages * KIB64,
				  .packet = PACKET,
				  .start = start,
				  .bursts = 1 };
}

#endif
