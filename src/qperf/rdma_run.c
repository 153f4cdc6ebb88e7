/* A qperf RDMA test from set-up to the end. */
#include "qperf/rdma.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE_LIMIT (1u << 30)

/* Receives that must be there before the other end may send. */
static uint32_t first_receives(const struct qperf_rdma *r)
{
	switch (r->test->course) {
	case COURSE_STREAM:
		return qperf_run_sends(r->run) ? 0 : r->rx_depth;
	case COURSE_BOTH:
	case COURSE_PINGPONG:
		return r->rx_depth;
	default:
		return 0;
	}
}

int qperf_rdma_run(struct qperf_run *run, struct error *err)
{
	const struct qperf_rdma_test *test = qperf_rdma_find(run->test->name);
	const uint32_t size = run->params.msg_size;
	struct qperf_rdma *r;
	int rc;

	if (size < 1 || size > SIZE_LIMIT)
		return error_set(err, -EMSGSIZE, "-m %u: a message of %s has 1 to %u bytes", size, run->test->name,
				 SIZE_LIMIT);
	r = run->rdma = calloc(1, sizeof(*r));
	if (!r)
		return error_set(err, -ENOMEM, "no memory for %s", run->test->name);
	r->run = run;
	r->test = test;
	r->size = size;
	rc = qperf_rdma_open(r, err);
	if (rc == 0)
		rc = qperf_rdma_receives(r, first_receives(r), err);
	if (rc == 0)
		rc = qperf_run_begin(run, err);
	if (rc == 0)
		rc = qperf_rdma_carry(r, err);
	qperf_run_end(run);
	if (rc == 0)
		rc = err->code;
	return rc;
}
