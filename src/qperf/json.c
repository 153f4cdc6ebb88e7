/* A test's result as one line of JSON, in units that never change. */
#include "qperf/show.h"

#include <jansson.h>
#include <stdlib.h>

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *count(const struct qperf_count *c)
{
	json_t *object = json_object();

	put(object, "bytes", json_integer((json_int_t)c->bytes));
	put(object, "messages", json_integer((json_int_t)c->msgs));
	put(object, "errors", json_integer((json_int_t)c->errs));
	return object;
}

static json_t *side(const struct qperf_stat *stat)
{
	json_t *object = json_object();

	put(object, "seconds", json_real(qperf_seconds(stat, CLOCK_REAL)));
	put(object, "sent", count(&stat->send));
	put(object, "received", count(&stat->recv));
	put(object, "lost", stat->lost == UINT64_MAX ? json_null() : json_integer((json_int_t)stat->lost));
	put(object, "duplicated",
	    stat->duplicated == UINT64_MAX ? json_null() : json_integer((json_int_t)stat->duplicated));
	return object;
}

static json_t *latency(const struct qperf_outcome *o, const struct qperf_figures *f)
{
	static const double wanted[] = { 50, 90, 99, 99.9 };
	static const char *const names[] = { "p50Usec", "p90Usec", "p99Usec", "p999Usec" };
	const double unit = o->whole ? 1e3 : 2e3;
	json_t *object;

	if (o->test->figure != SHOW_LATENCY)
		return json_null();
	object = json_object();
	put(object, "meanUsec", json_real(qperf_latency(o, f) * 1e6));
	put(object, "halved", json_boolean(!o->whole));
	if (!o->hist || !o->hist->count)
		return object;
	put(object, "minUsec", json_real((double)o->hist->min / unit));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		put(object, names[i], json_real((double)hist_percentile(o->hist, wanted[i]) / unit));
	put(object, "maxUsec", json_real((double)o->hist->max / unit));
	put(object, "samples", json_integer((json_int_t)o->hist->count));
	return object;
}

void qperf_show_json(FILE *to, const struct qperf_outcome *o)
{
	json_t *object = json_object();
	struct qperf_figures f;
	char *text;

	qperf_figure(&o->here, &o->there, &f);
	put(object, "test", json_string(o->test->name));
	put(object, "msgSize", json_integer(o->loc->msg_size));
	put(object, "streams", json_integer(o->loc->streams > 1 ? o->loc->streams : 1));
	put(object, "sendBytesPerSec", f.send_bw > 0 ? json_real(f.send_bw) : json_null());
	put(object, "recvBytesPerSec", f.recv_bw > 0 ? json_real(f.recv_bw) : json_null());
	put(object, "messagesPerSec", json_real(f.rate));
	put(object, "latency", latency(o, &f));
	put(object, "local", side(&o->here));
	put(object, "remote", side(&o->there));
	text = json_dumps(object, JSON_COMPACT);
	fprintf(to, "%s\n", text ? text : "null");
	free(text);
	json_decref(object);
}
