/* The wire form of one rank's result: written by every rank, read by rank 0 with every count bounded. */
#include "spec/result.h"

#include "base/buf.h"
#include "base/hist.h"
#include "spec/arrivals.h"
#include "spec/burst.h"
#include "spec/clean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORKER_MIN    364 /* bytes a packed worker takes at least: bounds what a short message can make us allocate */
#define QP_BYTES      32
#define INVALID_BYTES 26
#define INSTANT_LIMIT (INT64_C(1) << 61)

/* Plain fields, in wire order: one table writes and reads them. */
enum field_type { FIELD_U8, FIELD_U32, FIELD_U64, FIELD_BOOL };
struct field {
	size_t offset;
	enum field_type type;
};

#define FIELD(type, struct_name, member)                                                                               \
	{                                                                                                              \
		offsetof(struct struct_name, member), type                                                             \
	}

static const struct field rank_fields[] = {
	FIELD(FIELD_BOOL, rank_result, active),
	FIELD(FIELD_U64, rank_result, clock_offset_ns),
	FIELD(FIELD_U64, rank_result, clock_error_ns),
	FIELD(FIELD_U64, rank_result, rss_bytes),
	FIELD(FIELD_U64, rank_result, buffer_bytes),
	FIELD(FIELD_BOOL, rank_result, delivery),
	FIELD(FIELD_BOOL, rank_result, counts_received),
	FIELD(FIELD_BOOL, rank_result, cores_shared),
	FIELD(FIELD_U32, rank_result, mem),
};

static const struct field worker_fields[] = {
	FIELD(FIELD_U32, worker_result, core),
	FIELD(FIELD_U32, worker_result, numa),
	FIELD(FIELD_U32, worker_result, gpu),
	FIELD(FIELD_U64, worker_result, qps),
	FIELD(FIELD_U64, worker_result, begin_ns),
	FIELD(FIELD_U64, worker_result, end_ns),
	FIELD(FIELD_U64, worker_result, sent),
	FIELD(FIELD_U64, worker_result, received),
	FIELD(FIELD_U64, worker_result, timed_ns),
	FIELD(FIELD_U64, worker_result, longest_ns),
	FIELD(FIELD_U64, worker_result, edge_begin),
	FIELD(FIELD_U64, worker_result, edge_end),
	FIELD(FIELD_U64, worker_result, edge_error_ns),
	FIELD(FIELD_U64, worker_result, total_sent),
	FIELD(FIELD_U64, worker_result, total_received),
	FIELD(FIELD_BOOL, worker_result, has_loss),
	FIELD(FIELD_U64, worker_result, lost),
	FIELD(FIELD_U64, worker_result, duplicated),
	FIELD(FIELD_U64, worker_result, reordered),
	FIELD(FIELD_U64, worker_result, pacing.due),
	FIELD(FIELD_U64, worker_result, pacing.late),
	FIELD(FIELD_U64, worker_result, pacing.late_sum_ns),
	FIELD(FIELD_U64, worker_result, pacing.late_max_ns),
	FIELD(FIELD_U64, worker_result, pacing.behind),
	FIELD(FIELD_U64, worker_result, pacing.missed),
	FIELD(FIELD_U64, worker_result, timeouts),
	FIELD(FIELD_U64, worker_result, cpu_user_ns),
	FIELD(FIELD_U64, worker_result, cpu_system_ns),
	FIELD(FIELD_U64, worker_result, interval_ns),
	FIELD(FIELD_U32, worker_result, intervals),
	FIELD(FIELD_BOOL, worker_result, both_ways),
	FIELD(FIELD_U64, worker_result, validated),
	FIELD(FIELD_U64, worker_result, invalid),
	FIELD(FIELD_U64, worker_result, invalid_bytes),
	FIELD(FIELD_U64, worker_result, received_bytes),
};

static const struct field invalid_fields[] = {
	FIELD(FIELD_U32, invalid, worker), FIELD(FIELD_U32, invalid, qp),    FIELD(FIELD_U64, invalid, message),
	FIELD(FIELD_U32, invalid, byte),   FIELD(FIELD_U32, invalid, bytes), FIELD(FIELD_U8, invalid, expected),
	FIELD(FIELD_U8, invalid, found),
};

