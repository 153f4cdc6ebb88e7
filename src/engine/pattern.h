/* The payload of validated messages: every byte follows from seed, worker, queue pair, message number and place. */
#ifndef ENGINE_PATTERN_H
#define ENGINE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one message; two messages of a test never have the same. */
uint64_t pattern_key(uint64_t seed, uint32_t worker, uint32_t qp, uint64_t number);
void pattern_fill(uint8_t *to, size_t size, uint64_t key);

struct mismatch {
	size_t first, bytes; /* place of the first wrong byte, how many there are */
	uint8_t expected, found; /* the first one */
};
/* Whether all bytes are right; else what is wrong. */
bool pattern_check(const uint8_t *data, size_t size, uint64_t key, struct mismatch *ret);
/* Whether the first bytes (eight if there are so many) are right: tells which message this is. */
bool pattern_begins(const uint8_t *data, size_t size, uint64_t key);

#endif
