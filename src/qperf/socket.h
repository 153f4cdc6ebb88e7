/* Data sockets of a qperf test: how both ends make and join them, family by family. */
#ifndef QPERF_SOCKET_H
#define QPERF_SOCKET_H

#include "qperf/run.h"

/*
 * A connected socket of the test's family, ready for traffic; *ret_fd is the caller's. A UDP server's is connected once
 * its client's first datagram has come (qperf_udp_meet).
 */
int qperf_socket_open(struct qperf_run *run, int *ret_fd, struct error *err);
/* UDP server: waits for the first datagram of the host that the control connection comes from; false: the test is over. */
bool qperf_udp_meet(struct qperf_run *run, int fd);

/* One data connection and the loop over it (loops.c). */
struct qperf_stream {
	struct qperf_run *run;
	int fd, flags;
	uint8_t *buf;
	uint32_t size; /* bytes a message */
	uint64_t limit; /* messages; UINT64_MAX: by time */
	int failure; /* errno of the last datagram that was not sent */
};
int qperf_stream_open(struct qperf_stream *stream, struct qperf_run *run, struct error *err);
void qperf_stream_carry(struct qperf_stream *stream); /* until the test is over */
void qperf_stream_close(struct qperf_stream *stream);

#endif
