/* A worker that sends bursts on the null device, by a clock that the test moves, and a trace of its posts. */
#ifndef BURST_BENCH_H
#define BURST_BENCH_H

#include "base/topo.h"
#include "driver/null.h"
#include "engine/burst.h"
#include "engine/engine.h"
#include "mem/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US      INT64_C(1000)
#define MS      INT64_C(1000000)
#define SECOND  INT64_C(1000000000)
#define TICK_NS 20 /* each look at the clock takes so long */
#define SENDERS 4
#define BURSTS  1000

#include "fake_clock.h"

/* --- the trace: when each post returned, seen from outside --- */

static struct {
	unsigned every; /* each so many bursts one is held up, */
	int64_t delay; /* that long */
	uint64_t posts, messages;
	int64_t at[BURSTS + 1];
	uint64_t bursts;
} trace;

static int traced_post(struct ep *ep, unsigned n, unsigned flags)
{
	const bool held = trace.every && trace.bursts % trace.every == 0;
	int rc;

	fake.now += held ? trace.delay : 0;
	rc = null_post(ep, n, flags);
	if (rc <= 0)
		return rc;
	if (trace.bursts < BURSTS)
		trace.at[trace.bursts] = fake.now;
	trace.bursts++;
	trace.posts++;
	trace.messages += (uint64_t)rc;
	return rc;
}

/* --- one worker --- */

struct bench {
	struct spec spec;
	struct driver driver;
	struct clock clock;
	struct topo *topo;
	struct flow_control control;
	struct worker_result result;
	struct flow flow;
	int64_t start;
};

static struct bench *bench_new(uint32_t profile)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct request request;
	struct error err;

	assert_non_null(b);
	request_init(&request);
	b->spec = request.spec;
	b->spec.driver = DRIVER_NULL;
	b->spec.transport = TRANSPORT_RC;
	b->spec.verb = VERB_WRITE;
	b->spec.size = 1000;
	b->spec.burst_profile = profile;
	b->spec.tx_depth = 256;
	b->spec.rx_depth = 1;
	b->spec.warmup_ns = 0;
	b->spec.burst_size = profile == BURST_TRAINING ? 0 : 64;
	b->spec.post_batch = b->spec.cq_mod = 64;
	assert_int_equal(topo_open(&b->topo, &err), 0);
	clock_init(&b->clock, true);
	b->driver = driver_null;
	b->driver.wait = sleep_on;
	b->driver.post = traced_post;
	memset(&trace, 0, sizeof(trace));
	return b;
}

/* From the same instant in each run: ns 0 of the traffic is b->start. */
static void bench_start(struct bench *b)
{
	const struct port_conf conf = { .spec = &b->spec, .clock = &b->clock, .workers = 1, .active = true };
	const struct mem_host host = { .topo = b->topo, .node = -1, .cuda_lib_path = "", .sysfs = "/sys" };
	struct error err = { 0 };

	fake.now = SECOND;
	b->start = fake.now + SECOND;
	b->flow = (struct flow){ .spec = &b->spec,
				 .engine = engine_find(&b->spec),
				 .drv = &b->driver,
				 .clock = &b->clock,
				 .topo = b->topo,
				 .control = &b->control,
				 .active = true,
				 .peers = 1,
				 .result = &b->result };
	assert_ptr_equal(b->flow.engine, &engine_burst);
	if (flow_open(&b->flow, &conf, &host, &err))
		fail_msg("%s", err.text);
	b->flow.block = true;
	assert_int_equal(b->flow.engine->prepare(&b->flow), 0);
	b->flow.phase = (struct phase){ .start_ns = b->start,
					.begin_ns = b->start,
					.end_ns = INT64_MAX,
					.stop_ns = INT64_MAX,
					.quota = spec_quota(&b->spec),
					.measure = true };
	if (!b->flow.phase.quota) {
		b->flow.phase.begin_ns += b->spec.warmup_ns;
		b->flow.phase.end_ns = b->flow.phase.stop_ns = b->flow.phase.begin_ns + b->spec.duration_ns;
	}
	meter_start(&b->flow);
}

static void __attribute__((unused)) bench_run(struct bench *b)
{
	bench_start(b);
	if (b->flow.engine->active(&b->flow) < 0)
		fail_msg("%s", b->flow.error.text);
	flow_close(&b->flow);
}

static void bench_free(struct bench *b)
{
	free(b->result.bursts);
	topo_close(b->topo);
	free(b);
}

#endif
