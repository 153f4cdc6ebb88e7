/* The table of qperf's 36 tests, by their number on the wire. */
#include "qperf/test.h"

#include <stdbool.h>
#include <string.h>

#define KI    1024u
#define P(id) PARAM_BIT(PARAM_##id)

#define ALL    (P(AFFINITY) | P(TIMEOUT))
#define TIMED  (ALL | P(MSG_SIZE) | P(TIME) | P(NO_MSGS) | P(FLIP))
#define SOCKET (TIMED | P(PORT) | P(SOCK_BUF_SIZE))
#define STREAM (SOCKET | P(ACCESS_RECV) | P(STREAMS))
#define DEVICE (TIMED | P(ID) | P(POLL_MODE) | P(SERVICE_LEVEL) | P(SRC_PATH_BITS) | P(STATIC_RATE) | P(MTU_SIZE))
#define RC     (DEVICE | P(USE_CM))
#define READS  (RC | P(RD_ATOMIC))
#define WORD   (READS & ~P(MSG_SIZE)) /* always 8 bytes */

#define CONTROL(name, purpose, uses)                                                                                   \
	{                                                                                                              \
		name, purpose, FAMILY_CONTROL, SHOW_NOTHING, 0, uses                                                   \
	}
#define SOCK(name, purpose, family, figure, size, uses)                                                                \
	{                                                                                                              \
		name, purpose, FAMILY_##family, SHOW_##figure, size, uses                                              \
	}
#define RDMA(name, purpose, figure, size, uses)                                                                        \
	{                                                                                                              \
		name, purpose, FAMILY_RDMA, SHOW_##figure, size, uses                                                  \
	}

/* clang-format off */
const struct qperf_test qperf_tests[QPERF_TESTS] = {
	CONTROL("conf", "Both nodes' name, CPUs and system", P(TIMEOUT)),
	CONTROL("quit", "End the server", P(TIMEOUT)),
	SOCK("rds_bw", "RDS streaming bandwidth", RDS, BW, 8 * KI, STREAM),
	SOCK("rds_lat", "RDS latency", RDS, LATENCY, 1, SOCKET),
	SOCK("sctp_bw", "SCTP streaming bandwidth", SCTP, BW, 32 * KI, STREAM),
	SOCK("sctp_lat", "SCTP latency", SCTP, LATENCY, 1, SOCKET),
	SOCK("sdp_bw", "SDP streaming bandwidth", SDP, BW, 64 * KI, STREAM),
	SOCK("sdp_lat", "SDP latency", SDP, LATENCY, 1, SOCKET),
	SOCK("tcp_bw", "TCP streaming bandwidth", TCP, BW, 64 * KI, STREAM),
	SOCK("tcp_lat", "TCP latency", TCP, LATENCY, 1, SOCKET),
	SOCK("udp_bw", "UDP streaming bandwidth", UDP, BOTH_BW, 32 * KI, STREAM),
	SOCK("udp_lat", "UDP latency", UDP, LATENCY, 1, SOCKET),
	RDMA("rc_bi_bw", "RC bandwidth in both directions", BW, 64 * KI, RC | P(ACCESS_RECV)),
	RDMA("rc_bw", "RC streaming bandwidth", BW, 64 * KI, RC | P(ACCESS_RECV)),
	RDMA("rc_compare_swap_mr", "RC compare-and-swap rate", RATE, 8, WORD),
	RDMA("rc_fetch_add_mr", "RC fetch-and-add rate", RATE, 8, WORD),
	RDMA("rc_lat", "RC latency", LATENCY, 1, RC),
	RDMA("rc_rdma_read_bw", "RC read bandwidth", BW, 64 * KI, READS | P(ACCESS_RECV)),
	RDMA("rc_rdma_read_lat", "RC read: time of a whole operation", LATENCY, 1, RC),
	RDMA("rc_rdma_write_bw", "RC write bandwidth", BW, 64 * KI, RC),
	RDMA("rc_rdma_write_lat", "RC write latency", LATENCY, 1, RC),
	RDMA("rc_rdma_write_poll_lat", "RC write latency, memory polled", LATENCY, 1, RC & ~P(POLL_MODE)),
	RDMA("uc_bi_bw", "UC bandwidth in both directions", BOTH_BW, 64 * KI, DEVICE | P(ACCESS_RECV)),
	RDMA("uc_bw", "UC streaming bandwidth", BOTH_BW, 64 * KI, DEVICE | P(ACCESS_RECV)),
	RDMA("uc_lat", "UC latency", LATENCY, 1, DEVICE),
	RDMA("uc_rdma_write_bw", "UC write bandwidth", BOTH_BW, 64 * KI, DEVICE),
	RDMA("uc_rdma_write_lat", "UC write latency", LATENCY, 1, DEVICE),
	RDMA("uc_rdma_write_poll_lat", "UC write latency, memory polled", LATENCY, 1, DEVICE),
	RDMA("ud_bi_bw", "UD bandwidth in both directions", BOTH_BW, 2 * KI, DEVICE | P(ACCESS_RECV)),
	RDMA("ud_bw", "UD streaming bandwidth", BOTH_BW, 2 * KI, DEVICE | P(ACCESS_RECV)),
	RDMA("ud_lat", "UD latency", LATENCY, 1, DEVICE),
	RDMA("ver_rc_compare_swap", "Check RC compare-and-swap", RATE, 64 * KI, READS),
	RDMA("ver_rc_fetch_add", "Check RC fetch-and-add", RATE, 64 * KI, READS),
	RDMA("xrc_bi_bw", "XRC bandwidth in both directions", BW, 64 * KI, DEVICE | P(ACCESS_RECV)),
	RDMA("xrc_bw", "XRC streaming bandwidth", BW, 64 * KI, DEVICE | P(ACCESS_RECV)),
	RDMA("xrc_lat", "XRC latency", LATENCY, 1, DEVICE),
};
/* clang-format on */

uint32_t qperf_test_uses(const struct qperf_test *test, const struct qperf_params *params)
{
	const bool by_cm = test->uses & P(USE_CM) && params->use_cm;

	return by_cm ? test->uses & ~(P(ID) | P(MTU_SIZE) | P(SERVICE_LEVEL) | P(SRC_PATH_BITS) | P(STATIC_RATE))
		     : test->uses;
}

int qperf_test_find(const char *name)
{
	for (unsigned i = 0; i < QPERF_TESTS; i++)
		if (!strcmp(qperf_tests[i].name, name))
			return (int)i;
	return -1;
}
