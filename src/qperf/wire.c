/* Packs and reads qperf's messages, with every length fixed and every text ended. */
#include "qperf/wire.h"

#include "base/buf.h"
#include "qperf/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAJOR     0
#define MINOR     4
#define INCREMENT 11

/* Behind the static rate's end in its field, where qperf looks at nothing: what our servers understand. */
#define RATE_AT 136
#define OURS_AT (RATE_AT + 32)
#define OURS    0x50424146u /* "FABP" */
#define MORE_AT 252 /* in the results: padding */

/* The numbers of a request in wire order. */
static const uint16_t numbers[] = {
	offsetof(struct qperf_params, access_recv),   offsetof(struct qperf_params, affinity),
	offsetof(struct qperf_params, alt_port),      offsetof(struct qperf_params, flip),
	offsetof(struct qperf_params, msg_size),      offsetof(struct qperf_params, mtu_size),
	offsetof(struct qperf_params, no_msgs),       offsetof(struct qperf_params, poll_mode),
	offsetof(struct qperf_params, port),          offsetof(struct qperf_params, rd_atomic),
	offsetof(struct qperf_params, service_level), offsetof(struct qperf_params, sock_buf_size),
	offsetof(struct qperf_params, src_path_bits), offsetof(struct qperf_params, time),
	offsetof(struct qperf_params, timeout),       offsetof(struct qperf_params, use_cm),
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void put(uint8_t *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static void put_text(uint8_t *to, const char *text)
{
	memcpy(to, text, strnlen(text, QPERF_TEXT - 1));
}

void qperf_request_pack(const struct qperf_request *request, uint8_t ret[REQ_BYTES])
{
	memset(ret, 0, REQ_BYTES);
	put(ret, MAJOR, 2);
	put(ret + 2, MINOR, 2);
	put(ret + 4, INCREMENT, 2);
	put(ret + 6, request->test, 2);
	for (size_t i = 0; i < NUMBERS; i++)
		put(ret + 8 + 4 * i, *(const uint32_t *)((const char *)&request->params + numbers[i]), 4);
	put_text(ret + 8 + 4 * NUMBERS, request->params.id);
	put_text(ret + RATE_AT, request->params.static_rate);
	put(ret + OURS_AT, OURS, 4);
	put(ret + OURS_AT + 4, request->params.time_ns, 8);
	put(ret + OURS_AT + 12, request->params.streams, 4);
}

static void get_text(struct cursor *from, char ret[QPERF_TEXT])
{
	cursor_get(from, ret, QPERF_TEXT);
	ret[QPERF_TEXT - 1] = '\0';
}

int qperf_version_check(const uint8_t data[VERSION_BYTES], struct error *err)
{
	struct cursor from;
	unsigned major, minor, increment;
	bool older;

	cursor_init(&from, data, VERSION_BYTES);
	major = cursor_u16(&from);
	minor = cursor_u16(&from);
	increment = cursor_u16(&from);
	if (major == MAJOR && minor == MINOR)
		return 0;
	older = major == MAJOR && minor < MINOR;
	if (older)
		return error_set(err, -EPROTO, "upgrade qperf on client from %u.%u.%u to %d.%d.%d", major, minor,
				 increment, MAJOR, MINOR, INCREMENT);
	return error_set(err, -EPROTO, "upgrade qperf on server from %d.%d.%d to %u.%u.%u", MAJOR, MINOR, INCREMENT,
			 major, minor, increment);
}

int qperf_request_unpack(const uint8_t data[REQ_BYTES], struct qperf_request *ret, struct error *err)
{
	struct cursor from;

	memset(ret, 0, sizeof(*ret));
	cursor_init(&from, data, REQ_BYTES);
	ret->major = cursor_u16(&from);
	ret->minor = cursor_u16(&from);
	ret->increment = cursor_u16(&from);
	ret->test = cursor_u16(&from);
	for (size_t i = 0; i < NUMBERS; i++)
		*(uint32_t *)((char *)&ret->params + numbers[i]) = cursor_u32(&from);
	get_text(&from, ret->params.id);
	get_text(&from, ret->params.static_rate);
	cursor_init(&from, data + OURS_AT, REQ_BYTES - OURS_AT);
	ret->ours = strnlen(ret->params.static_rate, QPERF_TEXT) < OURS_AT - RATE_AT && cursor_u32(&from) == OURS;
	ret->params.time_ns = ret->ours ? cursor_u64(&from) : ret->params.time * UINT64_C(1000000000);
	ret->params.streams = ret->ours ? cursor_u32(&from) : 0;
	if (ret->test >= QPERF_TESTS)
		return error_set(err, -EPROTO, "bad request index: %u", ret->test);
	return 0;
}

static uint8_t *put_clocks(uint8_t *to, const uint64_t clocks[CLOCKS])
{
	for (int i = 0; i < CLOCKS; i++)
		put(to + 8 * i, clocks[i], 8);
	return to + 8 * CLOCKS;
}

static uint8_t *put_count(uint8_t *to, const struct qperf_count *count)
{
	put(to, count->bytes, 8);
	put(to + 8, count->msgs, 8);
	put(to + 16, count->errs, 8);
	return to + 24;
}

void qperf_stat_pack(const struct qperf_stat *stat, bool ours, uint8_t ret[STAT_BYTES + MORE_BYTES])
{
	uint8_t *to = ret + 12;

	memset(ret, 0, STAT_BYTES + MORE_BYTES);
	put(ret, stat->cpus, 4);
	put(ret + 4, stat->ticks, 4);
	put(ret + 8, stat->max_cqes, 4);
	to = put_clocks(to, stat->start);
	to = put_clocks(to, stat->end);
	to = put_count(to, &stat->send);
	to = put_count(to, &stat->recv);
	to = put_count(to, &stat->rem_send);
	put_count(to, &stat->rem_recv);
	if (!ours)
		return;
	put(ret + MORE_AT, OURS, 4);
	put(ret + STAT_BYTES, stat->lost, 8);
	put(ret + STAT_BYTES + 8, stat->duplicated, 8);
}

static void get_count(struct cursor *from, struct qperf_count *ret)
{
	ret->bytes = cursor_u64(from);
	ret->msgs = cursor_u64(from);
	ret->errs = cursor_u64(from);
}

int qperf_stat_unpack(const uint8_t data[STAT_BYTES], struct qperf_stat *ret, bool *more, struct error *err)
{
	struct cursor from;

	memset(ret, 0, sizeof(*ret));
	ret->lost = ret->duplicated = UINT64_MAX;
	cursor_init(&from, data, STAT_BYTES);
	ret->cpus = cursor_u32(&from);
	ret->ticks = cursor_u32(&from);
	ret->max_cqes = cursor_u32(&from);
	for (int i = 0; i < CLOCKS; i++)
		ret->start[i] = cursor_u64(&from);
	for (int i = 0; i < CLOCKS; i++)
		ret->end[i] = cursor_u64(&from);
	get_count(&from, &ret->send);
	get_count(&from, &ret->recv);
	get_count(&from, &ret->rem_send);
	get_count(&from, &ret->rem_recv);
	*more = cursor_u32(&from) == OURS;
	if (!ret->ticks || ret->end[CLOCK_REAL] < ret->start[CLOCK_REAL])
		return error_set(err, -EPROTO, "the server's results make no sense: its clock stood still or ran back");
	return 0;
}

void qperf_more_unpack(const uint8_t data[MORE_BYTES], struct qperf_stat *ret)
{
	struct cursor from;

	cursor_init(&from, data, MORE_BYTES);
	ret->lost = cursor_u64(&from);
	ret->duplicated = cursor_u64(&from);
}

void qperf_conf_pack(const struct qperf_conf *conf, uint8_t ret[CONF_BYTES])
{
	memset(ret, 0, CONF_BYTES);
	put_text(ret, conf->node);
	put_text(ret + QPERF_TEXT, conf->cpu);
	put_text(ret + 2 * QPERF_TEXT, conf->os);
	put_text(ret + 3 * QPERF_TEXT, conf->version);
}

void qperf_conf_unpack(const uint8_t data[CONF_BYTES], struct qperf_conf *ret)
{
	struct cursor from;

	cursor_init(&from, data, CONF_BYTES);
	get_text(&from, ret->node);
	get_text(&from, ret->cpu);
	get_text(&from, ret->os);
	get_text(&from, ret->version);
}
