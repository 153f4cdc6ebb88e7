/* A worker's bursts: made, kept one by one as far as there is room, and their wire form. */
#include "spec/burst.h"

#include "base/buf.h"
#include "base/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES  64
#define INSTANT_LIMIT (INT64_C(1) << 60)
#define BURST_LIMIT   (INT64_C(1) << 50) /* ns that a burst may last */

struct burst_stats *burst_stats_new(void)
{
	struct burst_stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return NULL;
	pages_touch(stats, sizeof(*stats));
	hist_init(&stats->lateness);
	hist_init(&stats->length);
	hist_init(&stats->gap);
	return stats;
}

static void record_positive(struct hist *hist, int64_t ns)
{
	hist_record(hist, ns > 0 ? (uint64_t)ns : 0);
}

void burst_keep(struct burst_stats *stats, const struct burst_record *record)
{
	stats->bursts++;
	stats->messages += record->messages;
	stats->record[stats->kept++ % BURST_KEPT] = *record;
	if (stats->by_device) /* when it left is not known here */
		return;
	stats->late += record->rung_ns - record->due_ns > BURST_LATE_NS;
	record_positive(&stats->lateness, record->rung_ns - record->due_ns);
	if (record->done_ns)
		record_positive(&stats->length, record->done_ns - record->rung_ns);
}

void burst_keep_rate(struct burst_stats *stats, uint64_t messages, int64_t span_ns)
{
	const double rate = (double)messages * 1e9 / (double)span_ns;
	const bool first = stats->flows == 0;

	if (!messages || span_ns <= 0) {
		stats->unrated++;
		return;
	}
	stats->flows++;
	stats->rate += rate;
	stats->slowest = first || rate < stats->slowest ? rate : stats->slowest;
	stats->fastest = first || rate > stats->fastest ? rate : stats->fastest;
	stats->span_ns = first || span_ns < stats->span_ns ? span_ns : stats->span_ns;
}

static void put_real(struct buf *to, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	buf_put_u64(to, bits);
}

void burst_stats_pack(const struct burst_stats *stats, struct buf *to)
{
	const uint64_t counts[] = { stats->slots,    stats->bursts, stats->skipped, stats->full, stats->late,
				    stats->messages, stats->flows,  stats->unrated, stats->kept };

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		buf_put_u64(to, counts[i]);
	put_real(to, stats->rate);
	put_real(to, stats->slowest);
	put_real(to, stats->fastest);
	buf_put_u64(to, (uint64_t)stats->span_ns);
	buf_put_u8(to, stats->by_device);
	buf_put_u8(to, stats->followed);
	buf_put_u64(to, (uint64_t)stats->clock_error_ns);
	buf_put_u64(to, (uint64_t)stats->clock_u95_ns);
	hist_pack(&stats->lateness, to);
	hist_pack(&stats->length, to);
	hist_pack(&stats->gap, to);
	for (uint64_t i = burst_first_kept(stats); i < stats->kept; i++) {
		const struct burst_record *record = &stats->record[i % BURST_KEPT];

		buf_put_u64(to, record->number);
		buf_put_u64(to, (uint64_t)record->offset_ns);
		buf_put_u64(to, (uint64_t)record->due_ns);
		buf_put_u64(to, (uint64_t)record->begun_ns);
		buf_put_u64(to, (uint64_t)record->rung_ns);
		buf_put_u64(to, (uint64_t)record->posted_ns);
		buf_put_u64(to, (uint64_t)record->done_ns);
		buf_put_u32(to, record->qp);
		buf_put_u32(to, record->messages);
	}
}

static int64_t get_instant(struct cursor *from)
{
	const int64_t ns = (int64_t)cursor_u64(from);

	if (ns <= -INSTANT_LIMIT || ns >= INSTANT_LIMIT)
		from->failed = -EPROTO;
	return ns;
}

static double get_rate(struct cursor *from)
{
	const uint64_t bits = cursor_u64(from);
	double rate;

	memcpy(&rate, &bits, sizeof(rate));
	if (!(rate >= 0 && rate < 1e18))
		from->failed = -EPROTO;
	return rate;
}

/* Instants of one burst. */
static bool follows(int64_t before, int64_t after)
{
	return after >= before && after - before < BURST_LIMIT;
}

static void get_record(struct burst_record *ret, struct cursor *from)
{
	ret->number = cursor_u64(from);
	ret->offset_ns = get_instant(from);
	ret->due_ns = get_instant(from);
	ret->begun_ns = get_instant(from);
	ret->rung_ns = get_instant(from);
	ret->posted_ns = get_instant(from);
	ret->done_ns = get_instant(from);
	ret->qp = cursor_u32(from);
	ret->messages = cursor_u32(from);
	if (!follows(ret->due_ns, ret->begun_ns) || !follows(ret->begun_ns, ret->rung_ns) ||
	    !follows(ret->rung_ns, ret->posted_ns) || (ret->done_ns && !follows(ret->rung_ns, ret->done_ns)))
		from->failed = -EPROTO;
}

/* Of the records only those that travel: they are those that would still be there. */
static int get_stats(struct burst_stats *ret, struct cursor *from)
{
	uint64_t *const counts[] = { &ret->slots,    &ret->bursts, &ret->skipped, &ret->full, &ret->late,
				     &ret->messages, &ret->flows,  &ret->unrated, &ret->kept };

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = cursor_u64(from);
	ret->rate = get_rate(from);
	ret->slowest = get_rate(from);
	ret->fastest = get_rate(from);
	ret->span_ns = get_instant(from);
	ret->by_device = cursor_u8(from) != 0;
	ret->followed = cursor_u8(from) != 0;
	ret->clock_error_ns = get_instant(from);
	ret->clock_u95_ns = get_instant(from);
	if (ret->span_ns < 0 || ret->clock_error_ns < 0 || ret->clock_u95_ns < 0)
		return -EPROTO;
	if (hist_unpack(&ret->lateness, from) || hist_unpack(&ret->length, from) || hist_unpack(&ret->gap, from))
		return -EPROTO;
	if (from->failed || (ret->kept - burst_first_kept(ret)) > from->left / RECORD_BYTES)
		return -EPROTO;
	for (uint64_t i = burst_first_kept(ret); i < ret->kept; i++)
		get_record(&ret->record[i % BURST_KEPT], from);
	return from->failed;
}

int burst_stats_unpack(struct burst_stats **ret, struct cursor *from)
{
	struct burst_stats *stats = burst_stats_new();
	int rc;

	if (!stats)
		return -ENOMEM;
	rc = get_stats(stats, from);
	if (rc)
		free(stats);
	else
		*ret = stats;
	return rc;
}
