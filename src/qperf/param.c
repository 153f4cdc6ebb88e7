/* The table of qperf's parameters, in the order in which its output shows them, and ours behind them. */
#include "qperf/param.h"

#define AT(field) offsetof(struct qperf_params, field)

const struct qperf_param qperf_params[PARAMS] = {
	[PARAM_ACCESS_RECV] = { "access_recv", TYPE_ON_OFF, AT(access_recv) },
	[PARAM_AFFINITY] = { "affinity", TYPE_CPU, AT(affinity) },
	[PARAM_ALT_PORT] = { "alt_port", TYPE_COUNT, AT(alt_port) },
	[PARAM_FLIP] = { "flip", TYPE_ON_OFF, AT(flip) },
	[PARAM_ID] = { "id", TYPE_TEXT, AT(id) },
	[PARAM_MSG_SIZE] = { "msg_size", TYPE_SIZE, AT(msg_size) },
	[PARAM_MTU_SIZE] = { "mtu_size", TYPE_SIZE, AT(mtu_size) },
	[PARAM_NO_MSGS] = { "no_msgs", TYPE_COUNT, AT(no_msgs) },
	[PARAM_POLL_MODE] = { "poll_mode", TYPE_ON_OFF, AT(poll_mode) },
	[PARAM_PORT] = { "port", TYPE_COUNT, AT(port) },
	[PARAM_RD_ATOMIC] = { "rd_atomic", TYPE_COUNT, AT(rd_atomic) },
	[PARAM_SERVICE_LEVEL] = { "service_level", TYPE_LEVEL, AT(service_level) },
	[PARAM_SOCK_BUF_SIZE] = { "sock_buf_size", TYPE_SIZE, AT(sock_buf_size) },
	[PARAM_SRC_PATH_BITS] = { "src_path_bits", TYPE_COUNT, AT(src_path_bits) },
	[PARAM_STATIC_RATE] = { "static_rate", TYPE_TEXT, AT(static_rate) },
	[PARAM_TIME] = { "time", TYPE_TIME, AT(time) },
	[PARAM_TIMEOUT] = { "timeout", TYPE_TIME, AT(timeout) },
	[PARAM_USE_CM] = { "use_cm", TYPE_ON_OFF, AT(use_cm) },
	[PARAM_STREAMS] = { "streams", TYPE_COUNT, AT(streams) },
};
