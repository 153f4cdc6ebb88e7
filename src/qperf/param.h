/* qperf's parameters: one table says each one's option, field on the wire, row in the output and help. */
#ifndef QPERF_PARAM_H
#define QPERF_PARAM_H

#include <stddef.h>
#include <stdint.h>

#define QPERF_TEXT 64 /* bytes of a text field on the wire */

/* What a test is run with, at one end. The fields are those of qperf 0.4.11's request, in its order. */
struct qperf_params {
	uint32_t access_recv, affinity, alt_port, flip, msg_size, mtu_size, no_msgs, poll_mode, port, rd_atomic,
		service_level, sock_buf_size, src_path_bits, time, timeout, use_cm;
	char id[QPERF_TEXT], static_rate[QPERF_TEXT];
	/* not on qperf's wire: only for a server that is ours */
	uint64_t time_ns; /* exact; time is this in whole seconds, rounded up */
	uint32_t streams; /* data connections; 0: one */
};

/* Indices of the table; a set of them is a bit mask. */
enum qperf_param_id {
	PARAM_ACCESS_RECV,
	PARAM_AFFINITY,
	PARAM_ALT_PORT,
	PARAM_FLIP,
	PARAM_ID,
	PARAM_MSG_SIZE,
	PARAM_MTU_SIZE,
	PARAM_NO_MSGS,
	PARAM_POLL_MODE,
	PARAM_PORT,
	PARAM_RD_ATOMIC,
	PARAM_SERVICE_LEVEL,
	PARAM_SOCK_BUF_SIZE,
	PARAM_SRC_PATH_BITS,
	PARAM_STATIC_RATE,
	PARAM_TIME,
	PARAM_TIMEOUT,
	PARAM_USE_CM,
	PARAM_STREAMS,
	PARAMS
};
#define PARAM_BIT(id) (1u << (id))
#define STREAMS_MAX   64u

/* How a value is read and shown. */
enum qperf_type { TYPE_COUNT, TYPE_SIZE, TYPE_TIME, TYPE_ON_OFF, TYPE_LEVEL, TYPE_CPU, TYPE_TEXT };

struct qperf_param {
	const char *name; /* row of the output */
	enum qperf_type type;
	uint16_t offset; /* in struct qperf_params */
};

extern const struct qperf_param qperf_params[PARAMS]; /* in the order of the output */

static inline uint32_t qperf_number(const struct qperf_params *params, enum qperf_param_id id)
{
	return *(const uint32_t *)((const char *)params + qperf_params[id].offset);
}

#endif
