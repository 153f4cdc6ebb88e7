/* Compares names letter by letter, and counts what has to change to make one of the other. */
#include "base/near.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define KEY_MAX 32 /* bytes of a name that are compared */

static char folded(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

bool near_same(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	return folded(*a) == folded(*b);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that make b out of a. */
static unsigned distance(const char *a, const char *b)
{
	const size_t a_len = strnlen(a, KEY_MAX), b_len = strnlen(b, KEY_MAX);
	unsigned d[KEY_MAX + 1][KEY_MAX + 1];

	for (unsigned i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			const bool same = folded(a[i - 1]) == folded(b[j - 1]);

			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + !same);
			if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
			    folded(a[i - 2]) == folded(b[j - 1]))
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[a_len][b_len];
}

static bool has_prefix(const char *key, const char *prefix)
{
	while (*prefix && folded(*key) == folded(*prefix)) {
		key++;
		prefix++;
	}
	return !*prefix;
}

unsigned near_miss(const char *known, const char *written)
{
	const size_t len = strlen(written);
	const unsigned allowed = len <= 4 ? 1 : 2, off = distance(known, written);

	if (off <= allowed)
		return off;
	return len >= 3 && has_prefix(known, written) ? allowed + 1 : NEAR_NOT;
}
