/* Appends little-endian fields to a growing buffer and reads them back without ever passing the end. */
#include "base/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void buf_release(struct buf *b)
{
	if (!b)
		return;
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = 0;
}

/* Makes room for len more bytes; false once something failed. */
static bool reserve(struct buf *b, size_t len)
{
	size_t need, cap = b->cap ? b->cap : 64;
	uint8_t *data;

	if (b->failed)
		return false;
	if (__builtin_add_overflow(b->len, len, &need) || need > SIZE_MAX / 2)
		goto fail;
	if (need <= b->cap)
		return true;
	while (cap < need)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		goto fail;
	b->data = data;
	b->cap = cap;
	return true;
fail:
	b->failed = -ENOMEM;
	return false;
}

void buf_put(struct buf *b, const void *data, size_t len)
{
	if (!len || !reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void put_little(struct buf *b, uint64_t v, unsigned bytes)
{
	uint8_t raw[8];

	for (unsigned i = 0; i < bytes; i++)
		raw[i] = (uint8_t)(v >> (8 * i));
	buf_put(b, raw, bytes);
}

void buf_put_u8(struct buf *b, uint8_t v)
{
	put_little(b, v, 1);
}

void buf_put_u16(struct buf *b, uint16_t v)
{
	put_little(b, v, 2);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	put_little(b, v, 4);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	put_little(b, v, 8);
}

void buf_put_string(struct buf *b, const char *text)
{
	const size_t len = strnlen(text, UINT16_MAX);

	if (!reserve(b, 2 + len))
		return;
	buf_put_u16(b, (uint16_t)len);
	buf_put(b, text, len);
}

void buf_put_block(struct buf *b, const void *data, size_t len)
{
	if (len > UINT32_MAX && !b->failed)
		b->failed = -EMSGSIZE;
	if (b->failed || !reserve(b, 4 + len))
		return;
	buf_put_u32(b, (uint32_t)len);
	buf_put(b, data, len);
}

void cursor_init(struct cursor *c, const void *data, size_t len)
{
	*c = (struct cursor){ .data = data, .left = len };
}

/* The next len bytes, or NULL when they are not there: from then on the cursor has failed. */
static const uint8_t *take(struct cursor *c, size_t len)
{
	const uint8_t *data = c->data;

	if (c->failed)
		return NULL;
	if (len > c->left) {
		c->failed = -EPROTO;
		return NULL;
	}
	c->left -= len;
	if (len)
		c->data += len;
	return data;
}

void cursor_get(struct cursor *c, void *ret, size_t len)
{
	const uint8_t *data;

	if (!len)
		return;
	data = take(c, len);
	if (data)
		memcpy(ret, data, len);
	else
		memset(ret, 0, len);
}

static uint64_t get_little(struct cursor *c, unsigned bytes)
{
	const uint8_t *data = take(c, bytes);
	uint64_t v = 0;

	for (unsigned i = 0; data && i < bytes; i++)
		v |= (uint64_t)data[i] << (8 * i);
	return v;
}

uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)get_little(c, 1);
}

uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)get_little(c, 2);
}

uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)get_little(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
	return get_little(c, 8);
}

void cursor_string(struct cursor *c, char *ret, size_t size)
{
	const size_t len = cursor_u16(c);
	const uint8_t *data = take(c, len);

	if (!c->failed && (len >= size || (len && memchr(data, 0, len))))
		c->failed = -EPROTO;
	if (size)
		ret[0] = '\0';
	if (c->failed || !len)
		return;
	memcpy(ret, data, len);
	ret[len] = '\0';
}

void cursor_block(struct cursor *c, struct cursor *ret)
{
	const size_t len = cursor_u32(c);
	const uint8_t *data = take(c, len);

	*ret = (struct cursor){ .data = data, .left = c->failed ? 0 : len, .failed = c->failed };
}
