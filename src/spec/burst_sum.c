/* What the bursts of all senders come to: those with the same number are one burst of all of them, in rank 0's clock. */
#include "spec/burst.h"

#include "spec/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a worker kept, oldest first. */
struct sender {
	uint64_t count;
	uint64_t at; /* while bursts are gone through */
	struct burst_record *record; /* in rank 0's clock */
};

/* Of the two worst clocks, and whose they are. */
struct worst {
	int64_t ns[2];
	uint32_t rank[2];
};

struct burst_sum {
	const struct spec *spec;
	uint32_t senders;
	uint32_t first_rank; /* of the first of them */
	uint32_t by_device; /* of them, those whose device paces */
	bool several; /* ranks, which have a clock each */
	struct sender *sender;
	struct worst error, u95;
	struct burst_stats all; /* sums and merged histograms; no records */
	struct hist skew, overlap_all, overlap_half, completion;
};

struct burst_sum *burst_sum_new(const struct spec *spec)
{
	struct burst_sum *sum = calloc(1, sizeof(*sum));
	struct hist *hists[] = { sum ? &sum->all.lateness : NULL, sum ? &sum->all.length : NULL,
				 sum ? &sum->all.gap : NULL };

	if (!sum)
		return NULL;
	sum->spec = spec;
	for (unsigned i = 0; i < sizeof(hists) / sizeof(hists[0]); i++)
		hist_init(hists[i]);
	hist_init(&sum->skew);
	hist_init(&sum->overlap_all);
	hist_init(&sum->overlap_half);
	hist_init(&sum->completion);
	return sum;
}

void burst_sum_free(struct burst_sum *sum)
{
	for (uint32_t i = 0; sum && i < sum->senders; i++)
		free(sum->sender[i].record);
	if (sum)
		free(sum->sender);
	free(sum);
}

static void merge_rates(struct burst_stats *all, const struct burst_stats *stats)
{
	const bool first = all->flows == 0;

	all->unrated += stats->unrated;
	if (!stats->flows)
		return;
	all->flows += stats->flows;
	all->rate += stats->rate;
	all->slowest = first || stats->slowest < all->slowest ? stats->slowest : all->slowest;
	all->fastest = first || stats->fastest > all->fastest ? stats->fastest : all->fastest;
	all->span_ns = first || stats->span_ns < all->span_ns ? stats->span_ns : all->span_ns;
}

static void merge(struct burst_sum *sum, const struct burst_stats *stats)
{
	struct burst_stats *all = &sum->all;

	sum->by_device += stats->by_device;
	all->slots += stats->slots;
	all->bursts += stats->bursts;
	all->skipped += stats->skipped;
	all->full += stats->full;
	all->late += stats->late;
	all->messages += stats->messages;
	merge_rates(all, stats);
	hist_merge(&all->lateness, &stats->lateness);
	hist_merge(&all->length, &stats->length);
	hist_merge(&all->gap, &stats->gap);
}

void burst_in_root(struct burst_record *record, const struct burst_stats *stats, const struct rank_result *rank)
{
	const int64_t offset_ns = stats->followed ? record->offset_ns : rank->clock_offset_ns;

	record->offset_ns = offset_ns;
	record->due_ns -= offset_ns;
	record->begun_ns -= offset_ns;
	record->rung_ns -= offset_ns;
	record->posted_ns -= offset_ns;
	record->done_ns -= record->done_ns ? offset_ns : 0;
}

static int keep(struct burst_sum *sum, const struct burst_stats *stats, const struct rank_result *rank)
{
	const uint64_t first = burst_first_kept(stats), count = stats->kept - first;
	struct sender *more = realloc(sum->sender, (sum->senders + 1) * sizeof(*more)), *sender;

	if (!more)
		return -ENOMEM;
	sum->sender = more;
	sender = &sum->sender[sum->senders];
	*sender = (struct sender){ .count = count };
	sender->record = calloc(count + 1, sizeof(*sender->record));
	if (!sender->record)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		struct burst_record *record = &sender->record[i];

		*record = stats->record[(first + i) % BURST_KEPT];
		burst_in_root(record, stats, rank);
	}
	sum->senders++;
	return 0;
}

static void take_error(struct worst *worst, uint32_t rank, int64_t ns)
{
	if (ns > worst->ns[0]) {
		if (rank != worst->rank[0]) {
			worst->ns[1] = worst->ns[0];
			worst->rank[1] = worst->rank[0];
		}
		worst->ns[0] = ns;
		worst->rank[0] = rank;
	} else if (rank != worst->rank[0] && ns > worst->ns[1]) {
		worst->ns[1] = ns;
		worst->rank[1] = rank;
	}
}

