/* A receiver's bursts: kept one by one as far as there is room, and their wire form. */
#include "spec/arrivals.h"

#include "base/buf.h"
#include "base/pages.h"

#include <errno.h>
#include <stdlib.h>

#define RECORD_BYTES  40
#define INSTANT_LIMIT (INT64_C(1) << 60)

struct burst_arrivals *burst_arrivals_new(void)
{
	struct burst_arrivals *arrivals = calloc(1, sizeof(*arrivals));

	if (arrivals)
		pages_touch(arrivals, sizeof(*arrivals));
	return arrivals;
}

void burst_arrived(struct burst_arrivals *arrivals, uint64_t number, int64_t now, uint64_t messages)
{
	struct burst_arrival *record = &arrivals->record[(arrivals->kept - 1) % BURST_KEPT];

	if (!arrivals->kept || record->number != number) {
		record = &arrivals->record[arrivals->kept++ % BURST_KEPT];
		*record = (struct burst_arrival){ .number = number, .first_ns = now };
	}
	record->last_ns = now;
	record->messages += messages;
}

void burst_arrivals_pack(const struct burst_arrivals *arrivals, struct buf *to)
{
	buf_put_u8(to, arrivals->followed);
	buf_put_u64(to, arrivals->kept);
	for (uint64_t i = arrivals_first_kept(arrivals); i < arrivals->kept; i++) {
		const struct burst_arrival *record = &arrivals->record[i % BURST_KEPT];

		buf_put_u64(to, record->number);
		buf_put_u64(to, (uint64_t)record->offset_ns);
		buf_put_u64(to, (uint64_t)record->first_ns);
		buf_put_u64(to, (uint64_t)record->last_ns);
		buf_put_u64(to, record->messages);
	}
}

static bool is_instant(int64_t ns)
{
	return ns > -INSTANT_LIMIT && ns < INSTANT_LIMIT;
}

static void get_record(struct burst_arrival *ret, struct cursor *from)
{
	ret->number = cursor_u64(from);
	ret->offset_ns = (int64_t)cursor_u64(from);
	ret->first_ns = (int64_t)cursor_u64(from);
	ret->last_ns = (int64_t)cursor_u64(from);
	ret->messages = cursor_u64(from);
	if (!is_instant(ret->offset_ns) || !is_instant(ret->first_ns) || !is_instant(ret->last_ns) ||
	    ret->last_ns < ret->first_ns)
		from->failed = -EPROTO;
}

int burst_arrivals_unpack(struct burst_arrivals **ret, struct cursor *from)
{
	struct burst_arrivals *arrivals = burst_arrivals_new();

	if (!arrivals)
		return -ENOMEM;
	arrivals->followed = cursor_u8(from) != 0;
	arrivals->kept = cursor_u64(from);
	if (!from->failed && arrivals->kept - arrivals_first_kept(arrivals) > from->left / RECORD_BYTES)
		from->failed = -EPROTO;
	for (uint64_t i = arrivals_first_kept(arrivals); !from->failed && i < arrivals->kept; i++)
		get_record(&arrivals->record[i % BURST_KEPT], from);
	if (from->failed)
		free(arrivals);
	else
		*ret = arrivals;
	return from->failed;
}
