/* A test over sockets: one data connection in this thread, or several at once with a thread each. */
#include "qperf/socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#define STREAM_MAX (1u << 30) /* bytes a message */
#define UDP_MAX    65507u
#define PORT_MAX   65535u
#define SLICE_MS   10 /* no call of a stream sleeps longer, as no signal reaches its thread */

/* One of several: what it counts is its own until all have ended. */
struct lane {
	struct qperf_stream stream;
	struct qperf_run run;
	pthread_t thread;
	atomic_uint *running;
};

static int check(const struct qperf_run *run, struct error *err)
{
	const uint32_t most = run->test->family == FAMILY_UDP ? UDP_MAX : STREAM_MAX;
	const struct qperf_params *params = &run->params;

	if (params->msg_size < 1 || params->msg_size > most)
		return error_set(err, -EMSGSIZE, "-m %u: a message of %s has 1 to %u bytes", params->msg_size,
				 run->test->name, most);
	if (params->port && params->streams > 1 && params->port + params->streams - 1 > PORT_MAX)
		return error_set(err, -EINVAL, "-ip %u: %u streams need as many ports from there on", params->port,
				 params->streams);
	return 0;
}

static int no_message(const struct qperf_run *run, int failure, struct error *err)
{
	if (!failure || run->stat.send.msgs)
		return 0;
	return error_sys(err, -failure, "%s: no message could be sent", run->test->name);
}

static int carry_one(struct qperf_run *run, struct error *err)
{
	struct qperf_stream stream;
	int rc = qperf_stream_open(&stream, run, err);

	if (rc)
		return rc;
	rc = qperf_run_begin(run, err);
	if (rc == 0)
		qperf_stream_carry(&stream);
	qperf_run_end(run);
	qperf_stream_close(&stream);
	return rc ? rc : no_message(run, stream.failure, err);
}

/* --- several --- */

static void *carry_lane(void *argument)
{
	struct lane *lane = argument;

	qperf_stream_carry(&lane->stream);
	atomic_fetch_sub(lane->running, 1);
	return NULL;
}

/* Until the time is up, the other end has gone, or every stream has ended. */
static void wait_all(struct qperf_run *run, atomic_uint *running)
{
	while (atomic_load(running) && !qperf_run_over(run))
		poll(NULL, 0, SLICE_MS);
}

static int start_all(struct lane *lanes, unsigned n, const struct qperf_run *run, atomic_bool *stop,
		     atomic_uint *running, struct error *err)
{
	unsigned started = 0;
	sigset_t set, before;
	int rc = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	for (; started < n && rc == 0; started += rc == 0) {
		struct lane *lane = &lanes[started];

		lane->run = *run;
		lane->run.stop = stop;
		lane->stream.run = &lane->run;
		lane->running = running;
		atomic_fetch_add(running, 1);
		rc = pthread_create(&lane->thread, NULL, carry_lane, lane);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return 0;
	atomic_store(stop, true);
	while (started)
		pthread_join(lanes[--started].thread, NULL);
	return error_sys(err, -rc, "cannot start a thread for each of %u streams", n);
}

static void join_all(struct lane *lanes, unsigned n, struct qperf_stat *to, int *failure)
{
	for (unsigned i = 0; i < n; i++) {
		const struct qperf_stat *from = &lanes[i].run.stat;

		pthread_join(lanes[i].thread, NULL);
		qperf_count_add(&to->send, &from->send);
		qperf_count_add(&to->recv, &from->recv);
		if (from->lost != UINT64_MAX) {
			to->lost = (to->lost == UINT64_MAX ? 0 : to->lost) + from->lost;
			to->duplicated = (to->duplicated == UINT64_MAX ? 0 : to->duplicated) + from->duplicated;
		}
		*failure = lanes[i].stream.failure ? lanes[i].stream.failure : *failure;
	}
}

static int carry_lanes(struct lane *lanes, unsigned n, struct qperf_run *run, struct error *err)
{
	atomic_bool stop = false;
	atomic_uint running = 0;
	int failure = 0, rc = qperf_run_begin(run, err);

	if (rc == 0)
		rc = start_all(lanes, n, run, &stop, &running, err);
	if (rc) {
		qperf_run_end(run);
		return rc;
	}
	wait_all(run, &running);
	qperf_run_end(run);
	atomic_store(&stop, true);
	join_all(lanes, n, &run->stat, &failure);
	return no_message(run, failure, err);
}

static int open_lane(struct lane *lane, unsigned number, struct qperf_run *run, struct error *err)
{
	const struct timeval slice = { .tv_usec = SLICE_MS * 1000 };
	const uint32_t port = run->params.port;
	int rc;

	run->params.port = port ? port + number : 0;
	rc = qperf_stream_open(&lane->stream, run, err);
	run->params.port = port;
	if (rc == 0 && (setsockopt(lane->stream.fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) < 0 ||
			setsockopt(lane->stream.fd, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof(slice)) < 0)) {
		rc = error_sys(err, -errno, "cannot limit how long a call on a data socket sleeps");
		qperf_stream_close(&lane->stream);
	}
	return rc;
}

static int carry_several(unsigned n, struct qperf_run *run, struct error *err)
{
	struct lane *lanes = calloc(n, sizeof(*lanes));
	unsigned opened = 0;
	int rc = lanes ? 0 : error_set(err, -ENOMEM, "no memory for %u streams", n);

	for (; rc == 0 && opened < n; opened += rc == 0)
		rc = open_lane(&lanes[opened], opened, run, err);
	if (rc == 0)
		rc = carry_lanes(lanes, n, run, err);
	while (opened)
		qperf_stream_close(&lanes[--opened].stream);
	free(lanes);
	return rc;
}

int qperf_socket_test(struct qperf_run *run, struct error *err)
{
	const unsigned n = run->params.streams;
	int rc = check(run, err);

	if (rc == 0)
		rc = n > 1 ? carry_several(n, run, err) : carry_one(run, err);
	return rc ? rc : err->code;
}