int burst_sum_add(struct burst_sum *sum, uint32_t number, const struct rank_result *rank)
{
	int64_t error_ns = 0, u95_ns = 0; /* of the rank's clock: its workers share it */
	const uint32_t senders = sum->senders;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < rank->workers; i++) {
		const struct burst_stats *stats = rank->worker[i].bursts;

		if (!stats)
			continue;
		error_ns = stats->followed ? stats->clock_error_ns : rank->clock_error_ns;
		u95_ns = stats->followed ? stats->clock_u95_ns : rank->clock_error_ns;
		merge(sum, stats);
		rc = keep(sum, stats, rank);
	}
	if (sum->senders == senders)
		return rc;
	if (!senders)
		sum->first_rank = number;
	sum->several |= number != sum->first_rank;
	take_error(&sum->error, number, error_ns);
	take_error(&sum->u95, number, u95_ns);
	return rc;
}

/* --- a burst of all --- */

struct joint {
	int64_t first, last; /* doorbells */
	int64_t first_done, last_done;
	bool late, known; /* all completions are */
};

static void join(struct joint *joint, const struct burst_record *record, bool first)
{
	const int64_t rung = record->rung_ns, done = record->done_ns;

	if (first)
		*joint = (struct joint){ rung, rung, done, done, .known = true };
	joint->first = rung < joint->first ? rung : joint->first;
	joint->last = rung > joint->last ? rung : joint->last;
	joint->first_done = done < joint->first_done ? done : joint->first_done;
	joint->last_done = done > joint->last_done ? done : joint->last_done;
	joint->late |= record->rung_ns - record->due_ns > BURST_LATE_NS;
	joint->known &= record->done_ns != 0;
}

static int by_instant(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Time in which at least `half` senders' bursts were under way; edge: room for two instants a sender. */
static int64_t overlap(const struct burst_sum *sum, uint32_t half, int64_t *edge)
{
	int64_t *begin = edge, *end = edge + sum->senders, since = 0, whole = 0;
	uint32_t b = 0, e = 0;

	for (uint32_t i = 0; i < sum->senders; i++) {
		const struct sender *sender = &sum->sender[i];

		begin[i] = sender->record[sender->at].rung_ns;
		end[i] = sender->record[sender->at].done_ns;
	}
	qsort(begin, sum->senders, sizeof(*begin), by_instant);
	qsort(end, sum->senders, sizeof(*end), by_instant);
	while (e < sum->senders) {
		if (b < sum->senders && begin[b] <= end[e]) {
			if (++b - e == half)
				since = begin[b - 1];
		} else if (b - e++ == half) {
			whole += end[e - 1] - since;
		}
	}
	return whole;
}

static void count_joint(struct burst_sum *sum, const struct joint *joint, struct burst_summary *ret, int64_t *edge)
{
	const int64_t all = joint->first_done - joint->last;

	ret->complete++;
	ret->valid += !joint->late;
	hist_record(&sum->skew, (uint64_t)(joint->last - joint->first));
	if (!joint->known)
		return;
	hist_record(&sum->overlap_all, all > 0 ? (uint64_t)all : 0);
	hist_record(&sum->overlap_half, (uint64_t)overlap(sum, ret->half, edge));
	if (joint->last_done > joint->first)
		hist_record(&sum->completion, (uint64_t)(joint->last_done - joint->first));
}

/* Whether all senders, each standing at its first of at least that number, have that one. */
static bool all_have(const struct burst_sum *sum, uint64_t number, struct joint *joint)
{
	bool all = true;

	for (uint32_t i = 0; i < sum->senders; i++) {
		const struct sender *sender = &sum->sender[i];

		if (sender->at == sender->count || sender->record[sender->at].number != number)
			all = false;
		else if (all)
			join(joint, &sender->record[sender->at], i == 0);
	}
	return all;
}

/* The first number that no sender has forgotten: its own oldest one where a sender's room was used up. */
static uint64_t first_known(const struct burst_sum *sum)
{
	uint64_t oldest = UINT64_MAX, known = 0;

	for (uint32_t i = 0; i < sum->senders; i++) {
		const struct sender *sender = &sum->sender[i];
		const uint64_t own = sender->count ? sender->record[0].number : UINT64_MAX;

		oldest = own < oldest ? own : oldest;
		known = sender->count == BURST_KEPT && own > known ? own : known;
	}
	return known > oldest ? known : oldest;
}

/* The next number that any sender has, from one on; UINT64_MAX: none has any. */
static uint64_t next_number(struct burst_sum *sum, uint64_t number)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < sum->senders; i++) {
		struct sender *sender = &sum->sender[i];

		while (sender->at < sender->count && sender->record[sender->at].number < number)
			sender->at++;
		if (sender->at < sender->count && sender->record[sender->at].number < next)
			next = sender->record[sender->at].number;
	}
	return next;
}

