/* Carries a test through on all ranks: agree, open, exchange, connect, start together, watch, gather. */
#ifndef ORCH_ORCH_H
#define ORCH_ORCH_H

#include "base/error.h"
#include "spec/result.h"

#include <stdatomic.h>
#include <stdint.h>

struct clock;
struct comm;
struct sweep;
struct topo;

/*
 * The traffic's progress, for a bar; called from the thread that called orchestrate(): 5 times a second, 50 times
 * by iterations, whose end comes at no known time, and 500 times once the end is due.
 */
struct progress {
	double elapsed, total; /* s of traffic: warm-up + window + end margin; total 0 = unknown (iterations) */
};
struct live { /* one live line: the last report interval */
	double at; /* s since the traffic began */
	double gbps, mpps; /* of both directions together when there are two */
	bool both;
	double to_server, to_client; /* Gb/s of each, with both */
};
struct observer {
	void (*progress)(void *context, const struct progress *progress);
	void (*live)(void *context, const struct live *live);
	void (*begins)(void *context, unsigned number, unsigned of); /* a test, counted from 1 */
	void (*measured)(void *context, struct result *result); /* it is over */
	void *context;
};

struct orch_conf {
	const struct clock *clock;
	const struct topo *topo;
	const struct observer *observer; /* NULL: nobody watches */
	const atomic_int *interrupted; /* set by Ctrl-C: end the run, keep what was measured */
	const char *own_device, *own_cores,
		*own_exclude_cores; /* what this server was started with; replace the spec's when not empty */
	uint32_t own_mem; /* enum mem_kind, likewise; MEM_AUTO = none */
	uint64_t own_gpu; /* likewise; SPEC_AUTO = none */
	const char *cuda_lib_path, *sysfs; /* of this host: struct request */
	const struct request *conditions; /* refuse a test that this server's options do not admit; NULL = none */
	uint64_t memory_limit; /* refuse a test that needs more bytes of data buffers; 0 = none */
};

/*
 * Rank 0: carries out the tests of the sweep one after another, until one fails or somebody interrupts, and fills ret
 * (always valid, also on failure) with the results of all ranks; ret has a result for each test (results_expect()).
 * Others: sweep and ret are NULL, the tests come from rank 0. Returns 0 or a negative errno with a sentence.
 */
int orchestrate(struct comm *comm, const struct orch_conf *conf, const struct sweep *sweep, struct results *ret,
		struct error *err);

/* Bytes of data buffers and queues that one side of a test needs. */
uint64_t orch_memory_of(const struct spec *spec);

#endif
