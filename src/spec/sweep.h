/* A sweep: lists of values become a series of tests, one for each combination. */
#ifndef SPEC_SWEEP_H
#define SPEC_SWEEP_H

#include "spec/option.h"
#include "spec/spec.h"

#define SWEEP_MAX 1024 /* most values of a list, most tests of a sweep */

/*
 * The tests of a run in the order in which they run: queue pairs vary slowest, depths and bursts next, sizes fastest, so that a
 * set-up serves all sizes. A single test is a sweep of one.
 */
struct sweep {
	unsigned count;
	struct spec *spec; /* resolved */
	bool *fresh; /* needs a set-up of its own; else it goes on with the endpoints of the test before */
};

/*
 * All tests of a request, each completed and checked as request_resolve() does; the request becomes the first of them,
 * with its lists. -EINVAL with a sentence that names the value that cannot be, -ENOMEM.
 */
int sweep_resolve(struct sweep *ret, struct request *request, const struct request_host *host, struct error *err);
int sweep_alloc(struct sweep *ret, unsigned count, struct error *err);
void sweep_release(struct sweep *sweep);

/* The request of test number i alone, without lists. */
struct request sweep_request(const struct sweep *sweep, const struct request *request, unsigned i);
/* Behind the last test that has its endpoints in common with test number first. */
unsigned sweep_end(const struct sweep *sweep, unsigned first);

/* The wire form; -EPROTO or -EINVAL with a sentence: too many tests, a bad one, one that cannot go on with the endpoints of the one before. */
void sweep_pack(const struct sweep *sweep, struct buf *to);
int sweep_unpack(struct sweep *ret, struct cursor *from, struct error *err);

/* --- list.c --- */

/*
 * "8,64,4K", "1:64K:*2" (from 1 to at most 64K, each twice the one before), "16:128:+16", or several of them joined by
 * commas: the values in their order into ret[SWEEP_MAX]. Each is read by the row's own type and range. -EINVAL with a
 * sentence that names the item: no or a bad value, a range that falls or has no step, a value that is there twice.
 */
int list_parse(const struct option_row *row, const char *text, uint64_t *ret, unsigned *ret_count, struct error *err);
/* Whether a value is written as a list. */
bool list_is(const char *text);
/* The list that was given to a row, as it was written; "" when it was a plain value. */
const char *list_of(const struct request *request, int row);

#endif
