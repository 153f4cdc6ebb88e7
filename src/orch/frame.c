/* Frames and hellos of the control protocol: to bytes and back, with every bound checked. */
#include "orch/frame.h"

#include "orch/comm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELLO_MAGIC "FABPERF"
#define HELLO_LIMIT 1024u
#define NOTE_SIZE   12u

static const struct {
	const char *name;
	uint32_t limit;
	bool exact; /* the payload is always that long */
} types[FRAME_TYPES] = {
	[FRAME_HELLO] = { "hello", HELLO_LIMIT, false },
	[FRAME_WELCOME] = { "welcome", HELLO_LIMIT, false },
	[FRAME_BUSY] = { "busy", HELLO_LIMIT, false },
	[FRAME_REFUSED] = { "refused", HELLO_LIMIT, false },
	[FRAME_BCAST] = { "bcast", COMM_MAX_FRAME, false },
	[FRAME_GATHER] = { "gather", COMM_MAX_FRAME, false },
	[FRAME_EXCHANGE] = { "exchange", COMM_MAX_FRAME, false },
	[FRAME_NOTE] = { "note", NOTE_SIZE, true },
	[FRAME_PING] = { "ping", 8, true },
	[FRAME_PONG] = { "pong", 24, true },
	[FRAME_BEAT] = { "beat", 0, true },
};

const char *frame_name(unsigned type)
{
	return type < FRAME_TYPES && types[type].name ? types[type].name : "frame";
}

uint32_t frame_limit(unsigned type)
{
	return type < FRAME_TYPES ? types[type].limit : 0;
}

void frame_put(struct buf *to, enum frame_type type, const void *payload, size_t len)
{
	buf_put_u32(to, FRAME_MAGIC);
	buf_put_u16(to, (uint16_t)type);
	buf_put_u16(to, 0);
	buf_put_u32(to, (uint32_t)len);
	if (len)
		buf_put(to, payload, len);
}

void frame_reader_init(struct frame_reader *reader, uint32_t allowed)
{
	memset(reader, 0, sizeof(*reader));
	reader->types = allowed;
}

void frame_reader_release(struct frame_reader *reader)
{
	buf_release(&reader->payload);
}

size_t frame_reader_want(const struct frame_reader *reader)
{
	return reader->have < FRAME_HEAD ? FRAME_HEAD - reader->have : reader->length - reader->payload.len;
}

static int check_head(struct frame_reader *reader, struct error *err)
{
	struct cursor c;
	uint32_t magic, reserved;

	cursor_init(&c, reader->head, FRAME_HEAD);
	magic = cursor_u32(&c);
	reader->type = cursor_u16(&c);
	reserved = cursor_u16(&c);
	reader->length = cursor_u32(&c);
	if (magic != FRAME_MAGIC)
		return error_set(err, -EPROTO, "what came is not a fabperf frame (it begins with 0x%08x)", magic);
	if (reader->type >= FRAME_TYPES || !types[reader->type].name)
		return error_set(err, -EPROTO, "a frame of unknown type %u came", reader->type);
	if (!(reader->types & FRAME_MASK(reader->type)))
		return error_set(err, -EPROTO, "a %s frame came where none is allowed", frame_name(reader->type));
	if (reserved)
		return error_set(err, -EPROTO, "a %s frame has a reserved field of %u instead of 0",
				 frame_name(reader->type), reserved);
	if (reader->length > types[reader->type].limit ||
	    (types[reader->type].exact && reader->length != types[reader->type].limit))
		return error_set(err, -EPROTO, "a %s frame announces %u bytes where %s%u are allowed",
				 frame_name(reader->type), reader->length, types[reader->type].exact ? "" : "at most ",
				 types[reader->type].limit);
	return 0;
}

/* Bytes of the header; 0 or -EPROTO once it is whole and wrong. */
static int feed_head(struct frame_reader *reader, const uint8_t *data, size_t len, size_t *used, struct error *err)
{
	size_t n = FRAME_HEAD - reader->have < len ? FRAME_HEAD - reader->have : len;

	memcpy(reader->head + reader->have, data, n);
	reader->have += n;
	*used = n;
	if (reader->have < FRAME_HEAD)
		return 0;
	buf_clear(&reader->payload);
	return check_head(reader, err);
}

int frame_reader_feed(struct frame_reader *reader, const uint8_t *data, size_t len, size_t *used, struct error *err)
{
	size_t eaten = 0, n;
	int rc;

	*used = 0;
	if (reader->have < FRAME_HEAD) {
		rc = feed_head(reader, data, len, &eaten, err);
		if (rc < 0)
			return rc;
		*used = eaten;
		if (reader->have < FRAME_HEAD)
			return 0;
	}
	n = reader->length - reader->payload.len;
	n = n < len - eaten ? n : len - eaten;
	if (n)
		buf_put(&reader->payload, data + eaten, n);
	if (reader->payload.failed)
		return error_set(err, -ENOMEM, "no memory for a frame of %u bytes", reader->length);
	*used = eaten + n;
	if (reader->payload.len < reader->length)
		return 0;
	reader->have = 0;
	return 1;
}

void frame_reader_take(struct frame_reader *reader, struct buf *ret)
{
	*ret = reader->payload;
	memset(&reader->payload, 0, sizeof(reader->payload));
}

void cursor_text(struct cursor *c, char *ret, size_t size)
{
	cursor_string(c, ret, size);
	if (c->failed)
		ret[0] = 0;
	for (char *p = ret; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
}

void hello_init(struct hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	hello->protocol = COMM_PROTOCOL;
	snprintf(hello->version, sizeof(hello->version), "%s", FABPERF_VERSION);
	if (gethostname(hello->host, sizeof(hello->host) - 1) || !hello->host[0])
		snprintf(hello->host, sizeof(hello->host), "unnamed");
}

void hello_pack(const struct hello *hello, struct buf *to)
{
	buf_put(to, HELLO_MAGIC, sizeof(HELLO_MAGIC));
	buf_put_u32(to, hello->protocol);
	buf_put_string(to, hello->version);
	buf_put_string(to, hello->host);
	buf_put_string(to, hello->sentence);
}

int hello_unpack(struct hello *ret, const struct buf *from, struct error *err)
{
	char magic[sizeof(HELLO_MAGIC)];
	struct hello hello = { 0 };
	struct cursor c;

	cursor_init(&c, from->data, from->len);
	cursor_get(&c, magic, sizeof(magic));
	if (c.failed || memcmp(magic, HELLO_MAGIC, sizeof(magic)))
		return error_set(err, -EPROTO, "what came is not fabperf's hello");
	hello.protocol = cursor_u32(&c);
	cursor_text(&c, hello.version, sizeof(hello.version));
	cursor_text(&c, hello.host, sizeof(hello.host));
	cursor_text(&c, hello.sentence, sizeof(hello.sentence));
	/* A later protocol may add to the hello's end; ours may not. */
	if (c.failed || (c.left && hello.protocol == COMM_PROTOCOL))
		return error_set(err, -EPROTO,
				 "a hello came that is cut short, too long or has texts that are too long");
	*ret = hello;
	return 0;
}
