/* The control protocol's frames and hellos as bytes: written, and read back incrementally with every bound checked. */
#ifndef ORCH_FRAME_H
#define ORCH_FRAME_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A frame on the wire, little endian: u32 magic, u16 type, u16 reserved = 0, u32 length, then length bytes of payload
 * (docs/internals/control.md). Anything else is a protocol error, never skipped.
 */
#define FRAME_MAGIC 0x50424146u /* "FABP" as bytes */
#define FRAME_HEAD  12u /* bytes */

enum frame_type {
	FRAME_HELLO = 1, /* client: struct hello */
	FRAME_WELCOME, /* server: struct hello; the frames below follow */
	FRAME_BUSY, /* server: struct hello; sentence says whom it serves */
	FRAME_REFUSED, /* server: struct hello; sentence says why */
	FRAME_BCAST, /* rank 0's data of a broadcast */
	FRAME_GATHER, /* a rank's part of a gather, to rank 0 */
	FRAME_EXCHANGE, /* a rank's part of an exchange */
	FRAME_NOTE, /* u32 kind, u64 value */
	FRAME_PING, /* u64 number */
	FRAME_PONG, /* u64 number of the ping, i64 arrived, i64 answered (ns of the answering side's clock) */
	FRAME_BEAT, /* empty: "I am alive" */
	FRAME_TYPES,
};

#define FRAME_MASK(type) (1u << (type))
#define FRAME_HELLOS     FRAME_MASK(FRAME_HELLO)
#define FRAME_ANSWERS    (FRAME_MASK(FRAME_WELCOME) | FRAME_MASK(FRAME_BUSY) | FRAME_MASK(FRAME_REFUSED))
#define FRAME_RUNNING                                                                                                  \
	(FRAME_MASK(FRAME_BCAST) | FRAME_MASK(FRAME_GATHER) | FRAME_MASK(FRAME_EXCHANGE) | FRAME_MASK(FRAME_NOTE) |    \
	 FRAME_MASK(FRAME_PING) | FRAME_MASK(FRAME_PONG) | FRAME_MASK(FRAME_BEAT))

const char *frame_name(unsigned type); /* "bcast"; "frame" when there is no such type */

/* Appends a whole frame. The caller keeps to the type's largest payload (frame_limit). */
void frame_put(struct buf *to, enum frame_type type, const void *payload, size_t len);
uint32_t frame_limit(unsigned type); /* bytes of payload a frame of this type may have */

/* Reads frames from bytes as they come. types: the mask of those that are allowed now. */
struct frame_reader {
	uint32_t types;
	uint8_t head[FRAME_HEAD];
	size_t have; /* bytes of head read */
	unsigned type;
	uint32_t length;
	struct buf payload;
};

void frame_reader_init(struct frame_reader *reader, uint32_t allowed); /* mask of types */
void frame_reader_release(struct frame_reader *reader);

/* Bytes that are missing to the end of the header, or, when it is known, of the frame: reading no more never overreads. */
size_t frame_reader_want(const struct frame_reader *reader);

/*
 * Eats up to len bytes and says how many in *used. 1: a frame is complete: its type and payload stand in the reader
 * (take the payload by frame_reader_take) until the next call; 0: more bytes are needed; -EPROTO or -ENOMEM with a
 * sentence without the host's name. Memory grows with the bytes that came, not with the length that was announced.
 */
int frame_reader_feed(struct frame_reader *reader, const uint8_t *data, size_t len, size_t *used, struct error *err);
void frame_reader_take(struct frame_reader *reader, struct buf *ret); /* moves the payload out */

/* Who speaks, and with an answer why. Texts that came from the wire have no control characters. */
struct hello {
	uint32_t protocol;
	char version[32];
	char host[128];
	char sentence[600];
};

void hello_init(struct hello *hello); /* ours, with this machine's name */
void hello_pack(const struct hello *hello, struct buf *to);
int hello_unpack(struct hello *ret, const struct buf *from, struct error *err); /* -EPROTO; any protocol version */

/* As cursor_string, with control characters replaced by '?'. */
struct cursor;
void cursor_text(struct cursor *c, char *ret, size_t size);

#endif
