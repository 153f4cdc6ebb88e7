/* A growing byte buffer written in little-endian order, and a bounded cursor that reads one back. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data;
	size_t len, cap;
	int failed; /* -ENOMEM (-EMSGSIZE: a block of 4 GiB) once an append failed; later ones do nothing. Check once */
};

/* clang-format off */
#define BUF_INIT { 0 }
/* clang-format on */

void buf_release(struct buf *b); /* frees the data and makes it empty; fine on an empty one */
void buf_clear(struct buf *b); /* len = 0, keeps the memory */
void buf_put(struct buf *b, const void *data, size_t len);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_u16(struct buf *b, uint16_t v);
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
void buf_put_string(struct buf *b, const char *text); /* u16 length, bytes; cut at 65535 */
void buf_put_block(struct buf *b, const void *data, size_t len); /* u32 length, bytes */

struct cursor {
	const uint8_t *data;
	size_t left;
	int failed; /* -EPROTO once a read went past the end; later reads give zeroes. Check once at the end */
};

void cursor_init(struct cursor *c, const void *data, size_t len);
void cursor_get(struct cursor *c, void *ret, size_t len);
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* Copies a string of at most size - 1 bytes and ends it with NUL; longer or with NUL inside: failed. */
void cursor_string(struct cursor *c, char *ret, size_t size);
/* The next u32-counted block as a cursor of its own. */
void cursor_block(struct cursor *c, struct cursor *ret);

#endif
