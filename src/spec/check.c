/* Refuses options that have no effect, exclude each other or don't fit together, with a sentence that names them. */
#include "base/topo.h"
#include "base/units.h"
#include "spec/legal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MIN_REPORT    10000000 /* ns */
#define HISTOGRAM_QPS 262144

/* --- scope --- */

/* A dimension of struct option_scope: the option that decides it and its mask in a row. */
struct dimension {
	size_t decider; /* offset of a uint32_t in struct request */
	size_t mask; /* offset of a mask in struct option_scope */
};
static const struct dimension dimensions[] = {
	{ offsetof(struct request, spec.transport), offsetof(struct option_scope, transports) },
	{ offsetof(struct request, spec.driver), offsetof(struct option_scope, drivers) },
	{ offsetof(struct request, spec.verb), offsetof(struct option_scope, verbs) },
	{ offsetof(struct request, spec.metric), offsetof(struct option_scope, metrics) },
};

/* What a test has of a dimension as a mask: of verbs it may have several. */
static uint32_t test_has(const struct request *request, size_t decider)
{
	uint32_t value;

	if (decider == offsetof(struct request, spec.verb))
		return spec_verbs(&request->spec);
	memcpy(&value, (const char *)request + decider, sizeof(value));
	return 1u << value;
}

static int check_dimension(const struct request *request, int row, const struct dimension *dimension, struct error *err)
{
	const int decider = option_row_at(dimension->decider);
	const bool list = decider == ROW(spec.verb) && spec_has_list(&request->spec);
	char names[OPTION_VALUE_MAX];
	uint32_t mask;

	memcpy(&mask, (const char *)&option_rows[row].scope + dimension->mask, sizeof(mask));
	if (!mask || (mask & test_has(request, dimension->decider)))
		return 0;
	return error_set(err, -EINVAL, "%s has no effect with %s: it applies to %s %s", name_of(request, row).text,
			 naming_of(request, list ? ROW(spec.op) : decider).text, name_of(request, decider).text,
			 option_names(option_rows[decider].names, mask, names));
}

int request_check_scope(const struct request *request, struct error *err)
{
	for (int row = 0; row < (int)option_count; row++) {
		if (!option_given(request, row))
			continue;
		for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
			if (check_dimension(request, row, &dimensions[i], err))
				return -EINVAL;
	}
	return request_check_load(request, err) ? -EINVAL : request_check_burst(request, err);
}

/* --- pairs --- */

struct pair {
	size_t a, b; /* offsets in struct request */
	const char *why;
};
#define PAIR(a, b, why)                                                                                                \
	{                                                                                                              \
		offsetof(struct request, a), offsetof(struct request, b), why                                          \
	}

static const struct pair pairs[] = {
	PAIR(spec.duration_ns, spec.iterations, "a test ends by time or by count"),
	PAIR(spec.warmup_ns, spec.warmup_iterations, "a warm-up ends by time or by count"),
	PAIR(spec.end_margin_ns, spec.iterations, "a test by count ends with its last message"),
	PAIR(spec.duration_ns, spec.burst_count, "a test ends by time or by count"),
	PAIR(spec.end_margin_ns, spec.burst_count, "a test by count ends with its last message"),
	PAIR(spec.cores, spec.exclude_cores, "cores that are named are not chosen"),
	PAIR(all, spec.size, "all sizes or those that are named"),
	PAIR(spec.validate, spec.bidirectional, "one direction is compared"),
	PAIR(spec.validate, spec.post_batch, "a message is posted as soon as it is filled"),
	PAIR(spec.validate, all, "one test is compared"),
	PAIR(spec.validate, spec.working_set,
	     "there must be a slot for each message that is under way or not compared yet"),
	PAIR(cuda, spec.mem, "--cuda ID is old for -M cuda_auto_detect -G ID"),
	PAIR(cuda, spec.gpu, "--cuda ID is old for -M cuda_auto_detect -G ID"),
	PAIR(spec.bidirectional, dual_unidir,
	     "both directions share the queue pairs of a connection, or have their own"),
	PAIR(ptini_file, spec.size, "the file gives each pair its size"),
	PAIR(ptini_file, all, "the file gives each pair its size"),
	PAIR(ptini_file, spec.op, "the file gives each pair its size"),
	PAIR(iteration_sync, peer_shifting, "in step are all pairs at once, or those of a round"),
	PAIR(iteration_sync, spec.op, "an iteration is one message to each peer"),
	PAIR(iteration_sync, spec.tx_depth, "a queue pair has the message of one iteration under way"),
	PAIR(iteration_sync, spec.rx_depth, "a queue pair has the message of one iteration under way"),
	PAIR(iteration_sync, spec.post_batch, "a queue pair has the message of one iteration under way"),
	PAIR(iteration_sync, spec.cq_mod, "each completion is waited for"),
	PAIR(iteration_sync, spec.working_set, "a queue pair has the message of one iteration under way"),
	PAIR(iteration_sync, spec.load, "an iteration begins when all others have ended"),
	PAIR(spec.op, spec.verb, "each operation has its own verb"),
	PAIR(spec.op, spec.size, "each operation has its own size"),
	PAIR(spec.op, all, "each operation has its own size"),
	PAIR(spec.op, spec.bidirectional, "each operation is counted where one side sends"),
	PAIR(spec.op, spec.validate, "messages of one operation are compared"),
};

