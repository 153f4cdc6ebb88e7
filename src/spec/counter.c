/* How far a counter moved, and the wire form of counters. */
#include "spec/counter.h"

#include "base/buf.h"
#include "spec/clean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_BYTES 20 /* a packed one takes at least */
#define HALF          (UINT64_C(1) << 63)

bool counter_wrapped(const struct port_counter *counter)
{
	uint64_t moved;

	return counter->after < counter->before && counter_moved(counter, &moved);
}

bool counter_moved(const struct port_counter *counter, uint64_t *ret)
{
	const uint64_t moved = counter->after - counter->before;
	const bool narrow = counter->before <= UINT32_MAX;

	*ret = counter->after < counter->before && narrow ? (uint32_t)moved : moved;
	return counter->after >= counter->before || *ret < (narrow ? HALF >> 32 : HALF);
}

void port_counters_pack(const struct port_counters *counters, struct buf *to)
{
	buf_put_u32(to, counters->count);
	for (uint32_t i = 0; i < counters->count; i++) {
		const struct port_counter *counter = &counters->counter[i];

		buf_put_string(to, counter->source);
		buf_put_string(to, counter->name);
		buf_put_u64(to, counter->before);
		buf_put_u64(to, counter->after);
	}
}

int port_counters_unpack(struct port_counters *ret, struct cursor *from)
{
	const uint32_t count = cursor_u32(from);

	*ret = (struct port_counters){ 0 };
	if (count > COUNTERS_MAX || count > from->left / COUNTER_BYTES)
		from->failed = -EPROTO;
	if (from->failed)
		return -EPROTO;
	ret->counter = count ? calloc(count, sizeof(*ret->counter)) : NULL;
	if (count && !ret->counter)
		return -ENOMEM;
	ret->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct port_counter *counter = &ret->counter[i];

		cursor_string(from, counter->source, sizeof(counter->source));
		cursor_string(from, counter->name, sizeof(counter->name));
		text_clean(counter->source, counter->source, sizeof(counter->source));
		text_clean(counter->name, counter->name, sizeof(counter->name));
		counter->before = cursor_u64(from);
		counter->after = cursor_u64(from);
	}
	return from->failed;
}

static struct port_counter *find(const struct port_counters *in, const struct port_counter *wanted)
{
	for (uint32_t i = 0; i < in->count; i++)
		if (!strcmp(in->counter[i].name, wanted->name) && !strcmp(in->counter[i].source, wanted->source))
			return &in->counter[i];
	return NULL;
}

void port_counters_join(struct port_counters *all, const struct port_counters *next)
{
	const uint32_t old = all->count, room = old + next->count;
	struct port_counter *more = room > old ? realloc(all->counter, room * sizeof(*more)) : NULL;

	if (!more)
		return;
	all->counter = more;
	for (uint32_t i = 0; i < next->count; i++) {
		const struct port_counters had = { old, all->counter };
		struct port_counter *same = find(&had, &next->counter[i]);

		if (same)
			same->after = next->counter[i].after;
		else if (all->count < COUNTERS_MAX)
			all->counter[all->count++] = next->counter[i];
	}
}

void port_counters_release(struct port_counters *counters)
{
	free(counters->counter);
	*counters = (struct port_counters){ 0 };
}
