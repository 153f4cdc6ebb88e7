/* qperf 0.4.11's messages on the control connection: little endian, packed, of fixed lengths. */
#ifndef QPERF_WIRE_H
#define QPERF_WIRE_H

#include "base/error.h"
#include "qperf/param.h"
#include "qperf/stat.h"

#include <stdbool.h>

#define REQ_BYTES     200
#define VERSION_BYTES 6 /* its beginning, which a server reads first */
#define STAT_BYTES    256 /* 252 and, on 64-bit machines, 4 of padding */
#define MORE_BYTES    16
#define CONF_BYTES    256
#define BEFORE_TEST   "synchronization before test"
#define AFTER_TEST    "synchronization after test"

struct qperf_request {
	uint16_t major, minor, increment;
	uint16_t test;
	bool ours; /* the other end is this program, too */
	struct qperf_params params; /* for the end that reads it */
};

/* What conf tells of a node. */
struct qperf_conf {
	char node[QPERF_TEXT], cpu[QPERF_TEXT], os[QPERF_TEXT], version[QPERF_TEXT];
};

void qperf_request_pack(const struct qperf_request *request, uint8_t ret[REQ_BYTES]);
/* -EPROTO when major and minor version differ or there is no such test. */
int qperf_request_unpack(const uint8_t data[REQ_BYTES], struct qperf_request *ret, struct error *err);
int qperf_version_check(const uint8_t data[VERSION_BYTES], struct error *err);

/* Where both ends are ours the padding says that MORE_BYTES follow: lost and duplicated messages. */
void qperf_stat_pack(const struct qperf_stat *stat, bool ours, uint8_t ret[STAT_BYTES + MORE_BYTES]);
/* *more: the rest follows, for qperf_more_unpack(). */
int qperf_stat_unpack(const uint8_t data[STAT_BYTES], struct qperf_stat *ret, bool *more, struct error *err);
void qperf_more_unpack(const uint8_t data[MORE_BYTES], struct qperf_stat *ret);

void qperf_conf_pack(const struct qperf_conf *conf, uint8_t ret[CONF_BYTES]);
void qperf_conf_unpack(const uint8_t data[CONF_BYTES], struct qperf_conf *ret);

#endif