/* Slots that nobody filled in between are compared, too. */
static void compare(struct burst_sum *sum, struct burst_summary *ret)
{
	int64_t *edge = calloc(sum->senders + 1, 2 * sizeof(*edge));
	uint64_t number = first_known(sum), next;

	ret->first_compared = number;
	while (edge && (next = next_number(sum, number)) != UINT64_MAX) {
		struct joint joint = { 0 };

		ret->compared += next + 1 - number;
		if (all_have(sum, next, &joint))
			count_joint(sum, &joint, ret, edge);
		number = next + 1;
	}
	free(edge);
}

struct burst_spread burst_spread_of(const struct hist *hist)
{
	if (!hist->count)
		return (struct burst_spread){ 0, NAN, NAN, NAN, NAN, NAN };
	return (struct burst_spread){ .count = hist->count,
				      .p1 = (double)hist_percentile(hist, 1) / 1e3,
				      .p50 = (double)hist_percentile(hist, 50) / 1e3,
				      .p95 = (double)hist_percentile(hist, 95) / 1e3,
				      .p99 = (double)hist_percentile(hist, 99) / 1e3,
				      .max = (double)hist->max / 1e3 };
}

/* Of one sender while its burst lasts. */
static double burst_rate(const struct burst_sum *sum, const struct burst_summary *ret)
{
	const double messages = ret->bursts ? (double)ret->messages / (double)ret->bursts : 0;

	return ret->length.count && ret->length.p50 > 0 ? messages * (double)sum->spec->size * 8 / ret->length.p50 / 1e3
							: (double)NAN;
}

void burst_sum_end(struct burst_sum *sum, double share, struct burst_summary *ret)
{
	const struct spec *spec = sum->spec;
	const struct burst_stats *all = &sum->all;
	const bool common = spec->burst_profile != BURST_STORAGE;
	const double bits = share * (double)spec->burst_size * (double)spec->size * 8;
	const double gbps = (double)spec->size * 8 / 1e9; /* of a message per second */

	*ret = (struct burst_summary){ .senders = sum->senders,
				       .by_device = sum->by_device,
				       .slots = all->slots,
				       .bursts = all->bursts,
				       .skipped = all->skipped,
				       .full = all->full,
				       .late = all->late,
				       .messages = all->messages,
				       .half = (sum->senders + 1) / 2 };
	if (sum->several) {
		ret->clock_us = (double)(sum->error.ns[0] + sum->error.ns[1]) / 1e3;
		ret->clock_u95_us = hypot((double)sum->u95.ns[0], (double)sum->u95.ns[1]) / 1e3;
	}
	if (common)
		compare(sum, ret);
	ret->lateness = burst_spread_of(&all->lateness);
	ret->length = burst_spread_of(&all->length);
	ret->gap = burst_spread_of(&all->gap);
	ret->skew = burst_spread_of(&sum->skew);
	ret->overlap_all = burst_spread_of(&sum->overlap_all);
	ret->overlap_half = burst_spread_of(&sum->overlap_half);
	ret->completion = burst_spread_of(&sum->completion);
	ret->period_us = spec->burst_profile == BURST_SYNC ? (double)spec_burst_period_ns(spec) / 1e3 : (double)NAN;
	ret->burst_gbps = burst_rate(sum, ret);
	ret->flow_gbps = all->flows ? all->rate / (double)all->flows * gbps : (double)NAN;
	ret->slowest_gbps = all->flows ? all->slowest * gbps : (double)NAN;
	ret->fastest_gbps = all->flows ? all->fastest * gbps : (double)NAN;
	ret->span = (double)all->span_ns / 1e9;
	ret->unrated = all->unrated;
	ret->ideal_us = spec->link_rate && spec->burst_profile == BURST_SYNC ? bits * 1e6 / (double)spec->link_rate
									     : (double)NAN;
	ret->slowdown = ret->completion.count ? ret->completion.p50 / ret->ideal_us : (double)NAN;
}

bool result_bursts(const struct result *result, struct burst_summary *ret)
{
	const struct spec *spec = &result->request.spec;
	const struct rank_result *sender = result_sender(result);
	struct burst_sum *sum = sender && spec_bursts(spec) ? burst_sum_new(spec) : NULL;
	bool known = false;

	if (sum && burst_sum_add(sum, 0, sender) == 0 && sum->senders) {
		burst_sum_end(sum, (double)(spec->qps * spec->workers), ret);
		known = true;
	}
	burst_sum_free(sum);
	return known;
}