static const struct field qp_fields[] = {
	FIELD(FIELD_U64, qp_count, sent[0]),
	FIELD(FIELD_U64, qp_count, sent[1]),
	FIELD(FIELD_U64, qp_count, received[0]),
	FIELD(FIELD_U64, qp_count, received[1]),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void pack_fields(const void *from, const struct field *field, size_t count, struct buf *to)
{
	for (; count; count--, field++) {
		const void *at = (const char *)from + field->offset;

		if (field->type == FIELD_U8)
			buf_put_u8(to, *(const uint8_t *)at);
		else if (field->type == FIELD_U32)
			buf_put_u32(to, *(const uint32_t *)at);
		else if (field->type == FIELD_U64)
			buf_put_u64(to, *(const uint64_t *)at);
		else
			buf_put_u8(to, *(const bool *)at);
	}
}

static bool get_bool(struct cursor *from)
{
	const uint8_t value = cursor_u8(from);

	if (value > 1)
		from->failed = -EPROTO;
	return value == 1;
}

static void unpack_fields(void *to, const struct field *field, size_t count, struct cursor *from)
{
	for (; count; count--, field++) {
		void *at = (char *)to + field->offset;

		if (field->type == FIELD_U8)
			*(uint8_t *)at = cursor_u8(from);
		else if (field->type == FIELD_U32)
			*(uint32_t *)at = cursor_u32(from);
		else if (field->type == FIELD_U64)
			*(uint64_t *)at = cursor_u64(from);
		else
			*(bool *)at = get_bool(from);
	}
}

static void pack_error(const struct error *error, struct buf *to)
{
	buf_put_u32(to, (uint32_t)error->code);
	buf_put_string(to, error->text);
}

/* Texts of a peer end up before people and in documents. */
static void unpack_text(char *ret, size_t size, struct cursor *from)
{
	cursor_string(from, ret, size);
	text_clean(ret, ret, size);
}

static void unpack_error(struct error *ret, struct cursor *from)
{
	ret->code = (int)cursor_u32(from);
	unpack_text(ret->text, sizeof(ret->text), from);
	if (ret->code > 0)
		from->failed = -EPROTO;
}

static void pack_facts(const struct facts *facts, struct buf *to)
{
	buf_put_u32(to, facts->count);
	for (unsigned i = 0; i < facts->count; i++) {
		buf_put_string(to, facts->fact[i].key);
		buf_put_string(to, facts->fact[i].label);
		buf_put_string(to, facts->fact[i].value);
		buf_put_u8(to, facts->fact[i].number);
	}
}

static void unpack_facts(struct facts *ret, struct cursor *from)
{
	const uint32_t count = cursor_u32(from);

	if (count > RESULT_FACTS)
		from->failed = -EPROTO;
	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct fact *fact = &ret->fact[i];

		unpack_text(fact->key, sizeof(fact->key), from);
		unpack_text(fact->label, sizeof(fact->label), from);
		unpack_text(fact->value, sizeof(fact->value), from);
		fact->number = get_bool(from);
		ret->count = i + 1;
	}
}

static void pack_worker(const struct worker_result *worker, struct buf *to)
{
	pack_fields(worker, worker_fields, COUNT(worker_fields), to);
	for (unsigned i = 0; i < SPEC_OPS; i++)
		buf_put_u64(to, worker->op_sent[i]);
	for (uint32_t i = 0; i < worker->intervals; i++)
		buf_put_u64(to, worker->interval_msgs[i]);
	for (uint32_t i = 0; worker->both_ways && i < worker->intervals; i++)
		buf_put_u64(to, worker->interval_received[i]);
	buf_put_u32(to, worker->qp_count);
	for (uint32_t i = 0; i < worker->qp_count; i++)
		pack_fields(&worker->qp[i], qp_fields, COUNT(qp_fields), to);
	pack_error(&worker->error, to);
	buf_put_u8(to, worker->hist != NULL);
	if (worker->hist)
		hist_pack(worker->hist, to);
	buf_put_u8(to, worker->bursts != NULL);
	if (worker->bursts)
		burst_stats_pack(worker->bursts, to);
	buf_put_u8(to, worker->arrivals != NULL);
	if (worker->arrivals)
		burst_arrivals_pack(worker->arrivals, to);
	buf_put_u32(to, worker->volleys);
	for (uint32_t i = 0; i < worker->volleys; i++)
		buf_put_u64(to, (uint64_t)worker->volley_ns[i]);
}

static int unpack_hist(struct worker_result *ret, struct cursor *from)
{
	if (!get_bool(from) || from->failed)
		return 0;
	ret->hist = malloc(sizeof(*ret->hist));
	if (!ret->hist)
		return -ENOMEM;
	return hist_unpack(ret->hist, from);
}

static int unpack_qps(struct worker_result *ret, struct cursor *from)
{
	const uint32_t count = cursor_u32(from);

	if (from->failed || count > RESULT_QPS || count > from->left / QP_BYTES)
		return -EPROTO;
	ret->qp = count ? calloc(count, sizeof(*ret->qp)) : NULL;
	if (count && !ret->qp)
		return -ENOMEM;
	ret->qp_count = count;
	for (uint32_t i = 0; i < count; i++)
		unpack_fields(&ret->qp[i], qp_fields, COUNT(qp_fields), from);
	return 0;
}

/* Instants far from any clock would overflow the differences that are taken of them. */
static bool is_instant(int64_t ns)
{
	return ns > -INSTANT_LIMIT && ns < INSTANT_LIMIT;
}

