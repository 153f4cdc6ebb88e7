/* Made-up results: one of each kind that a report has to render, every figure known. */
#ifndef TEST_UNIT_MADE_UP_H
#define TEST_UNIT_MADE_UP_H

#include "base/hist.h"
#include "spec/result.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static inline void make_request(struct request *request, enum transport transport, enum verb verb, enum metric metric,
				uint64_t size)
{
	request_init(request);
	request->host = "beta";
	request->spec.driver = transport_is_socket(transport) ? DRIVER_SOCK : DRIVER_IBV;
	request->spec.transport = transport;
	request->spec.verb = verb;
	request->spec.metric = metric;
	request->spec.size = size;
	request->spec.tx_depth = 128;
	request->spec.rx_depth = 512;
	request->spec.post_batch = 16;
	request->spec.cq_mod = 16;
	request->spec.working_set = 8 << 20;
	request->spec.events = CHOICE_OFF;
}

/* A run of this one test. */
static inline struct results results_of(const struct result *result)
{
	return (struct results){ .request = result->request,
				 .status = result->status,
				 .error = result->error,
				 .started_unix_ns = result->started_unix_ns,
				 .asked = 1,
				 .begun = 1,
				 .setups = 1,
				 .result = (struct result *)(uintptr_t)result };
}

static inline void make_rank(struct rank_result *rank, bool client, uint32_t workers, bool hists)
{
	snprintf(rank->host, sizeof(rank->host), "%s", client ? "alpha" : "beta");
	snprintf(rank->version, sizeof(rank->version), "1.0.0");
	rank->active = client;
	rank->clock_offset_ns = client ? 0 : 1234567;
	rank->clock_error_ns = client ? 0 : 4321;
	rank->rss_bytes = 9 << 20;
	rank->buffer_bytes = 8 << 20;
	rank->mem = MEM_HOST;
	assert_int_equal(rank_result_alloc(rank, workers, hists), 0);
	for (uint32_t w = 0; w < workers; w++) {
		struct worker_result *worker = &rank->worker[w];

		worker->core = client ? 2 + w : 12 + w;
		worker->numa = client ? 0 : 1;
		worker->gpu = -1;
		worker->qps = 1;
		worker->begin_ns = 100 * SECOND + rank->clock_offset_ns + 1000 * w;
		worker->end_ns = worker->begin_ns + 10 * SECOND;
		worker->edge_error_ns = 1500;
		worker->cpu_user_ns = 9 * SECOND;
		worker->cpu_system_ns = SECOND / 2;
	}
}

static inline void count(struct worker_result *worker, bool sent, uint64_t messages)
{
	*(sent ? &worker->sent : &worker->received) = messages;
	*(sent ? &worker->total_sent : &worker->total_received) = messages + 1000;
	worker->edge_begin = worker->edge_end = 64;
	worker->interval_ns = SECOND / 2;
	worker->intervals = 20;
	for (unsigned i = 0; i < 20; i++)
		worker->interval_msgs[i] = messages / 20 + (i % 5) * 10;
}

static inline void make(struct result *result, const struct request *request, uint32_t workers)
{
	const bool lat = request->spec.metric == METRIC_LAT;

	result_init(result, request, 2);
	result->request.spec.workers = workers;
	result->measured = true;
	result->started_unix_ns = INT64_C(1700000000123456789);
	result->setup_seconds = 0.0123;
	result->drain_seconds = 0.00045;
	make_rank(&result->rank[0], true, workers, lat);
	make_rank(&result->rank[1], false, workers, false);
	for (unsigned i = 0; i < 2; i++) {
		facts_add(&result->rank[i].facts, "device", "Device", "rxe%u", i);
		facts_add(&result->rank[i].facts, "gid", "GID", "::ffff:10.0.0.%u (index 1, RoCE v2)", i + 1);
		facts_add_number(&result->rank[i].facts, "mtu", "MTU", 1024);
	}
}

/* 10 s of 65536-byte writes at 100 Gb/s. */
static inline void make_bw(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_WRITE, METRIC_BW, 65536);
	make(result, &request, 1);
	result->rank[0].delivery = true;
	count(&result->rank[0].worker[0], true, 1907349);
	facts_add_number(&result->rank[0].facts, "linkGbSec", "Link Gbit/s", 200);
}

/* Counters of a NIC with something of each sort: one that moved, one that did not, one that wrapped, a level. */
static inline void make_counters(struct port_counters *ret)
{
	static const struct port_counter counters[] = {
		{ "eth0", "rx_packets", 1000, 20001000 },
		{ "eth0", "rx_dropped", 17, 17 },
		{ "eth0 ethtool", "rx_prio3_pause_duration", 4294967290, 14 },
		{ "kernel Udp", "RcvbufErrors", 5, 400005 },
		{ "kernel TcpExt", "TCPLevel", 9, 7 },
	};

	ret->counter = calloc(5, sizeof(*ret->counter));
	assert_non_null(ret->counter);
	memcpy(ret->counter, counters, sizeof(counters));
	ret->count = 5;
}

