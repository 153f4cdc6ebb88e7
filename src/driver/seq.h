/* Counts lost, duplicated and reordered messages exactly, from the numbers that their sender gave them. */
#ifndef DRIVER_SEQ_H
#define DRIVER_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#define SEQ_WINDOW   65536u /* messages behind the next expected one whose arrival is remembered */
#define SEQ_MAX_JUMP (UINT64_C(1) << 40) /* a larger step ahead is taken for a number that is not ours */

/*
 * The sender numbers its messages 0, 1, 2 ...; the receiver feeds every number it sees, in the order of arrival.
 *
 *   received    distinct messages: next - lost.
 *   lost        numbers below the highest seen that have not arrived. A late arrival inside the window takes its number
 *               out again. What is lost behind the highest one seen, only the sender's total can tell.
 *   reordered   messages that arrived after one with a higher number (RFC 4737: number below the next expected).
 *   duplicated  arrivals of a number that had arrived before.
 *   late        arrivals more than SEQ_WINDOW behind: late or duplicated, which of the two is no longer known. They are
 *               in none of the counts above, so that received + lost = next stays true.
 *   alien       numbers that this sender cannot have reached: not ours. In none of the counts above.
 */
struct seq { /* zeroed = nothing seen */
	uint64_t next; /* one above the highest number seen */
	uint64_t lost, duplicated, reordered, late, alien;
	uint64_t seen[SEQ_WINDOW / 64]; /* bit number % SEQ_WINDOW, valid for the SEQ_WINDOW numbers below next */
};

bool seq_feed_odd(struct seq *s, uint64_t number); /* any number but the next expected one */

/* Takes an arrival into account; whether it is a message that had not arrived before. */
static inline bool seq_feed(struct seq *s, uint64_t number)
{
	if (__builtin_expect(number != s->next, 0))
		return seq_feed_odd(s, number);
	s->seen[(number % SEQ_WINDOW) / 64] |= UINT64_C(1) << (number % 64);
	s->next = number + 1;
	return true;
}

/* The same for a sender that has room for the low 32 bits only; right while less than 2^31 messages are missing in a row. */
bool seq_feed_low(struct seq *s, uint32_t low);

static inline uint64_t seq_received(const struct seq *s)
{
	return s->next - s->lost;
}

#endif
