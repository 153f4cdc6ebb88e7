/* A result of two hosts with nothing counted yet, for tests that fill in what they need. */
#ifndef TEST_UNIT_PAIR_H
#define TEST_UNIT_PAIR_H

#include "spec/result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

/* A client and a server of the given number of workers, one second of window each, nothing counted. */
static inline void make(struct result *result, uint32_t workers, bool hists)
{
	struct request request;

	request_init(&request);
	request.spec.size = 65536;
	request.spec.verb = VERB_WRITE;
	result_init(result, &request, 2);
	assert_int_equal(result->ranks, 2);
	result->measured = true;
	result->rank[0].active = true;
	result->rank[0].delivery = true;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rank_result_alloc(&result->rank[i], workers, hists), 0);
		for (uint32_t w = 0; w < workers; w++) {
			result->rank[i].worker[w].begin_ns = 1000000000;
			result->rank[i].worker[w].end_ns = 2000000000;
		}
	}
}

#endif
