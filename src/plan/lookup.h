/* Finds things that stand in an array by their hash: an open table of indices that grows. */
#ifndef PLAN_LOOKUP_H
#define PLAN_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define LOOKUP_NONE UINT32_MAX

struct lookup_slot {
	uint64_t hash;
	uint32_t index; /* LOOKUP_NONE: empty */
};
struct lookup {
	uint32_t count, cap; /* cap: a power of two, at least twice the count, or 0 */
	struct lookup_slot *slot;
};

uint64_t lookup_hash(const void *data, size_t len);
/* The index that was added with this hash and that same() calls the one; LOOKUP_NONE when there is none. */
uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, bool (*same)(const void *context, uint32_t index),
		     const void *context);
int lookup_add(struct lookup *lookup, uint64_t hash, uint32_t index, struct error *err); /* -ENOMEM */
void lookup_release(struct lookup *lookup);

#endif
