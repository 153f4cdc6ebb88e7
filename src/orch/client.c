/* Serves one client in a process of its own: hears its hello, asks the parent for the turn, runs the test. */
#include "orch/serve.h"

#include "base/wait.h"
#include "orch/comm.h"
#include "orch/hello.h"
#include "orch/launch.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_NS 5000000000LL /* for the parent to answer */

/* 0 with the parent's words in ret, or a negative errno: the parent is gone. */
static int ask_turn(const struct clock *clock, int ask, const char *host, char ret[CLIENT_WORDS], struct error *err)
{
	const struct patience until = { .clock = clock, .deadline_ns = clock_now(clock) + ANSWER_NS };
	ssize_t n;

	if (send(ask, host, strlen(host) + 1, MSG_NOSIGNAL) < 0)
		return error_sys(err, -errno, "cannot ask for the turn of a client on host '%s'", host);
	if (wait_fd(ask, POLLIN, &until))
		return error_set(err, -ETIMEDOUT, "the server does not answer about the client on host '%s'", host);
	n = recv(ask, ret, CLIENT_WORDS - 1, MSG_DONTWAIT);
	if (n <= 0)
		return error_set(err, -EPIPE, "the server is gone");
	ret[n] = '\0';
	return 0;
}

/* 0: welcomed; -EBUSY: another client's turn, which is no failure; else a failure with its sentence. */
static int admit(const struct serve_conf *conf, int fd, int ask, struct hello *hello, struct error *err)
{
	const struct patience until = { .clock = conf->clock, .deadline_ns = clock_now(conf->clock) + CLIENT_HELLO_NS };
	char words[CLIENT_WORDS];
	int rc;

	rc = hello_prepare(fd, err);
	if (!rc)
		rc = hello_receive(fd, &until, hello, err);
	if (!rc)
		rc = ask_turn(conf->clock, ask, hello->host, words, err);
	if (rc)
		return rc;
	rc = hello_answer(fd, words[0] ? FRAME_BUSY : FRAME_WELCOME, words, &until, err);
	return rc ? rc : words[0] ? -EBUSY : 0;
}

int client_serve(const struct serve_conf *conf, int fd, int ask)
{
	struct error err = { 0 };
	struct hello hello;
	struct comm *comm;
	int rc;

	rc = admit(conf, fd, ask, &hello, &err);
	if (rc) {
		close(fd);
	} else {
		rc = comm_tcp_open(fd, 1, hello.host, conf->clock, &comm, &err);
		if (!rc) {
			rc = conf->serve(comm, conf->context);
			comm_close(comm);
			return rc;
		}
	}
	if (err.code)
		conf->failed(conf->context, &err);
	return 1;
}
