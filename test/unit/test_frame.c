/* Frames and hellos as bytes: any cut of the stream gives the same frames, and no wrong byte is accepted. */
#include "orch/frame.h"

#include "orch/comm.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void put_three(struct buf *to)
{
	frame_put(to, FRAME_BEAT, NULL, 0);
	frame_put(to, FRAME_GATHER, "four", 4);
	frame_put(to, FRAME_PING, "\1\2\3\4\5\6\7\x08", 8);
}

/* Feeds the stream in pieces of `piece` bytes; checks the three frames that come out. */
static void read_three(const struct buf *stream, size_t piece)
{
	static const struct {
		unsigned type;
		const char *payload;
		size_t len;
	} expected[] = { { FRAME_BEAT, "", 0 }, { FRAME_GATHER, "four", 4 }, { FRAME_PING, "\1\2\3\4\5\6\7\x08", 8 } };
	struct frame_reader reader;
	struct error err = { 0 };
	size_t at = 0, used;
	unsigned frames = 0;

	frame_reader_init(&reader, FRAME_RUNNING);
	while (at < stream->len) {
		const size_t len = piece < stream->len - at ? piece : stream->len - at;
		const int rc = frame_reader_feed(&reader, stream->data + at, len, &used, &err);

		assert_true(rc >= 0 && used <= len && (used || rc));
		at += used;
		if (!rc)
			continue;
		assert_true(frames < 3);
		assert_int_equal(reader.type, expected[frames].type);
		assert_int_equal(reader.payload.len, expected[frames].len);
		if (reader.payload.len)
			assert_memory_equal(reader.payload.data, expected[frames].payload, reader.payload.len);
		frames++;
	}
	assert_int_equal(frames, 3);
	frame_reader_release(&reader);
}

static void any_cut_gives_the_same_frames(void **state)
{
	struct buf stream = BUF_INIT;

	(void)state;
	put_three(&stream);
	assert_int_equal(stream.len, 3 * FRAME_HEAD + 12);
	assert_memory_equal(stream.data, "FABP\x0b\0\0\0\0\0\0\0FABP\x06\0\0\0\4\0\0\0four", 28);
	for (size_t piece = 1; piece <= stream.len; piece++)
		read_three(&stream, piece);
	buf_release(&stream);
}

/* Reading just what is wanted never takes a byte of what follows the frame. */
static void wanted_bytes_end_with_the_frame(void **state)
{
	struct frame_reader reader;
	struct buf stream = BUF_INIT;
	size_t at = 0, used, want;
	int rc = 0;

	(void)state;
	frame_put(&stream, FRAME_GATHER, "0123456789", 10);
	frame_put(&stream, FRAME_BEAT, NULL, 0);
	frame_reader_init(&reader, FRAME_RUNNING);
	while (!rc) {
		want = frame_reader_want(&reader);
		assert_true(want > 0);
		rc = frame_reader_feed(&reader, stream.data + at, want, &used, NULL);
		assert_int_equal(used, want);
		at += used;
	}
	assert_int_equal(rc, 1);
	assert_int_equal(at, FRAME_HEAD + 10);
	frame_reader_release(&reader);
	buf_release(&stream);
}

/* A length that is announced costs nothing before its bytes come. */
static void memory_follows_the_bytes_that_came(void **state)
{
	struct frame_reader reader;
	struct buf head = BUF_INIT;
	size_t used;

	(void)state;
	frame_put(&head, FRAME_BCAST, NULL, 0);
	head.data[11] = 1; /* 16 MiB */
	frame_reader_init(&reader, FRAME_RUNNING);
	assert_int_equal(frame_reader_feed(&reader, head.data, head.len, &used, NULL), 0);
	assert_int_equal(frame_reader_feed(&reader, (const uint8_t *)"xyz", 3, &used, NULL), 0);
	assert_int_equal(frame_reader_want(&reader), COMM_MAX_FRAME - 3);
	assert_true(reader.payload.cap <= 4096);
	frame_reader_release(&reader);
	buf_release(&head);
}

static void types_are_allowed_by_phase(void **state)
{
	static const uint32_t phases[] = { FRAME_HELLOS, FRAME_ANSWERS, FRAME_RUNNING };

	(void)state;
	for (unsigned phase = 0; phase < 3; phase++) {
		for (unsigned type = 0; type < FRAME_TYPES + 2; type++) {
			static const uint8_t zeroes[32],
				exact[] = { [FRAME_NOTE] = 12, [FRAME_PING] = 8, [FRAME_PONG] = 24 };
			const size_t len = type < sizeof(exact) ? exact[type] : 0;
			const bool allowed = type < FRAME_TYPES && (phases[phase] & FRAME_MASK(type));
			struct frame_reader reader;
			struct buf frame = BUF_INIT;
			size_t used;

			frame_put(&frame, (enum frame_type)type, zeroes, len);
			frame_reader_init(&reader, phases[phase]);
			assert_int_equal(frame_reader_feed(&reader, frame.data, frame.len, &used, NULL),
					 allowed ? 1 : -EPROTO);
			frame_reader_release(&reader);
			buf_release(&frame);
		}
	}
}

static void a_hello_survives_the_wire(void **state)
{
	struct hello hello, back;
	struct error err = { 0 };
	struct buf wire = BUF_INIT;

	(void)state;
	hello_init(&hello);
	assert_int_equal(hello.protocol, COMM_PROTOCOL);
	assert_string_equal(hello.version, FABPERF_VERSION);
	assert_true(hello.host[0]);
	strcpy(hello.sentence, "a\tsentence\x7f");
	hello_pack(&hello, &wire);
	assert_true(wire.len <= frame_limit(FRAME_HELLO));
	assert_int_equal(hello_unpack(&back, &wire, &err), 0);
	assert_int_equal(back.protocol, hello.protocol);
	assert_string_equal(back.version, hello.version);
	assert_string_equal(back.host, hello.host);
	assert_string_equal(back.sentence, "a?sentence?");
	buf_release(&wire);
}

static void a_cut_or_longer_hello_is_refused(void **state)
{
	struct hello hello, back = { .protocol = 77 };
	struct buf wire = BUF_INIT, part;

	(void)state;
	hello_init(&hello);
	hello_pack(&hello, &wire);
	for (size_t len = 0; len < wire.len; len++) {
		part = (struct buf){ .data = wire.data, .len = len };
		assert_int_equal(hello_unpack(&back, &part, NULL), -EPROTO);
	}
	assert_int_equal(back.protocol, 77);
	buf_put_u8(&wire, 0);
	assert_int_equal(hello_unpack(&back, &wire, NULL), -EPROTO);
	wire.data[8] = 9; /* a later protocol may say more */
	assert_int_equal(hello_unpack(&back, &wire, NULL), 0);
	assert_int_equal(back.protocol, 9);
	wire.data[0] ^= 1;
	assert_int_equal(hello_unpack(&back, &wire, NULL), -EPROTO);
	buf_release(&wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_cut_gives_the_same_frames),
		cmocka_unit_test(wanted_bytes_end_with_the_frame),
		cmocka_unit_test(memory_follows_the_bytes_that_came),
		cmocka_unit_test(types_are_allowed_by_phase),
		cmocka_unit_test(a_hello_survives_the_wire),
		cmocka_unit_test(a_cut_or_longer_hello_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
