/* Live lines of a scenario: each rank tells rank 0 the rate of its interval, and when all have, rank 0 tells their sum. */
#include "orch/share.h"

#include <errno.h>

/* Which end's counts make the figure, as between two hosts (traffic.c). */
static bool sender_counts(const struct flow *flow)
{
	const bool shows = flow->caps.counts_loss || !(spec_verbs(flow->spec) & ~TWO_SIDED_VERBS);

	return flow->caps.delivery || flow->caps.passive_idle || !shows;
}

static uint64_t counted(const struct flow *flow)
{
	if (sender_counts(flow))
		return flow->sends ? atomic_load_explicit(&flow->live_sent, memory_order_relaxed) : 0;
	return flow->receives ? atomic_load_explicit(&flow->live_received, memory_order_relaxed) : 0;
}

/* What this rank has counted since its flows were opened: messages of tests of bandwidth, and their bits. */
static void count(const struct share *share, struct live_rate *ret)
{
	*ret = (struct live_rate){ 0 };
	for (uint32_t i = 0; i < share->groups; i++) {
		const struct group *group = &share->group[i];
		const double bits = spec_mean_size(&group->spec) * 8;

		for (uint32_t k = 0; group->spec.metric == METRIC_BW && k < group->workers; k++) {
			const double messages = (double)counted(&share->flow[group->first_flow + k]);

			ret->messages += messages;
			ret->bits += messages * bits;
		}
	}
}

void live_begin(struct many *many, int64_t start_ns)
{
	struct many_live *live = &many->live;

	*live = (struct many_live){ .phase = live->phase + 1,
				    .start_ns = start_ns,
				    .last_ns = start_ns,
				    .next_ns = many->conf->live_ns ? start_ns + many->conf->live_ns : INT64_MAX };
	count(&many->share, &live->last);
}

/* Rank 0: a rank's rate; a line is told once, when all ranks have told theirs, in the order of time. */
static void add(struct many *many, uint64_t number, const struct live_rate *rate)
{
	struct live_sum *sum = &many->live.sum[number % LIVE_SUMS];

	if (number < sum->number)
		return;
	if (number > sum->number)
		*sum = (struct live_sum){ .number = number };
	sum->rate.messages += rate->messages;
	sum->rate.bits += rate->bits;
	if (++sum->ranks == many->comm->size && many->conf->live)
		many->conf->live(many->conf->context, (double)number * (double)many->conf->live_ns / 1e9,
				 sum->rate.bits / 1e9, sum->rate.messages / 1e6);
}

void live_told(void *context, struct cursor *from)
{
	const uint32_t phase = cursor_u32(from);
	const uint64_t number = cursor_u64(from);
	const struct many *many = context;
	struct live_rate rate;

	rate.messages = (double)cursor_u64(from);
	rate.bits = (double)cursor_u64(from);
	if (!from->failed && !from->left && phase == many->live.phase)
		add(context, number, &rate);
}

/* An interval that this rank slept through has no line. */
int live_step(struct many *many, struct error *err)
{
	struct many_live *live = &many->live;
	const int64_t now = clock_now(many->conf->clock);
	const double seconds = (double)(now - live->last_ns) / 1e9;
	const uint64_t number =
		(uint64_t)(now - live->start_ns) / (uint64_t)(many->conf->live_ns ? many->conf->live_ns : 1);
	struct buf data = BUF_INIT;
	struct live_rate total, rate;
	int rc;

	if (now < live->next_ns || many->interrupted)
		return 0;
	count(&many->share, &total);
	rate.messages = (total.messages - live->last.messages) / seconds;
	rate.bits = (total.bits - live->last.bits) / seconds;
	live->last = total;
	live->last_ns = now;
	live->next_ns = live->start_ns + (int64_t)(number + 1) * many->conf->live_ns;
	if (many->comm->rank == 0) {
		add(many, number, &rate);
		return 0;
	}
	buf_put_u32(&data, live->phase);
	buf_put_u64(&data, number);
	buf_put_u64(&data, (uint64_t)rate.messages);
	buf_put_u64(&data, (uint64_t)rate.bits);
	rc = data.failed ? error_set(err, -ENOMEM, "no memory for a live line") : comm_tell(many->comm, &data, err);
	buf_release(&data);
	return rc;
}
