/* What bursts come to at their receivers: each slot's first and last arrival by one clock, and whether all of it came. */
#include "spec/arrivals.h"

#include "spec/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct receiver {
	uint32_t number;
	uint64_t connections; /* that end there */
	uint64_t count;
	struct burst_arrival *record; /* in rank 0's clock */
};

struct arrival_sum {
	uint32_t receivers;
	struct receiver *receiver;
	struct hist span;
};

struct arrival_sum *arrival_sum_new(void)
{
	struct arrival_sum *sum = calloc(1, sizeof(*sum));

	if (sum)
		hist_init(&sum->span);
	return sum;
}

void arrival_sum_free(struct arrival_sum *sum)
{
	for (uint32_t i = 0; sum && i < sum->receivers; i++)
		free(sum->receiver[i].record);
	if (sum)
		free(sum->receiver);
	free(sum);
}

/* The latest ones first: connections come receiver by receiver, or there are few. */
static struct receiver *receiver_of(struct arrival_sum *sum, uint32_t number)
{
	struct receiver *more;

	for (uint32_t i = sum->receivers; i; i--)
		if (sum->receiver[i - 1].number == number)
			return &sum->receiver[i - 1];
	more = realloc(sum->receiver, (sum->receivers + 1) * sizeof(*more));
	if (!more)
		return NULL;
	sum->receiver = more;
	more[sum->receivers] = (struct receiver){ .number = number };
	return &more[sum->receivers++];
}

static int keep(struct receiver *receiver, const struct burst_arrivals *arrivals, const struct rank_result *rank)
{
	const uint64_t first = arrivals_first_kept(arrivals), count = arrivals->kept - first;
	struct burst_arrival *more = realloc(receiver->record, (receiver->count + count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	receiver->record = more;
	for (uint64_t i = 0; i < count; i++) {
		struct burst_arrival record = arrivals->record[(first + i) % BURST_KEPT];

		record.offset_ns = arrivals->followed ? record.offset_ns : rank->clock_offset_ns;
		record.first_ns -= record.offset_ns;
		record.last_ns -= record.offset_ns;
		more[receiver->count++] = record;
	}
	return 0;
}

int arrival_sum_add(struct arrival_sum *sum, uint32_t number, const struct rank_result *rank)
{
	struct receiver *receiver = receiver_of(sum, number);
	int rc = receiver ? 0 : -ENOMEM;

	if (receiver)
		receiver->connections++;
	for (uint32_t i = 0; rc == 0 && i < rank->workers; i++)
		rc = rank->worker[i].arrivals ? keep(receiver, rank->worker[i].arrivals, rank) : 0;
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const struct burst_arrival *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void join(struct burst_arrival *into, const struct burst_arrival *other)
{
	into->first_ns = other->first_ns < into->first_ns ? other->first_ns : into->first_ns;
	into->last_ns = other->last_ns > into->last_ns ? other->last_ns : into->last_ns;
	into->messages += other->messages;
}

/* One record a slot. */
static void put_together(struct receiver *receiver)
{
	uint64_t count = 0;

	qsort(receiver->record, receiver->count, sizeof(*receiver->record), by_number);
	for (uint64_t i = 0; i < receiver->count; i++) {
		if (count && receiver->record[count - 1].number == receiver->record[i].number)
			join(&receiver->record[count - 1], &receiver->record[i]);
		else
			receiver->record[count++] = receiver->record[i];
	}
	receiver->count = count;
}

void arrival_sum_end(struct arrival_sum *sum, const struct spec *spec, double ideal_us, struct arrival_summary *ret)
{
	*ret = (struct arrival_summary){ 0 };
	for (uint32_t i = 0; i < sum->receivers; i++) {
		struct receiver *receiver = &sum->receiver[i];
		const uint64_t whole = receiver->connections * spec->qps * spec->workers * spec->burst_size;

		if (!receiver->count)
			continue;
		put_together(receiver);
		ret->receivers++;
		for (uint64_t k = 0; k < receiver->count; k++) {
			const struct burst_arrival *record = &receiver->record[k];

			ret->bursts++;
			ret->whole += record->messages == whole;
			if (!whole || record->messages == whole)
				hist_record(&sum->span, (uint64_t)(record->last_ns - record->first_ns));
		}
	}
	ret->span = burst_spread_of(&sum->span);
	/* What one poll took seems to have come at once: nothing to compare. */
	ret->slowdown = sum->span.count && ret->span.p50 > 0 ? ret->span.p50 / ideal_us : (double)NAN;
}

bool arrival_sum_find(const struct arrival_sum *sum, uint64_t number, struct burst_arrival *ret)
{
	const struct burst_arrival wanted = { .number = number };
	bool found = false;

	for (uint32_t i = 0; i < sum->receivers; i++) {
		const struct receiver *receiver = &sum->receiver[i];
		const struct burst_arrival *record =
			receiver->count ? bsearch(&wanted, receiver->record, receiver->count, sizeof(wanted), by_number)
					: NULL;

		if (record && found)
			join(ret, record);
		else if (record)
			*ret = *record;
		found |= record != NULL;
	}
	return found;
}
