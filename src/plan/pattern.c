/* The six patterns as arithmetic on positions: how many connections, and which is number k. */
#include "plan/pattern.h"

#include "base/error.h"

#include <errno.h>

/* What a pattern is made of; pair gets k < count(n). */
struct pattern_row {
	const char *name;
	uint64_t (*count)(uint64_t n);
	void (*pair)(uint64_t n, uint64_t k, uint64_t *from, uint64_t *to);
};

static uint64_t count_none(uint64_t n)
{
	(void)n;
	return 0;
}

static uint64_t count_one(uint64_t n)
{
	return n == 2;
}

static uint64_t count_star(uint64_t n)
{
	return n ? n - 1 : 0;
}

static uint64_t count_mesh(uint64_t n)
{
	return n ? n * (n - 1) : 0;
}

static uint64_t count_halves(uint64_t n)
{
	return n % 2 ? 0 : n / 2;
}

static uint64_t count_ring(uint64_t n)
{
	return n < 2 ? 0 : n;
}

static void pair_out(uint64_t n, uint64_t k, uint64_t *from, uint64_t *to)
{
	(void)n;
	*from = 0;
	*to = k + 1;
}

static void pair_in(uint64_t n, uint64_t k, uint64_t *from, uint64_t *to)
{
	pair_out(n, k, to, from);
}

/* Row by row, the diagonal left out. */
static void pair_mesh(uint64_t n, uint64_t k, uint64_t *from, uint64_t *to)
{
	const uint64_t column = k % (n - 1);

	*from = k / (n - 1);
	*to = column + (column >= *from);
}

static void pair_halves(uint64_t n, uint64_t k, uint64_t *from, uint64_t *to)
{
	*from = k;
	*to = k + n / 2;
}

static void pair_ring(uint64_t n, uint64_t k, uint64_t *from, uint64_t *to)
{
	*from = k;
	*to = (k + 1) % n;
}

static const struct pattern_row rows[PATTERNS] = {
	[PATTERN_NONE] = { "none", count_none, pair_out },
	[PATTERN_ONE_TO_ONE] = { "ONE_TO_ONE", count_one, pair_out },
	[PATTERN_ONE_TO_MANY] = { "ONE_TO_MANY", count_star, pair_out },
	[PATTERN_MANY_TO_ONE] = { "MANY_TO_ONE", count_star, pair_in },
	[PATTERN_ALL_TO_ALL] = { "ALL_TO_ALL", count_mesh, pair_mesh },
	[PATTERN_BISECTION] = { "BISECTION", count_halves, pair_halves },
	[PATTERN_RING] = { "RING", count_ring, pair_ring },
};

const char *pattern_name(uint32_t pattern)
{
	return pattern < PATTERNS ? rows[pattern].name : "?";
}

const char *direction_name(uint32_t direction)
{
	static const char *const names[] = { "UNIDIR", "BIDIR", "DUAL_UNIDIR" };

	return direction <= DIRECTION_DUAL_UNIDIR ? names[direction] : "?";
}

const char *partition_name(uint32_t partition)
{
	static const char *const names[] = { "none", "RAILED", "LOCAL", "REMOTE" };

	return partition <= PARTITION_REMOTE ? names[partition] : "?";
}

uint64_t pattern_count(enum pattern pattern, uint64_t n)
{
	return rows[pattern].count(n);
}

void pattern_pair(enum pattern pattern, uint32_t n, uint64_t k, uint32_t *ret_from, uint32_t *ret_to)
{
	uint64_t from, to;

	rows[pattern].pair(n, k, &from, &to);
	*ret_from = (uint32_t)from;
	*ret_to = (uint32_t)to;
}

int pattern_suits(enum pattern pattern, uint32_t n, struct error *err)
{
	if (rows[pattern].count(n))
		return 0;
	if (pattern == PATTERN_NONE)
		return error_set(err, -EINVAL, "a traffic pattern is missing");
	if (pattern == PATTERN_ONE_TO_ONE)
		return error_set(err, -EINVAL, "ONE_TO_ONE takes two endpoints (host and device), but there %s %u",
				 n == 1 ? "is" : "are", n);
	if (pattern == PATTERN_BISECTION && n % 2)
		return error_set(err, -EINVAL,
				 "BISECTION takes an even number of endpoints (hosts times devices), but there %s %u",
				 n == 1 ? "is" : "are", n);
	return error_set(err, -EINVAL, "%s takes at least two endpoints (hosts times devices), but there %s %u",
			 rows[pattern].name, n == 1 ? "is" : "are", n);
}