void request_drop_inherited(struct request *request)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const int a = option_row_at(pairs[i].a), b = option_row_at(pairs[i].b);

		if (option_given(request, a) && option_inherited(request, b) && !option_given(request, b))
			option_reset(request, b);
		if (option_given(request, b) && option_inherited(request, a) && !option_given(request, a))
			option_reset(request, a);
	}
}

/* Options about the start of a server make no sense when none may be started. */
static int check_launch(const struct request *request, struct error *err)
{
	const int starters[] = { ROW(server_exe), ROW(server_username), ROW(ssh) };

	for (size_t i = 0; request->launch_server == CHOICE_OFF && i < sizeof(starters) / sizeof(starters[0]); i++)
		if (option_given(request, starters[i]))
			return error_set(err, -EINVAL, "%s has no effect with %s: no server is started",
					 name_of(request, starters[i]).text,
					 naming_of(request, ROW(launch_server)).text);
	return 0;
}

int request_check_pairs(const struct request *request, struct error *err)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const int a = option_row_at(pairs[i].a), b = option_row_at(pairs[i].b);

		const bool compared = a == ROW(spec.validate) && b == ROW(spec.bidirectional);

		if (compared && request->iteration_sync) /* there both are */
			continue;
		if (option_given(request, a) && option_given(request, b))
			return error_set(err, -EINVAL, "%s and %s exclude each other: %s", name_of(request, a).text,
					 name_of(request, b).text, pairs[i].why);
	}
	return check_launch(request, err);
}

/* --- values --- */

/* What goes with --lat_mode one_way: verbs whose completion is not their latency already. */
static int check_lat_mode(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->lat_mode != LAT_ONE_WAY || (spec->verb != VERB_READ && !verb_is_atomic(spec->verb)))
		return 0;
	return error_set(err, -EINVAL,
			 "%s does not go with %s, whose latency is a completion time already: leave it out",
			 naming_of(request, ROW(spec.lat_mode)).text, naming_of(request, ROW(spec.verb)).text);
}

/* A read's data flows against its request: two directions of reads would be two of writes. */
static int check_directions(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int both = ROW(spec.bidirectional), verb = ROW(spec.verb);

	if (!spec->bidirectional)
		return 0;
	if (spec->metric != METRIC_BW)
		return error_set(err, -EINVAL, "%s does not go with %s: a ping-pong uses both directions as it is",
				 name_of(request, both).text, naming_of(request, ROW(spec.metric)).text);
	if (!(spec_verbs(spec) & VERB_BIT(VERB_READ)))
		return 0;
	return error_set(err, -EINVAL,
			 "%s does not go with %s: the data of a read flows against its request, so that reads of both "
			 "sides are what writes of both sides are; it takes %s write, write_imm, send, atomic_fa or "
			 "atomic_cs",
			 name_of(request, both).text, naming_of(request, verb).text, name_of(request, verb).text);
}

int request_check_legality(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const uint32_t transports = driver_transports(spec->driver);
	const int driver = ROW(spec.driver), transport = ROW(spec.transport);
	char names[OPTION_VALUE_MAX];

	if (transports && spec->transport != TRANSPORT_AUTO && !(transports & (1u << spec->transport)))
		return error_set(err, -EINVAL, "%s does not go with %s, which takes %s %s",
				 naming_of(request, transport).text, naming_of(request, driver).text,
				 name_of(request, transport).text,
				 option_names(option_rows[transport].names, transports, names));
	if (request_check_verbs(request, err))
		return -EINVAL;
	return check_lat_mode(request, err) ? -EINVAL : check_directions(request, err);
}

static bool known(uint64_t value)
{
	return value != SPEC_AUTO;
}

/* Refuses small < large where small has to be at least large. */
static int at_least(const struct request *request, int small, uint64_t small_value, int large, uint64_t large_value,
		    struct error *err)
{
	if (!known(small_value) || !known(large_value) || small_value >= large_value)
		return 0;
	return error_set(err, -EINVAL, "%s is more than %s: it can be at most as much", naming_of(request, large).text,
			 naming_of(request, small).text);
}

