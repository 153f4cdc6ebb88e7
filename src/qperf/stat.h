/* What each end measures, as qperf counts it, and the figures that follow from both ends. */
#ifndef QPERF_STAT_H
#define QPERF_STAT_H

#include <stdint.h>

/* The nine clocks of a snapshot, in ticks: real time, then the whole machine's, as /proc/stat has them. */
enum {
	CLOCK_REAL,
	CLOCK_USER,
	CLOCK_NICE,
	CLOCK_SYSTEM,
	CLOCK_IDLE,
	CLOCK_IOWAIT,
	CLOCK_IRQ,
	CLOCK_SOFTIRQ,
	CLOCK_STEAL,
	CLOCKS
};

struct qperf_count {
	uint64_t bytes, msgs, errs;
};

static inline void qperf_count_add(struct qperf_count *to, const struct qperf_count *from)
{
	to->bytes += from->bytes;
	to->msgs += from->msgs;
	to->errs += from->errs;
}

struct qperf_stat {
	uint32_t cpus, ticks; /* of the machine; ticks a second */
	uint32_t max_cqes; /* most completions that one poll gave */
	uint64_t start[CLOCKS], end[CLOCKS];
	struct qperf_count send, recv;
	struct qperf_count rem_send, rem_recv; /* counted here on behalf of the other end */
	uint64_t lost, duplicated; /* by sequence numbers, between two of these programs; UINT64_MAX: not known */
};

struct clock;
uint64_t qperf_ticks(int64_t ns); /* an instant of our clock as a snapshot has it */
void qperf_stat_begin(struct qperf_stat *stat, const struct clock *clock);
void qperf_stat_end(struct qperf_stat *stat, const struct clock *clock);

/* Seconds of one clock between the snapshots. */
double qperf_seconds(const struct qperf_stat *stat, int clock);
/* Gives each end what the other one counted for it. */
void qperf_stat_exchange(struct qperf_stat *loc, struct qperf_stat *rem);

struct qperf_figures {
	double latency; /* s */
	double rate; /* messages/s */
	double send_bw, recv_bw; /* bytes/s */
	double send_cost,
		recv_cost; /* CPU seconds a byte sent and received; 0: not one end sends and the other receives */
};
/* qperf's formulas; loc and rem have been exchanged. */
void qperf_figure(const struct qperf_stat *loc, const struct qperf_stat *rem, struct qperf_figures *ret);

#endif
