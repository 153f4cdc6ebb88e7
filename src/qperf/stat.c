/* Snapshots of clocks, and qperf's formulas on counts and times of both ends. */
#include "qperf/stat.h"

#include "base/clock.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TICKS 1000000u /* a second: qperf has 100, which makes a second-long test uncertain by a percent */

/* The machine's clocks from the first line of /proc/stat; zeroes where it cannot be read. */
static void read_cpu(uint64_t ret[CLOCKS])
{
	const uint64_t scale = TICKS / (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	char line[512] = "", *word, *rest = line;

	if (!file)
		return;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	word = strtok_r(line, " \n", &rest);
	for (int i = CLOCK_USER; i < CLOCKS && word && (word = strtok_r(NULL, " \n", &rest)); i++)
		if (units_parse_int(word, &ret[i], NULL) == 0)
			ret[i] *= scale;
}

uint64_t qperf_ticks(int64_t ns)
{
	return (uint64_t)ns / (1000000000u / TICKS);
}

static void snapshot(const struct clock *clock, uint64_t ret[CLOCKS])
{
	memset(ret, 0, CLOCKS * sizeof(ret[0]));
	read_cpu(ret);
	ret[CLOCK_REAL] = qperf_ticks(clock_now(clock));
}

void qperf_stat_begin(struct qperf_stat *stat, const struct clock *clock)
{
	memset(stat, 0, sizeof(*stat));
	stat->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	stat->ticks = TICKS;
	stat->lost = stat->duplicated = UINT64_MAX;
	snapshot(clock, stat->start);
}

void qperf_stat_end(struct qperf_stat *stat, const struct clock *clock)
{
	if (!stat->end[CLOCK_REAL])
		snapshot(clock, stat->end);
}

double qperf_seconds(const struct qperf_stat *stat, int clock)
{
	const double ticks = (double)stat->end[clock] - (double)stat->start[clock];

	return stat->ticks && ticks > 0 ? ticks / stat->ticks : 0;
}

void qperf_stat_exchange(struct qperf_stat *loc, struct qperf_stat *rem)
{
	qperf_count_add(&loc->send, &rem->rem_send);
	qperf_count_add(&loc->recv, &rem->rem_recv);
	qperf_count_add(&rem->send, &loc->rem_send);
	qperf_count_add(&rem->recv, &loc->rem_recv);
}

static double per(double amount, double seconds)
{
	return seconds > 0 ? amount / seconds : 0;
}

static double cpu_seconds(const struct qperf_stat *stat)
{
	double sum = 0;

	for (int i = CLOCK_USER; i < CLOCKS; i++)
		sum += i == CLOCK_IDLE ? 0 : qperf_seconds(stat, i);
	return sum;
}

/* A direction's bytes: one end's by its own time, both ends' by the mean of the two. */
static double bandwidth(uint64_t loc, uint64_t rem, double loc_s, double rem_s)
{
	if (!loc)
		return per((double)rem, rem_s);
	if (!rem)
		return per((double)loc, loc_s);
	return per((double)loc + (double)rem, (loc_s + rem_s) / 2);
}

static void costs(const struct qperf_stat *sender, const struct qperf_stat *receiver, struct qperf_figures *ret)
{
	ret->send_cost = per(cpu_seconds(sender), (double)sender->send.bytes);
	ret->recv_cost = per(cpu_seconds(receiver), (double)receiver->recv.bytes);
}

void qperf_figure(const struct qperf_stat *loc, const struct qperf_stat *rem, struct qperf_figures *ret)
{
	const double loc_s = qperf_seconds(loc, CLOCK_REAL), rem_s = qperf_seconds(rem, CLOCK_REAL);
	const uint64_t msgs = loc->recv.msgs + rem->recv.msgs;

	memset(ret, 0, sizeof(*ret));
	if (msgs)
		ret->latency = loc_s / (double)msgs;
	if (!loc->recv.msgs)
		ret->rate = per((double)rem->recv.msgs, loc_s);
	else if (!rem->recv.msgs)
		ret->rate = per((double)loc->recv.msgs, rem_s);
	else
		ret->rate = per((double)msgs, (loc_s + rem_s) / 2);
	ret->send_bw = bandwidth(loc->send.bytes, rem->send.bytes, loc_s, rem_s);
	ret->recv_bw = bandwidth(loc->recv.bytes, rem->recv.bytes, loc_s, rem_s);
	if (loc->send.bytes && !rem->send.bytes && rem->recv.bytes && !loc->recv.bytes)
		costs(loc, rem, ret);
	else if (rem->send.bytes && !loc->send.bytes && loc->recv.bytes && !rem->recv.bytes)
		costs(rem, loc, ret);
}