/*
 * A batch is posted when it fits into the depth as a whole, and requests complete only with a signalled one: unless
 * batches and signals fall together, what waits for a signal must leave room for the batch that brings it.
 */
static int check_signals(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const uint64_t depth = spec->tx_depth, batch = spec->post_batch, step = spec->cq_mod;

	if (!known(depth) || !known(batch) || !known(step) || step % batch == 0 || batch % step == 0 ||
	    step + batch <= depth + 1)
		return 0;
	return error_set(err, -EINVAL,
			 "%s and %s do not fit into %s: neither divides the other, so their sum can be at most %llu",
			 naming_of(request, ROW(spec.cq_mod)).text, naming_of(request, ROW(spec.post_batch)).text,
			 naming_of(request, ROW(spec.tx_depth)).text, (unsigned long long)depth + 1);
}

static int check_depths(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int tx = ROW(spec.tx_depth), rx = ROW(spec.rx_depth), batch = ROW(spec.post_batch);

	if (transport_is_socket(spec->transport))
		return 0;
	if (at_least(request, tx, spec->tx_depth, batch, spec->post_batch, err) ||
	    at_least(request, tx, spec->tx_depth, ROW(spec.cq_mod), spec->cq_mod, err) || check_signals(request, err))
		return -EINVAL;
	return spec_verbs(spec) & TWO_SIDED_VERBS ? at_least(request, rx, spec->rx_depth, batch, spec->post_batch, err)
						  : 0;
}

/* A list of cores needs one core for each worker; an empty list (cores are chosen) always fits. */
static int check_cores(const struct request *request, int row, const char *text, struct error *err)
{
	struct core_list list;

	if (!*text || core_list_parse(text, &list, err) || list.count == request->spec.workers)
		return 0;
	return error_set(err, -EINVAL, "%s names %u core%s for %s: each worker has a core",
			 naming_of(request, row).text, list.count, list.count == 1 ? "" : "s",
			 naming_of(request, ROW(spec.workers)).text);
}

/* The counts of all queue pairs travel in one message. */
static int check_histogram(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (!spec->qp_histogram || spec->qps * spec->workers <= HISTOGRAM_QPS)
		return 0;
	return error_set(err, -EINVAL, "%s takes at most %d queue pairs: %s for each of %s are %llu",
			 name_of(request, ROW(spec.qp_histogram)).text, HISTOGRAM_QPS,
			 naming_of(request, ROW(spec.qps)).text, naming_of(request, ROW(spec.workers)).text,
			 (unsigned long long)(spec->qps * spec->workers));
}

int request_check_interval(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->report_interval_ns <= 0 || spec->report_interval_ns >= MIN_REPORT)
		return 0;
	return error_set(err, -EINVAL, "%s is too short: at least 10ms, or 0 for no live lines",
			 naming_of(request, ROW(spec.report_interval_ns)).text);
}

/* TCP fills in the two ECN bits by itself. */
static int check_class(const struct request *request, int row, uint64_t value, const char *what, struct error *err)
{
	if (!(value & 3))
		return 0;
	return error_set(err, -EINVAL,
			 "%s: %s TCP, which sets the two lowest bits (ECN) by itself: give a multiple of 4",
			 naming_of(request, row).text, what);
}

static int check_classes(const struct request *request, struct error *err)
{
	const struct spec *spec = &request->spec;
	int rc = check_class(request, ROW(spec.control_class), spec->control_class, "the control connection is", err);

	if (rc == 0 && spec->transport == TRANSPORT_TCP)
		rc = check_class(request, ROW(spec.traffic_class), spec->traffic_class, "messages go by", err);
	return rc;
}

static int check_rest(const struct request *request, struct error *err)
{
	const int rc = check_classes(request, err);

	return rc ? rc : request_check_interval(request, err);
}

int request_check_values(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	int rc = request_check_legality(request, err);

	if (rc == 0)
		rc = request_check_sizes(request, err);
	if (rc == 0)
		rc = request_check_validate(request, err);
	if (rc == 0)
		rc = check_depths(request, err);
	if (rc == 0)
		rc = check_cores(request, ROW(spec.cores), spec->cores, err);
	if (rc == 0)
		rc = check_cores(request, ROW(server_cores), request->server_cores, err);
	if (rc == 0)
		rc = check_histogram(request, err);
	if (rc == 0)
		rc = request_check_rdma(request, err);
	if (rc == 0)
		rc = request_check_paced(request, err);
	if (rc == 0)
		rc = request_check_burst_values(request, err);
	if (rc == 0)
		rc = request_check_doca(request, err);
	return rc ? rc : check_rest(request, err);
}
