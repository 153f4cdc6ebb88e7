/* The wire form of what one rank of a scenario reports. */
#include "spec/part.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>

void part_head_pack(const struct part_head *head, struct buf *to)
{
	buf_put_string(to, head->host);
	buf_put_string(to, head->version);
	buf_put_u64(to, head->rss_bytes);
	buf_put_u8(to, head->cores_shared);
	buf_put_u8(to, head->interrupted);
	buf_put_u32(to, head->ends);
}

int part_head_unpack(struct part_head *ret, struct cursor *from)
{
	cursor_string(from, ret->host, sizeof(ret->host));
	cursor_string(from, ret->version, sizeof(ret->version));
	ret->rss_bytes = cursor_u64(from);
	ret->cores_shared = cursor_u8(from) != 0;
	ret->interrupted = cursor_u8(from) != 0;
	ret->ends = cursor_u32(from);
	return from->failed;
}

void part_end_pack(uint32_t test, uint64_t key, const struct rank_result *result, struct buf *to)
{
	struct buf packed = BUF_INIT;

	rank_result_pack(result, &packed);
	buf_put_u32(to, test);
	buf_put_u64(to, key);
	buf_put_u8(to, result->active);
	buf_put_block(to, packed.data, packed.len);
	if (packed.failed && !to->failed)
		to->failed = packed.failed;
	buf_release(&packed);
}

int part_end_unpack(struct part_end *ret, struct cursor *from)
{
	ret->test = cursor_u32(from);
	ret->key = cursor_u64(from);
	ret->active = cursor_u8(from) != 0;
	cursor_block(from, &ret->result);
	return from->failed;
}

void part_clock_pack(const struct part_clock *clock, struct buf *to)
{
	buf_put_u8(to, clock->shared);
	for (unsigned i = 0; i < 2; i++) {
		buf_put_u64(to, (uint64_t)clock->offset_ns[i]);
		buf_put_u64(to, (uint64_t)clock->error_ns[i]);
		buf_put_u64(to, (uint64_t)clock->u95_ns[i]);
		buf_put_u64(to, (uint64_t)clock->at_ns[i]);
	}
}

int part_clock_unpack(struct part_clock *ret, struct cursor *from)
{
	ret->shared = cursor_u8(from) != 0;
	for (unsigned i = 0; i < 2; i++) {
		ret->offset_ns[i] = (int64_t)cursor_u64(from);
		ret->error_ns[i] = (int64_t)cursor_u64(from);
		ret->u95_ns[i] = (int64_t)cursor_u64(from);
		ret->at_ns[i] = (int64_t)cursor_u64(from);
	}
	return from->failed;
}

int64_t part_clock_at(const struct part_clock *clock, int64_t own_ns)
{
	const double between = (double)(clock->at_ns[1] - clock->at_ns[0]);
	const double passed = (double)(own_ns - clock->offset_ns[0] - clock->at_ns[0]);
	const double gained = (double)(clock->offset_ns[1] - clock->offset_ns[0]);

	return between > 0 ? clock->offset_ns[0] + llround(gained * (passed / between)) : clock->offset_ns[0];
}

void part_closure_pack(const struct closure *closure, struct buf *to)
{
	buf_put_u32(to, closure->pairs);
	buf_put_u32(to, closure->outside);
	buf_put_u64(to, (uint64_t)closure->median_ns);
	buf_put_u64(to, (uint64_t)closure->p95_ns);
	buf_put_u64(to, (uint64_t)closure->max_ns);
}

int part_closure_unpack(struct closure *ret, struct cursor *from)
{
	ret->pairs = cursor_u32(from);
	ret->outside = cursor_u32(from);
	ret->median_ns = (int64_t)cursor_u64(from);
	ret->p95_ns = (int64_t)cursor_u64(from);
	ret->max_ns = (int64_t)cursor_u64(from);
	return from->failed;
}
