/* Compares when senders posted the messages of a volley, by their clocks, with when they came, by the receiver's alone. */
#include "spec/volley.h"

#include "spec/result.h"
#include "spec/span.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sender {
	int64_t posted[RESULT_VOLLEYS], arrived[RESULT_VOLLEYS];
};

struct volley_sum {
	uint32_t senders;
	struct sender *sender;
	struct hist posted, arrived;
};

struct volley_sum *volley_sum_new(void)
{
	struct volley_sum *sum = calloc(1, sizeof(*sum));

	if (sum) {
		hist_init(&sum->posted);
		hist_init(&sum->arrived);
	}
	return sum;
}

void volley_sum_free(struct volley_sum *sum)
{
	if (sum)
		free(sum->sender);
	free(sum);
}

/* All of it was sent and came: else nothing tells which of them is missing. */
static bool is_whole(const struct rank_result *rank)
{
	const struct worker_result *worker = rank && rank->workers ? &rank->worker[0] : NULL;

	for (unsigned i = 0; worker && i < worker->volleys; i++)
		if (!worker->volley_ns[i])
			return false;
	return worker && worker->volleys == RESULT_VOLLEYS;
}

int volley_sum_add(struct volley_sum *sum, const struct result *result)
{
	const struct rank_result *from = result_sender(result), *to = result_receiver(result);
	struct sender *more;

	if (!is_whole(from) || !is_whole(to))
		return 0;
	more = realloc(sum->sender, (sum->senders + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	sum->sender = more;
	memcpy(more[sum->senders].posted, from->worker[0].volley_ns, sizeof(more->posted));
	memcpy(more[sum->senders].arrived, to->worker[0].volley_ns, sizeof(more->arrived));
	sum->senders++;
	return 0;
}

/* The quickest of a sender's messages: nothing was in its way. */
static int64_t quickest(const struct sender *sender)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < RESULT_VOLLEYS; i++) {
		const int64_t took = sender->arrived[i] - sender->posted[i];

		least = took < least ? took : least;
	}
	return least;
}

void volley_sum_end(struct volley_sum *sum, const struct spec *spec, struct volley_summary *ret)
{
	struct span paths = SPAN_NONE;

	*ret = (struct volley_summary){ .senders = sum->senders, .serial_us = (double)NAN };
	if (sum->senders < 2)
		return;
	for (unsigned i = 0; i < RESULT_VOLLEYS; i++) {
		struct span posted = SPAN_NONE, arrived = posted;

		for (uint32_t s = 0; s < sum->senders; s++) {
			span_add(&posted, sum->sender[s].posted[i]);
			span_add(&arrived, sum->sender[s].arrived[i]);
		}
		hist_record(&sum->posted, (uint64_t)span_length(&posted));
		hist_record(&sum->arrived, (uint64_t)span_length(&arrived));
	}
	for (uint32_t s = 0; s < sum->senders; s++)
		span_add(&paths, quickest(&sum->sender[s]));
	ret->posted = burst_spread_of(&sum->posted);
	ret->arrived = burst_spread_of(&sum->arrived);
	ret->apart_us = (double)span_length(&paths) / 1e3;
	if (spec->link_rate)
		ret->serial_us = (sum->senders - 1) * (double)spec->size * 8e6 / (double)spec->link_rate;
}
