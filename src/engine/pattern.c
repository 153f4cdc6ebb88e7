/* Makes and compares the payload of validated messages, eight bytes at a time. */
#include "engine/pattern.h"

#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u
#define WORD   sizeof(uint64_t)

/* SplitMix64's finaliser: a permutation of all 64-bit numbers. */
static inline uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t word_at(uint64_t key, size_t i)
{
	return mix(key + i * GOLDEN);
}

uint64_t pattern_key(uint64_t seed, uint32_t worker, uint32_t qp, uint64_t number)
{
	const uint64_t endpoint = mix(mix(seed) + ((uint64_t)worker << 32 | qp));

	return mix(endpoint + number * GOLDEN);
}

/* The words are the same on both hosts whatever their order of bytes is: both are little endian (see base/buf.h). */
void pattern_fill(uint8_t *to, size_t size, uint64_t key)
{
	size_t i = 0;

	for (; (i + 1) * WORD <= size; i++) {
		const uint64_t word = word_at(key, i);

		memcpy(to + i * WORD, &word, WORD);
	}
	if (i * WORD < size) {
		const uint64_t word = word_at(key, i);

		memcpy(to + i * WORD, &word, size - i * WORD);
	}
}

static void add_bytes(struct mismatch *m, size_t at, uint64_t expected, uint64_t found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t a = (uint8_t)(expected >> 8 * i), b = (uint8_t)(found >> 8 * i);

		if (a == b)
			continue;
		if (!m->bytes)
			*m = (struct mismatch){ .first = at + i, .expected = a, .found = b };
		m->bytes++;
	}
}

bool pattern_check(const uint8_t *data, size_t size, uint64_t key, struct mismatch *ret)
{
	struct mismatch m = { 0 };

	for (size_t at = 0; at < size; at += WORD) {
		const size_t count = size - at < WORD ? size - at : WORD;
		const uint64_t expected = word_at(key, at / WORD);
		uint64_t found = 0;

		memcpy(&found, data + at, count);
		if (count == WORD && __builtin_expect(found == expected, 1))
			continue;
		add_bytes(&m, at, expected, found, count);
	}
	*ret = m;
	return !m.bytes;
}

bool pattern_begins(const uint8_t *data, size_t size, uint64_t key)
{
	const uint64_t word = word_at(key, 0);

	return memcmp(data, &word, size < WORD ? size : WORD) == 0;
}
