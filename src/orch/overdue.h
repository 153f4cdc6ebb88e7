/* When traffic has to be given up: it has not ended long after its time, or, by count, nothing has moved for long. */
#ifndef ORCH_OVERDUE_H
#define ORCH_OVERDUE_H

#include <stdint.h>

struct error;
struct spec;

#define OVERDUE_NS 30000000000LL /* so long behind what is due by design something hangs */

struct overdue {
	int64_t due_ns; /* when all should be done; INT64_MAX when a count ends it */
	int64_t silence_ns; /* for which nothing moves by design: overdue_expect() */
	int64_t moved_ns; /* by count: when the last message was seen to complete; 0 = not looked yet */
	uint64_t moved_count;
};

/* A test of such a spec takes part: bursts may lie further apart than OVERDUE_NS. */
void overdue_expect(struct overdue *overdue, const struct spec *spec);
/* count: all messages that have moved until now. 0, or -ETIMEDOUT with its sentence. */
int overdue_check(struct overdue *overdue, uint64_t count, int64_t now, struct error *err);

#endif