static inline void make_udp(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_UDP, VERB_SEND, METRIC_BW, 1024);
	request.spec.gso = CHOICE_ON;
	make(result, &request, 2);
	result->rank[1].counts_received = true;
	make_counters(&result->rank[1].counters);
	for (unsigned w = 0; w < 2; w++) {
		count(&result->rank[0].worker[w], true, 20000000);
		count(&result->rank[1].worker[w], false, 19800000);
		result->rank[1].worker[w].has_loss = true;
		result->rank[1].worker[w].lost = 200000;
		result->rank[1].worker[w].duplicated = 3;
		result->rank[1].worker[w].reordered = 70 + w;
		facts_add(&result->rank[w].facts, "offload", "Offload",
			  w ? "UDP GRO: datagrams joined by the kernel" : "UDP GSO: up to 64 datagrams a packet");
	}
}

/* Every message compared; those of the second worker told after the first one's. */
static inline void make_validated(struct result *result)
{
	struct request request;
	struct invalid wrong[12] = { { .message = 77, .byte = 5, .bytes = 1, .expected = 0x3c, .found = 0x3d } };

	make_request(&request, TRANSPORT_RC, VERB_SEND, METRIC_BW, 1024);
	request.spec.validate = true;
	make(result, &request, 2);
	result->rank[0].delivery = result->rank[1].counts_received = true;
	for (uint32_t i = 1; i < 12; i++)
		wrong[i] = (struct invalid){ .worker = 1, .message = 1000 * i, .bytes = 1024, .found = (uint8_t)i };
	for (unsigned w = 0; w < 2; w++) {
		count(&result->rank[0].worker[w], true, 20000000);
		count(&result->rank[1].worker[w], false, 20000000);
		result->rank[1].worker[w].validated = 20000000;
		result->rank[1].worker[w].invalid = w ? 11 : 1;
		result->rank[1].worker[w].invalid_bytes = w ? 11264 : 1;
	}
	assert_int_equal(rank_result_log(&result->rank[1], wrong, 12), 0);
	result->status = RUN_FAILED;
	error_set(&result->error, -EBADMSG,
		  "data validation: 12 of 40000000 messages did not arrive as they were sent");
}

/* UD in both directions: of 1010000 datagrams 10000 are lost on the way to the client, none on the way to the server. */
static inline void make_both(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_UD, VERB_SEND, METRIC_BW, 1024);
	request.spec.bidirectional = true;
	request.spec.bw_threshold = 1.5;
	make(result, &request, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct worker_result *worker = &result->rank[i].worker[0];

		result->rank[i].counts_received = true;
		count(worker, false, i ? 1000000 : 990000);
		count(worker, true, 1000000);
		worker->total_sent = 1010000;
		worker->total_received = i ? 1010000 : 1000000;
		worker->both_ways = true;
		for (unsigned k = 0; k < 20; k++)
			worker->interval_received[k] = i ? 50000 : 49500 - (k == 7) * 30000;
	}
}

/* 3 workers of 32 queue pairs, of which one is slow and one fast. */
static inline void make_qps(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_WRITE, METRIC_BW, 4096);
	request.spec.qp_histogram = true;
	request.spec.qps = 32;
	make(result, &request, 3);
	result->rank[0].delivery = true;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rank_result_alloc_qps(&result->rank[i], 32), 0);
	for (unsigned w = 0; w < 3; w++) {
		struct worker_result *worker = &result->rank[0].worker[w];
		uint64_t sum = 0;

		worker->qps = 32;
		for (unsigned qp = 0; qp < 32; qp++) {
			const bool slow = w == 1 && qp == 7, fast = w == 2 && qp == 31;

			worker->qp[qp].sent[0] = 100 + qp;
			worker->qp[qp].sent[1] = 100 + qp + (slow ? 30000 : fast ? 80000 : 60000 + 10 * qp);
			sum += worker->qp[qp].sent[1] - worker->qp[qp].sent[0];
		}
		count(worker, true, sum);
	}
}

static inline void make_lat(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_SEND, METRIC_LAT, 8);
	make(result, &request, 1);
	count(&result->rank[0].worker[0], true, 1000000);
	for (unsigned i = 0; i < 1000000; i++)
		hist_record(result->rank[0].worker[0].hist, 4000 + i % 1000 + (i % 1000 == 7 ? 50000 : 0));
	hist_record(result->rank[0].worker[0].hist, 10000000);
}

/* RC sends by a Poisson schedule of 50,000/s that the link did not keep up with. */
static inline void make_overload(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_SEND, METRIC_LAT, 1000);
	request.spec.load = (struct load){ 50000, 1 };
	request.spec.arrivals = ARRIVALS_POISSON;
	make(result, &request, 1);
	count(&result->rank[0].worker[0], false, 450000);
	result->rank[0].worker[0].sent = 450100;
	result->rank[0].worker[0].pacing = (struct pacing){ .due = 500100,
							    .late = 400000,
							    .late_sum_ns = UINT64_C(180000000000000),
							    .late_max_ns = 990000000,
							    .behind = 49900,
							    .missed = 48000 };
	for (unsigned i = 0; i < 452100; i++)
		hist_record(result->rank[0].worker[0].hist, 20000 + 2200 * (uint64_t)i);
}

