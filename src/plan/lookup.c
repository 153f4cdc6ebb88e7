/* A table of indices by hash, with linear probing. */
#include "plan/lookup.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a, its high bits mixed into the low ones that choose the slot. */
uint64_t lookup_hash(const void *data, size_t len)
{
	const unsigned char *byte = data;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3;
	return hash ^ hash >> 32;
}

uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, bool (*same)(const void *context, uint32_t index),
		     const void *context)
{
	for (uint64_t at = hash; lookup->cap; at++) {
		const struct lookup_slot *const slot = &lookup->slot[at & (lookup->cap - 1)];

		if (slot->index == LOOKUP_NONE)
			break;
		if (slot->hash == hash && same(context, slot->index))
			return slot->index;
	}
	return LOOKUP_NONE;
}

static void put(struct lookup *lookup, uint64_t hash, uint32_t index)
{
	uint64_t at = hash;

	while (lookup->slot[at & (lookup->cap - 1)].index != LOOKUP_NONE)
		at++;
	lookup->slot[at & (lookup->cap - 1)] = (struct lookup_slot){ .hash = hash, .index = index };
	lookup->count++;
}

static int grow(struct lookup *lookup, struct error *err)
{
	struct lookup bigger = { .cap = lookup->cap ? 2 * lookup->cap : 64 };

	bigger.slot = calloc(bigger.cap, sizeof(*bigger.slot));
	if (!bigger.slot)
		return error_set(err, -ENOMEM, "no memory for a table of %u entries", bigger.cap);
	for (uint32_t i = 0; i < bigger.cap; i++)
		bigger.slot[i].index = LOOKUP_NONE;
	for (uint32_t i = 0; i < lookup->cap; i++)
		if (lookup->slot[i].index != LOOKUP_NONE)
			put(&bigger, lookup->slot[i].hash, lookup->slot[i].index);
	lookup_release(lookup);
	*lookup = bigger;
	return 0;
}

int lookup_add(struct lookup *lookup, uint64_t hash, uint32_t index, struct error *err)
{
	if (2 * (lookup->count + 1) > lookup->cap) {
		const int rc = grow(lookup, err);

		if (rc)
			return rc;
	}
	put(lookup, hash, index);
	return 0;
}

void lookup_release(struct lookup *lookup)
{
	free(lookup->slot);
	*lookup = (struct lookup){ 0 };
}
