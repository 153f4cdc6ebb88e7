/* The tests: each one's name, number on the wire, default size, what it uses and what its figure is. */
#ifndef QPERF_TEST_H
#define QPERF_TEST_H

#include "qperf/param.h"

/* The row that comes first. */
enum qperf_figure { SHOW_NOTHING, SHOW_LATENCY, SHOW_RATE, SHOW_BW, SHOW_BOTH_BW };

/* How the ends meet. */
enum qperf_family { FAMILY_CONTROL, FAMILY_TCP, FAMILY_UDP, FAMILY_SCTP, FAMILY_SDP, FAMILY_RDS, FAMILY_RDMA };

struct qperf_test {
	const char *name;
	const char *purpose; /* for the help */
	enum qperf_family family;
	enum qperf_figure figure;
	uint32_t size; /* default, bytes */
	uint32_t uses; /* mask of PARAM_BIT */
};

#define QPERF_TESTS 36u
extern const struct qperf_test qperf_tests[QPERF_TESTS]; /* by their number on the wire */

/* What it uses of its parameters: with rdma_cm no device, route or path MTU, which that finds out by itself. */
uint32_t qperf_test_uses(const struct qperf_test *test, const struct qperf_params *params);
int qperf_test_find(const char *name); /* its number, or -1 */

#endif
