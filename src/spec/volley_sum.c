/* Compares when senders posted the messages of a volley, by their clocks, with when they came, by the receiver's alone. */
#include "spec/volley.h"

#include "spec/result.h"

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

struct span {
	int64_t least, most;
};

static void widen(struct span *span, int64_t ns)
{
	span->least = ns < span->least ? ns : span->least;
	span->most = ns > span->most ? ns : span->most;
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
	const struct span none = { INT64_MAX, INT64_MIN };
	struct span paths = none;

	*ret = (struct volley_summary){ .senders = sum->senders, .serial_us = (double)NAN };
	if (sum->senders < 2)
		return;
	for (unsigned i = 0; i < RESULT_VOLLEYS; i++) {
		struct span posted = none, arrived = none;

		for (uint32_t s = 0; s < sum->senders; s++) {
			widen(&posted, sum->sender[s].posted[i]);
			widen(&arrived, sum->sender[s].arrived[i]);
		}
		hist_record(&sum->posted, (uint64_t)(posted.most - posted.least));
		hist_record(&sum->arrived, (uint64_t)(arrived.most - arrived.least));
	}
	for (uint32_t s = 0; s < sum->senders; s++)
		widen(&paths, quickest(&sum->sender[s]));
	ret->posted = burst_spread_of(&sum->posted);
	ret->arrived = burst_spread_of(&sum->arrived);
	ret->apart_us = (double)(paths.most - paths.least) / 1e3;
	if (spec->link_rate)
		ret->serial_us = (sum->senders - 1) * (double)spec->size * 8e6 / (double)spec->link_rate;
}
