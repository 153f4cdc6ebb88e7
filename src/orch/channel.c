/* Frames between the command that was typed and rank 0, through mpirun's stdin and stdout. */
#include "orch/channel.h"

#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void channel_init(struct channel *channel, int in, int out)
{
	*channel = (struct channel){ .in = in, .out = out };
	frame_reader_init(&channel->reader, FRAME_MASK(FRAME_BCAST) | FRAME_MASK(FRAME_NOTE) |
						    FRAME_MASK(FRAME_WELCOME) | FRAME_MASK(FRAME_GATHER) |
						    FRAME_MASK(FRAME_REFUSED));
}

void channel_release(struct channel *channel)
{
	frame_reader_release(&channel->reader);
}

static int put(int fd, const uint8_t *data, size_t len, const struct patience *until, struct error *err)
{
	while (len) {
		const int rc = wait_fd(fd, POLLOUT, until);
		const ssize_t n = rc ? rc : write(fd, data, len < 4096 ? len : 4096);

		if (rc)
			return error_sys(err, rc, "the other end of mpirun takes nothing");
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return error_sys(err, -errno, "the other end of mpirun is gone");
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int channel_send(struct channel *channel, enum frame_type type, const struct buf *payload, const struct patience *until,
		 struct error *err)
{
	struct buf frame = BUF_INIT;
	int rc;

	if (payload->failed || payload->len > frame_limit(type))
		return error_set(err, -EMSGSIZE, "%zu bytes are more than a message through mpirun may have",
				 payload->len);
	frame_put(&frame, type, payload->data, payload->len);
	rc = frame.failed ? error_set(err, -ENOMEM, "no memory for a message")
			  : put(channel->out, frame.data, frame.len, until, err);
	buf_release(&frame);
	return rc;
}

int channel_note(struct channel *channel, uint32_t kind, uint64_t value, const struct patience *until,
		 struct error *err)
{
	struct buf note = BUF_INIT;
	int rc;

	buf_put_u32(&note, kind);
	buf_put_u64(&note, value);
	rc = channel_send(channel, FRAME_NOTE, &note, until, err);
	buf_release(&note);
	return rc;
}

/* Some bytes of a frame: how many (0: none are missing, or none came yet), or as channel_take. */
static ssize_t read_some(struct channel *channel, uint8_t *ret, size_t size, const struct patience *until)
{
	const size_t want = frame_reader_want(&channel->reader);
	ssize_t n;
	int rc;

	if (!want)
		return 0;
	rc = wait_fd(channel->in, POLLIN, until);
	if (rc)
		return rc;
	n = read(channel->in, ret, want < size ? want : size);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	return n > 0 ? n : -ECHILD;
}

int channel_take(struct channel *channel, unsigned *ret_type, struct buf *ret, const struct patience *until,
		 struct error *err)
{
	struct frame_reader *reader = &channel->reader;
	uint8_t bytes[4096];
	size_t used;
	ssize_t n;
	int rc = 0;

	while (rc == 0) {
		n = read_some(channel, bytes, sizeof(bytes), until);
		if (n < 0)
			return (int)n;
		rc = frame_reader_feed(reader, bytes, (size_t)n, &used, err);
	}
	if (rc < 0) {
		error_prefix(err, "what came through mpirun");
		return rc;
	}
	*ret_type = reader->type;
	buf_release(ret);
	frame_reader_take(reader, ret);
	return 0;
}
