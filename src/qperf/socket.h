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

#endif