static bool worker_is_sane(const struct worker_result *worker)
{
	return is_instant(worker->begin_ns) && is_instant(worker->end_ns) && worker->edge_error_ns >= 0 &&
	       worker->gpu >= -1 && worker->cpu_user_ns >= -1 && worker->cpu_system_ns >= -1 &&
	       worker->interval_ns >= 0 && worker->intervals <= RESULT_INTERVALS && worker->timed_ns >= 0 &&
	       worker->longest_ns >= 0;
}

/* What tells of bursts. */
static int unpack_bursts(struct worker_result *ret, struct cursor *from)
{
	int rc = get_bool(from) ? burst_stats_unpack(&ret->bursts, from) : 0;

	if (rc == 0 && get_bool(from))
		rc = burst_arrivals_unpack(&ret->arrivals, from);
	ret->volleys = cursor_u32(from);
	if (rc == 0 && (from->failed || (ret->volleys && ret->volleys != RESULT_VOLLEYS)))
		rc = -EPROTO;
	for (uint32_t i = 0; rc == 0 && i < ret->volleys; i++) {
		ret->volley_ns[i] = (int64_t)cursor_u64(from);
		if (from->failed || !is_instant(ret->volley_ns[i]))
			rc = -EPROTO;
	}
	return rc;
}

static int unpack_worker(struct worker_result *ret, struct cursor *from)
{
	int rc;

	unpack_fields(ret, worker_fields, COUNT(worker_fields), from);
	for (unsigned i = 0; i < SPEC_OPS; i++)
		ret->op_sent[i] = cursor_u64(from);
	if (from->failed || !worker_is_sane(ret))
		return -EPROTO;
	for (uint32_t i = 0; i < ret->intervals; i++)
		ret->interval_msgs[i] = cursor_u64(from);
	for (uint32_t i = 0; ret->both_ways && i < ret->intervals; i++)
		ret->interval_received[i] = cursor_u64(from);
	rc = unpack_qps(ret, from);
	if (rc)
		return rc;
	unpack_error(&ret->error, from);
	rc = unpack_hist(ret, from);
	return rc ? rc : unpack_bursts(ret, from);
}

void rank_result_pack(const struct rank_result *rank, struct buf *to)
{
	buf_put_string(to, rank->host);
	buf_put_string(to, rank->version);
	pack_fields(rank, rank_fields, COUNT(rank_fields), to);
	pack_facts(&rank->facts, to);
	pack_error(&rank->error, to);
	buf_put_u32(to, rank->invalids);
	for (uint32_t i = 0; i < rank->invalids; i++)
		pack_fields(&rank->invalid[i], invalid_fields, COUNT(invalid_fields), to);
	port_counters_pack(&rank->counters, to);
	buf_put_u32(to, rank->workers);
	for (uint32_t i = 0; i < rank->workers; i++)
		pack_worker(&rank->worker[i], to);
}

static int unpack_workers(struct rank_result *ret, struct cursor *from)
{
	const uint32_t workers = cursor_u32(from);
	int rc = 0;

	if (from->failed || workers > RESULT_WORKERS || workers > from->left / WORKER_MIN)
		return -EPROTO;
	if (workers)
		rc = rank_result_alloc(ret, workers, false);
	for (uint32_t i = 0; i < workers && rc == 0; i++)
		rc = unpack_worker(&ret->worker[i], from);
	return rc;
}

static int unpack_invalids(struct rank_result *ret, struct cursor *from)
{
	const uint32_t count = cursor_u32(from);

	if (from->failed || count > RESULT_INVALIDS || count > from->left / INVALID_BYTES)
		return -EPROTO;
	ret->invalid = count ? calloc(count, sizeof(*ret->invalid)) : NULL;
	if (count && !ret->invalid)
		return -ENOMEM;
	ret->invalids = count;
	for (uint32_t i = 0; i < count; i++)
		unpack_fields(&ret->invalid[i], invalid_fields, COUNT(invalid_fields), from);
	return 0;
}

int rank_result_unpack(struct rank_result *ret, struct cursor *from)
{
	struct rank_result rank = { 0 };
	int rc;

	unpack_text(rank.host, sizeof(rank.host), from);
	unpack_text(rank.version, sizeof(rank.version), from);
	unpack_fields(&rank, rank_fields, COUNT(rank_fields), from);
	unpack_facts(&rank.facts, from);
	unpack_error(&rank.error, from);
	rc = unpack_invalids(&rank, from);
	if (rc == 0)
		rc = port_counters_unpack(&rank.counters, from);
	if (rc == 0)
		rc = unpack_workers(&rank, from);
	if (rc == 0 && (from->failed || !is_instant(rank.clock_offset_ns) || rank.clock_error_ns < -1))
		rc = -EPROTO;
	if (rc) {
		rank_result_release(&rank);
		return rc;
	}
	*ret = rank;
	return 0;
}
