/* The wire form of what the ranks are told to do. */
#include "cmd/job.h"

#include "base/buf.h"
#include "base/error.h"
#include "plan/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void job_pack(const struct job *job, const struct buf *scenario, struct buf *to)
{
	buf_put_string(to, job->version);
	buf_put_string(to, job->cuda_lib_path);
	buf_put_string(to, job->sysfs);
	buf_put_u64(to, (uint64_t)job->live_ns);
	buf_put_u32(to, job->ranks);
	for (uint32_t i = 0; i < job->ranks; i++)
		buf_put_u32(to, job->rank_of[i]);
	buf_put(to, scenario->data, scenario->len);
}

int job_unpack(struct job *ret, const struct buf *from, struct error *err)
{
	struct cursor c;

	cursor_init(&c, from->data, from->len);
	cursor_string(&c, ret->version, sizeof(ret->version));
	if (c.failed || strcmp(ret->version, FABPERF_VERSION) != 0)
		return error_set(err, -EPROTO,
				 "this host has fabperf %s and the one that asks has %s: install the same",
				 FABPERF_VERSION, c.failed ? "another version" : ret->version);
	cursor_string(&c, ret->cuda_lib_path, sizeof(ret->cuda_lib_path));
	cursor_string(&c, ret->sysfs, sizeof(ret->sysfs));
	ret->live_ns = (int64_t)cursor_u64(&c);
	ret->ranks = cursor_u32(&c);
	if (c.failed || ret->live_ns < 0 || ret->ranks > c.left / 4)
		return error_set(err, -EPROTO, "what this rank is told to do is cut off");
	ret->rank_of = calloc(ret->ranks + 1, sizeof(*ret->rank_of));
	if (!ret->rank_of)
		return error_set(err, -ENOMEM, "no memory for %u ranks", ret->ranks);
	for (uint32_t i = 0; i < ret->ranks; i++)
		ret->rank_of[i] = cursor_u32(&c);
	return scenario_unpack(&ret->scenario, &c, err);
}

void job_release(struct job *job)
{
	scenario_release(&job->scenario);
	free(job->rank_of);
	job->rank_of = NULL;
}
