/* What a node is, as the conf test tells it. */
#ifndef QPERF_CONF_H
#define QPERF_CONF_H

#include "qperf/wire.h"

void qperf_conf_read(struct qperf_conf *ret);
/* Whether a conf's version is that of this program: it may be asked for what qperf does not know. */
int qperf_conf_is_ours(const struct qperf_conf *conf);

#endif
