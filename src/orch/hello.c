/* Opens a control connection: says who we are, hears who the other side is, refuses another version by name. */
#include "orch/hello.h"

#include "base/wait.h"
#include "orch/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

int hello_prepare(int fd, struct error *err)
{
	const int one = 1;
	const int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return error_sys(err, -errno, "cannot set up the socket of the control connection");
	/* Not there on a socket pair, and only a matter of speed. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

static int write_hello(int fd, enum frame_type type, const struct hello *hello, const struct patience *until)
{
	struct buf payload = BUF_INIT, frame = BUF_INIT;
	size_t done = 0;
	ssize_t n;
	int rc = 0;

	hello_pack(hello, &payload);
	frame_put(&frame, type, payload.data, payload.len);
	if (payload.failed || frame.failed)
		rc = -ENOMEM;
	while (!rc && done < frame.len) {
		n = send(fd, frame.data + done, frame.len - done, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN)
			rc = wait_fd(fd, POLLOUT, until);
		else if (errno != EINTR)
			rc = errno == EPIPE ? -ECONNRESET : -errno;
	}
	buf_release(&payload);
	buf_release(&frame);
	return rc;
}

/* Reads exactly one frame: what follows it is left to the keeper. -EPROTO comes with a sentence, the others without. */
static int read_frame(int fd, struct frame_reader *reader, const struct patience *until, struct error *err)
{
	uint8_t data[1024];
	size_t want, used;
	ssize_t n;
	int rc;

	do {
		want = frame_reader_want(reader);
		n = recv(fd, data, want < sizeof(data) ? want : sizeof(data), MSG_DONTWAIT);
		if (!n)
			return -ECONNRESET;
		if (n > 0)
			rc = frame_reader_feed(reader, data, (size_t)n, &used, err);
		else if (errno == EAGAIN)
			rc = wait_fd(fd, POLLIN, until);
		else
			rc = errno == EINTR ? 0 : -errno;
	} while (!rc);
	return rc < 0 ? rc : 0;
}

static int read_hello(int fd, uint32_t types, const struct patience *until, unsigned *type, struct hello *ret,
		      struct error *err)
{
	struct frame_reader reader;
	int rc;

	frame_reader_init(&reader, types);
	rc = read_frame(fd, &reader, until, err);
	if (!rc)
		rc = hello_unpack(ret, &reader.payload, err);
	*type = reader.type;
	frame_reader_release(&reader);
	return rc;
}

int hello_mismatch(unsigned protocol, const char *version, const char *host, struct error *err)
{
	struct hello here;

	hello_init(&here);
	return error_set(
		err, -EPROTO,
		"fabperf %s on host '%s' speaks control protocol %u, fabperf %s on host '%s' speaks %u: install "
		"the same version on both, or name a matching one there by --server_exe",
		version, host, protocol, here.version, here.host, here.protocol);
}

int hello_answer(int fd, enum frame_type answer, const char *sentence, const struct patience *until, struct error *err)
{
	struct hello hello;
	int rc;

	hello_init(&hello);
	snprintf(hello.sentence, sizeof(hello.sentence), "%s", sentence);
	rc = write_hello(fd, answer, &hello, until);
	return rc ? error_sys(err, rc, "cannot answer a client's hello") : 0;
}

int hello_receive(int fd, const struct patience *until, struct hello *ret, struct error *err)
{
	struct error why = { 0 };
	struct hello hello;
	unsigned type;
	int rc;

	rc = read_hello(fd, FRAME_HELLOS, until, &type, &hello, err);
	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "a client connected and did not say hello in time");
	if (rc == -ECONNRESET)
		return error_set(err, rc, "a client connected and closed again without saying hello");
	if (rc)
		return error_sys(err, rc, "cannot read a client's hello");
	if (hello.protocol != COMM_PROTOCOL) {
		hello_mismatch(hello.protocol, hello.version, hello.host, &why);
		hello_answer(fd, FRAME_REFUSED, why.text, until, NULL);
		return error_set(err, why.code, "%s", why.text);
	}
	*ret = hello;
	return 0;
}

static int judge_answer(unsigned type, const char *name, const struct hello *answer, struct error *err)
{
	if (answer->protocol != COMM_PROTOCOL)
		return hello_mismatch(answer->protocol, answer->version, name, err);
	if (type == FRAME_BUSY)
		return error_set(err, -EBUSY, "host '%s' is busy: %s", name, answer->sentence);
	if (type == FRAME_REFUSED)
		return error_set(err, -EPROTO, "host '%s' refused us: %s", name, answer->sentence);
	return 0;
}

int hello_call(int fd, const char *name, const struct patience *until, struct hello *ret, struct error *err)
{
	struct hello hello;
	unsigned type = 0;
	int rc;

	hello_init(&hello);
	rc = write_hello(fd, FRAME_HELLO, &hello, until);
	if (!rc)
		rc = read_hello(fd, FRAME_ANSWERS, until, &type, &hello, err);
	if (rc == -EPROTO) {
		error_prefix(err, "what listens on host '%s' is not a fabperf server", name);
		return rc;
	}
	if (rc == -EINTR)
		return error_set(err, rc, "interrupted");
	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "what listens on host '%s' did not answer fabperf's hello in time", name);
	if (rc == -ECONNRESET)
		return error_set(err, rc, "what listens on host '%s' closed the connection instead of answering", name);
	if (rc)
		return error_sys(err, rc, "cannot talk to the fabperf server on host '%s'", name);
	rc = judge_answer(type, name, &hello, err);
	if (!rc)
		*ret = hello;
	return rc;
}