static inline void make_short_read(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_READ, METRIC_LAT, 8);
	request.spec.iterations = 1000;
	make(result, &request, 1);
	result->rank[0].worker[0].end_ns = result->rank[0].worker[0].begin_ns + 5000000;
	result->rank[0].worker[0].sent = 1000;
	result->rank[0].worker[0].timeouts = 2;
	result->rank[0].cores_shared = result->rank[1].cores_shared = true;
	for (unsigned i = 1; i <= 1000; i++)
		hist_record(result->rank[0].worker[0].hist, 1000 * (uint64_t)i);
}

static inline void make_never_connected(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_WRITE, METRIC_BW, SPEC_AUTO);
	request.spec.bw_threshold = 90;
	result_init(result, &request, 0);
	result->status = RUN_FAILED;
	error_set(&result->error, -ECONNREFUSED, "beta: nothing listens at port 18720, and --launch_server is off");
}

static inline void make_failed_midway(struct result *result)
{
	make_udp(result);
	result->status = RUN_FAILED;
	error_set(&result->error, -ECONNRESET, "beta: the server ended before the test was over");
	error_set(&result->rank[1].worker[1].error, -EIO, "the socket was closed");
	rank_result_release(&result->rank[1]);
	result->rank[1].counts_received = false;
}

static inline void make_interrupted(struct result *result)
{
	make_bw(result);
	result->status = RUN_INTERRUPTED;
	error_set(&result->error, -EINTR, "stopped by SIGINT after 2.500 s");
	result->rank[0].worker[0].end_ns = result->rank[0].worker[0].begin_ns + 5 * SECOND / 2;
	count(&result->rank[0].worker[0], true, 476837);
	result->rank[0].worker[0].intervals = 5;
}

static inline void make_threshold(struct result *result)
{
	make_bw(result);
	result->request.spec.bw_threshold = 150;
	result->status = RUN_THRESHOLD;
}

/* Everything that is remarked upon at once. */
static inline void make_doubtful(struct result *result)
{
	make_bw(result);
	result->request.spec.transport = TRANSPORT_UC;
	result->rank[0].delivery = false;
	facts_add_number(&result->rank[0].facts, "linkGbSec", "Link Gbit/s", 40);
	result->rank[0].worker[0].edge_error_ns = 25000000;
	result->rank[0].worker[0].edge_begin = 100000;
	result->rank[0].worker[0].interval_msgs[3] = 100;
	result->rank[1].clock_error_ns = 30000000;
	error_set(&result->rank[0].worker[0].error, -EIO, "a completion reported an error");
}

/* Two workers of three operations each: 10 s at 7.0 Gb/s. */
static inline void make_operations(struct result *result)
{
	const struct spec_op list[] = { { VERB_WRITE, 65536 }, { VERB_SEND, 4096 }, { VERB_ATOMIC_FA, 8 } };
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_AUTO, METRIC_BW, 65536);
	memcpy(request.spec.op, list, sizeof(list));
	make(result, &request, 2);
	result->rank[0].delivery = true;
	for (unsigned w = 0; w < 2; w++) {
		struct worker_result *worker = &result->rank[0].worker[w];

		count(worker, true, 188000);
		for (unsigned i = 0; i < 3; i++)
			worker->op_sent[i] = 62667 - (i + w == 3);
		for (unsigned i = 0; i < worker->intervals; i++)
			worker->interval_msgs[i] = 62667 / 20 * UINT64_C(69640);
	}
	result->rank[0].worker[1].sent = 188001;
}

/* Few large messages, and a client that began 438 ms late: the figure is too low and blurred by whole messages. */
static inline void make_late_tcp(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_TCP, VERB_SEND, METRIC_BW, 64 << 20);
	request.spec.duration_ns = SECOND;
	make(result, &request, 1);
	result->rank[1].counts_received = true;
	for (unsigned i = 0; i < 2; i++) {
		struct worker_result *worker = &result->rank[i].worker[0];

		worker->end_ns = worker->begin_ns + SECOND;
		worker->cpu_user_ns = worker->cpu_system_ns = SECOND / 4;
	}
	result->rank[0].worker[0].begin_ns += 438000000;
	result->rank[0].worker[0].sent = 12;
	result->rank[1].worker[0].received = 13;
	result->rank[0].worker[0].total_sent = result->rank[1].worker[0].total_received = 40;
}

static inline void make_many_workers(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_UD, VERB_SEND, METRIC_BW, 1024);
	make(result, &request, 70);
	result->rank[1].counts_received = true;
	for (unsigned w = 0; w < 70; w++) {
		count(&result->rank[0].worker[w], true, 1000000 + w);
		count(&result->rank[1].worker[w], false, 1000000 + w);
		result->rank[1].worker[w].end_ns += SECOND / 2;
	}
	result->rank[1].worker[0].total_received += 5;
}

#endif
