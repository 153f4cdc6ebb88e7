/* Says in one sentence for each kind of event what counters that moved mean, and which they are. */
#include "counters/counters.h"

#include <stdio.h>
#include <string.h>

#define TEXT 640
#define MOST 4 /* counters named in a sentence */

/* id and beginning of the sentence by kind; none: not worth one. */
static const struct {
	const char *id, *text;
} sayings[COUNTER_KINDS] = {
	[COUNTER_SENDER_LOSS] = { "countersSenderLoss", "packets were lost before they left the sending host" },
	[COUNTER_RECEIVER_LOSS] = { "countersReceiverLoss",
				    "packets were lost in the receiving NIC or host, not in the network" },
	[COUNTER_PAUSE] = { "countersPause",
			    "senders were held back by pause frames or credits: where this network is full it waits "
			    "instead of losing" },
	[COUNTER_ECN] = { "countersEcn", "congestion was marked (ECN): senders may have been slowed down" },
	[COUNTER_RETRANSMISSION] = { "countersRetransmission",
				     "packets were sent again, as some were lost or overtaken on the way" },
	[COUNTER_TIMEOUT] = { "countersTimeout", "timers ran out: nothing told the sender of what was lost" },
	[COUNTER_NOT_READY] = { "countersNotReady", "a receiver was not ready: no receive was posted" },
	[COUNTER_LINK] = { "countersLink", "the link has errors: cable, transceiver or port" },
};

/* A counter that moved, and whose it is. */
struct mover {
	const char *rank;
	const struct port_counter *counter;
	uint64_t moved; /* in units of its meaning */
	const char *unit;
};

/* The largest first. */
struct movers {
	unsigned all, kept;
	struct mover mover[MOST];
};

static void keep(struct movers *movers, const struct mover *mover)
{
	unsigned at = movers->kept < MOST ? movers->kept : MOST;

	movers->all++;
	while (at && movers->mover[at - 1].moved < mover->moved)
		at--;
	if (at == MOST)
		return;
	if (movers->kept < MOST)
		movers->kept++;
	for (unsigned i = movers->kept - 1; i > at; i--)
		movers->mover[i] = movers->mover[i - 1];
	movers->mover[at] = *mover;
}

static bool moved_of_kind(const struct port_counter *counter, enum counter_kind kind, struct mover *ret)
{
	const struct meaning meaning = counter_meaning(counter->name);
	uint64_t moved;

	if (meaning.kind != kind || !counter_moved(counter, &moved) || !moved)
		return false;
	*ret = (struct mover){ .counter = counter, .moved = moved * meaning.scale, .unit = meaning.unit };
	return true;
}

static void gather(const struct counted *rank, unsigned ranks, enum counter_kind kind, struct movers *ret)
{
	for (unsigned r = 0; r < ranks; r++) {
		const struct port_counters *counters = rank[r].counters;

		for (uint32_t i = 0; i < counters->count; i++) {
			struct mover mover;

			if (!moved_of_kind(&counters->counter[i], kind, &mover))
				continue;
			mover.rank = rank[r].name;
			keep(ret, &mover);
		}
	}
}

static void add(char *text, const char *more)
{
	const size_t used = strlen(text);

	snprintf(text + used, TEXT - used, "%s", more);
}

static void write(const struct movers *movers, const char *beginning, char text[TEXT])
{
	snprintf(text, TEXT, "%s: ", beginning);
	for (unsigned i = 0; i < movers->kept; i++) {
		const struct mover *m = &movers->mover[i];
		char item[COUNTER_NAME + COUNTER_SOURCE + 160];

		snprintf(item, sizeof(item), "%s%s %llu %s (%s of %.64s)", i ? ", " : "", m->counter->name,
			 (unsigned long long)m->moved, m->unit, m->counter->source, m->rank);
		add(text, item);
	}
	if (movers->all > movers->kept)
		add(text, " and others");
}

void counters_tell(const struct counted *rank, unsigned ranks,
		   void (*say)(void *context, const char *id, const char *text), void *context)
{
	for (unsigned kind = 0; kind < COUNTER_KINDS; kind++) {
		struct movers movers = { 0 };
		char text[TEXT];

		if (!sayings[kind].id)
			continue;
		gather(rank, ranks, (enum counter_kind)kind, &movers);
		if (!movers.all)
			continue;
		write(&movers, sayings[kind].text, text);
		say(context, sayings[kind].id, text);
	}
}

bool counters_tell_loss(const struct port_counters *counters)
{
	struct mover mover;

	for (uint32_t i = 0; i < counters->count; i++)
		if (moved_of_kind(&counters->counter[i], COUNTER_RECEIVER_LOSS, &mover) ||
		    moved_of_kind(&counters->counter[i], COUNTER_SENDER_LOSS, &mover))
			return true;
	return false;
}
