/* Fuzz target: frames and hellos of the control protocol as a hostile peer may send them, cut anywhere. */
#include "orch/comm.h"
#include "orch/frame.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was understood must mean the same when it is written and read again. */
static void check_hello(const struct buf *payload)
{
	struct hello hello, back;
	struct buf wire = BUF_INIT;

	if (hello_unpack(&hello, payload, NULL))
		return;
	hello_pack(&hello, &wire);
	if (hello_unpack(&back, &wire, NULL) || back.protocol != hello.protocol)
		abort();
	buf_release(&wire);
}

static void check_frame(const struct frame_reader *reader)
{
	if (!(reader->types & FRAME_MASK(reader->type)) || reader->payload.len != reader->length ||
	    reader->payload.len > frame_limit(reader->type))
		abort();
	check_hello(&reader->payload);
}

/* First byte: which frames are allowed; second: length of the pieces in which the rest comes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t phases[] = { FRAME_HELLOS, FRAME_ANSWERS, FRAME_RUNNING };
	struct frame_reader reader;
	struct error err = { 0 };
	size_t used, piece;
	int rc = 0;

	if (size < 2)
		return 0;
	frame_reader_init(&reader, phases[data[0] % 3]);
	piece = data[1] % 64u + 1;
	for (size_t at = 2; at < size && rc >= 0; at += used) {
		const size_t len = piece < size - at ? piece : size - at;

		if (!frame_reader_want(&reader) && reader.have)
			abort();
		rc = frame_reader_feed(&reader, data + at, len, &used, &err);
		if (used > len || (!used && !rc) || (rc < 0) != (err.code < 0))
			abort();
		if (rc > 0)
			check_frame(&reader);
	}
	frame_reader_release(&reader);
	return 0;
}
