/* Exact loss, duplicate and reorder counting: what happens when a message is not the next expected one. */
#include "driver/seq.h"

#include <string.h>

static uint64_t *word(struct seq *s, uint64_t number)
{
	return &s->seen[(number % SEQ_WINDOW) / 64];
}

static uint64_t bit(uint64_t number)
{
	return UINT64_C(1) << (number % 64);
}

/* Forgets what stood in the places of the numbers [from, to). */
static void clear(struct seq *s, uint64_t from, uint64_t to)
{
	if (to - from >= SEQ_WINDOW) {
		memset(s->seen, 0, sizeof(s->seen));
		return;
	}
	while (from < to) {
		if (from % 64 == 0 && to - from >= 64) {
			*word(s, from) = 0;
			from += 64;
		} else {
			*word(s, from) &= ~bit(from);
			from++;
		}
	}
}

static bool jump(struct seq *s, uint64_t number)
{
	const uint64_t gap = number - s->next;

	if (gap > SEQ_MAX_JUMP) {
		s->alien++;
		return false;
	}
	clear(s, s->next, number);
	*word(s, number) |= bit(number);
	s->lost += gap;
	s->next = number + 1;
	return true;
}

bool seq_feed_odd(struct seq *s, uint64_t number)
{
	if (number >= s->next)
		return jump(s, number);
	if (s->next - number > SEQ_WINDOW) {
		s->late++;
		return false;
	}
	if (*word(s, number) & bit(number)) {
		s->duplicated++;
		return false;
	}
	*word(s, number) |= bit(number);
	s->lost--;
	s->reordered++;
	return true;
}

bool seq_feed_low(struct seq *s, uint32_t low)
{
	const int64_t step = (int32_t)(low - (uint32_t)s->next);

	if (step < 0 && (uint64_t)-step > s->next) {
		s->alien++;
		return false;
	}
	return seq_feed(s, s->next + (uint64_t)step);
}
