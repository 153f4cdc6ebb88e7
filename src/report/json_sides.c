/* The two sides in the result document: host, device, cores, memory, facts, and each of their workers. */
#include "report/parts.h"

#include "report/tree.h"

#include <string.h>

/* A fact that is a number stays one; what does not read as a number is text whatever its sender claimed. */
static json_t *fact_value(const struct fact *fact)
{
	json_t *value = fact->number ? json_loads(fact->value, JSON_DECODE_ANY, NULL) : NULL;

	if (json_is_number(value))
		return value;
	json_decref(value);
	return tree_text(fact->value);
}

static json_t *facts_object(const struct facts *facts)
{
	json_t *object = json_object();
	char key[sizeof(facts->fact[0].key)];

	for (unsigned i = 0; i < facts->count; i++) {
		const struct fact *fact = &facts->fact[i];
		bool word = *fact->key != '\0';

		for (const char *c = fact->key; *c; c++)
			word = word &&
			       ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'));
		memcpy(key, fact->key, sizeof(key));
		if (word)
			tree_put(&object, key, fact_value(fact));
	}
	return object;
}

/* The node of the buffers when all workers have the same. */
static json_t *common_node(const struct rank_result *rank)
{
	for (uint32_t i = 0; i < rank->workers; i++)
		if (rank->worker[i].numa < 0 || rank->worker[i].numa != rank->worker[0].numa)
			return json_null();
	return rank->workers ? json_integer(rank->worker[0].numa) : json_null();
}

static json_t *cores(const struct rank_result *rank)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < rank->workers; i++)
		tree_append(&array, json_integer(rank->worker[i].core));
	return array;
}

static json_t *memory_kind(const struct rank_result *rank)
{
	return rank->workers ? json_string(mem_name(rank->mem)) : json_null();
}

json_t *part_side(const struct result *result, const struct rank_result *rank, bool server)
{
	static const struct rank_result nothing = { .clock_error_ns = -1 };
	const struct rank_result *r = rank ? rank : &nothing;
	json_t *object = json_object();

	tree_put(&object, "hostName", tree_text_or_null(*r->host || !server ? r->host : result->request.host));
	tree_put(&object, "deviceName", tree_text_or_null(facts_get(&r->facts, "device")));
	tree_put(&object, "version", tree_text_or_null(r->version));
	tree_put(&object, "role", json_string(!rank ? "unknown" : rank == result->rank ? "client" : "server"));
	tree_put(&object, "cores", cores(r));
	tree_put(&object, "coresShared", r->workers ? json_boolean(r->cores_shared) : json_null());
	tree_put(&object, "numaNode", common_node(r));
	tree_put(&object, "memoryType", memory_kind(r));
	tree_put(&object, "bufferBytes", r->buffer_bytes ? tree_count(r->buffer_bytes) : json_null());
	tree_put(&object, "residentBytes", r->rss_bytes ? tree_count(r->rss_bytes) : json_null());
	tree_put(&object, "bwResults",
		 part_bw(result, rank == result_receiver(result) && !r->counts_received ? NULL : rank));
	tree_put(&object, "steadiness", part_steadiness(result, rank));
	tree_put(&object, "window", part_window(result, rank));
	tree_put(&object, "cpu", part_cpu(rank));
	tree_put(&object, "counters", part_counters(&r->counters));
	tree_put(&object, "facts", facts_object(&r->facts));
	tree_put(&object, "error", tree_text_or_null(r->error.code ? r->error.text : ""));
	return object;
}

static json_t *worker_lat(const struct result *result, const struct worker_result *worker)
{
	struct latency latency;
	json_t *object;

	if (!worker_latency(&result->request.spec, worker, &latency))
		return json_null();
	object = json_object();
	tree_put(&object, "minUsec", tree_real(latency.min));
	tree_put(&object, "maxUsec", tree_real(latency.max));
	tree_put(&object, "meanUsec", tree_real(latency.mean));
	tree_put(&object, "medianUsec", tree_real(latency.median));
	tree_put(&object, "stdDevUsec", tree_real(latency.stddev));
	tree_put(&object, "samples", tree_count(latency.samples));
	return object;
}

/* Of messages that this side received. */
static json_t *worker_loss(const struct rank_result *rank, const struct worker_result *worker)
{
	json_t *object;

	if (!worker->has_loss || rank->active)
		return json_null();
	object = json_object();
	tree_put(&object, "lost", tree_count(worker->lost));
	tree_put(&object, "duplicated", tree_count(worker->duplicated));
	tree_put(&object, "reordered", tree_count(worker->reordered));
	return object;
}

/* A queue pair each of a worker of the side that makes the figure. */
static json_t *qp_histogram(const struct result *result, const struct rank_result *rank, uint32_t index)
{
	struct qp_rates all;
	json_t *array;

	if (rank != result_authority(result) || !rank_qp_rates(result, rank, &all))
		return json_null();
	array = json_array();
	for (uint32_t qp = 0; worker_has_window(&rank->worker[index]) && qp < rank->worker[index].qp_count; qp++) {
		const double gbps = rank_qp_gbps(result, rank, index, qp);
		json_t *object = json_object();

		tree_put(&object, "qpIndex", json_integer(qp));
		tree_put(&object, "bwGbSec", tree_real(gbps));
		tree_put(&object, "relativeDeviation", tree_real(qp_deviation(&all, gbps)));
		tree_append(&array, object);
	}
	return array;
}

static json_t *worker_object(const struct result *result, const struct rank_result *rank, uint32_t index)
{
	const struct worker_result *worker = &rank->worker[index];
	struct rank_result alone = *rank;
	json_t *object = json_object();

	alone.worker = &rank->worker[index];
	alone.workers = 1;
	tree_put(&object, "side", json_string(rank->active ? "requestor" : "responder"));
	tree_put(&object, "process", json_integer(index));
	tree_put(&object, "core", json_integer(worker->core));
	tree_put(&object, "numaNode", worker->numa >= 0 ? json_integer(worker->numa) : json_null());
	tree_put(&object, "cudaDeviceId", worker->gpu >= 0 ? json_integer(worker->gpu) : json_null());
	tree_put(&object, "numQps", tree_count(worker->qps));
	tree_put(&object, "bwResults", rank->active || rank->counts_received ? part_bw(result, &alone) : json_null());
	tree_put(&object, "latResults", worker_lat(result, worker));
	tree_put(&object, "qpHistogram", qp_histogram(result, rank, index));
	tree_put(&object, "totalSent", rank->active ? tree_count(worker->total_sent) : json_null());
	tree_put(&object, "totalReceived", rank->counts_received ? tree_count(worker->total_received) : json_null());
	tree_put(&object, "loss", worker_loss(rank, worker));
	tree_put(&object, "window", part_window(result, &alone));
	tree_put(&object, "cpu", part_cpu(&alone));
	tree_put(&object, "error", tree_text_or_null(worker->error.code ? worker->error.text : ""));
	return object;
}

json_t *part_processes(const struct result *result)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < result->ranks; i++)
		for (uint32_t w = 0; w < result->rank[i].workers; w++)
			tree_append(&array, worker_object(result, &result->rank[i], w));
	return array;
}
