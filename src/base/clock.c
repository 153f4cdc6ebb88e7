/* Calibrates the time stamp counter against CLOCK_MONOTONIC_RAW and tells how well the two agree. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define SPIN_NS   INT64_C(10000000) /* what the calibration takes */
#define BRACKETS  64 /* readings at either end, of which the tightest is used */
#define ERROR_PPM 100 /* a counter that cannot be calibrated this well is not used */

/* One instant in both clocks: the system clock was read somewhere within width ticks about tsc. */
struct instant {
	uint64_t tsc, width;
	int64_t ns;
};

int64_t clock_system_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct instant read_both(void)
{
	struct instant best = { .width = UINT64_MAX };

	for (unsigned i = 0; i < BRACKETS; i++) {
		const uint64_t before = clock_ticks();
		const int64_t ns = clock_system_ns();
		const uint64_t width = clock_ticks() - before;

		if (width < best.width)
			best = (struct instant){ .tsc = before + width / 2, .width = width, .ns = ns };
	}
	return best;
}

/* Whether the first line of path that begins with key holds word; unreadable when there is no such line. */
static bool line_has(const char *path, const char *key, const char *word, bool unreadable)
{
	FILE *file = fopen(path, "re");
	char line[8192], *rest;
	bool has = unreadable;

	if (!file)
		return unreadable;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		has = false;
		for (const char *w = strtok_r(line, " \t\n", &rest); w; w = strtok_r(NULL, " \t\n", &rest))
			has |= !strcmp(w, word);
		break;
	}
	fclose(file);
	return has;
}

/* The processor says that the counter neither stops nor changes its rate, and the kernel has not found otherwise. */
static bool tsc_invariant(void)
{
	return line_has("/proc/cpuinfo", "flags", "constant_tsc", false) &&
	       line_has("/proc/cpuinfo", "flags", "nonstop_tsc", false) &&
	       line_has("/sys/devices/system/clocksource/clocksource0/available_clocksource", "", "tsc", true);
}

static void calibrate(struct clock *clock)
{
	const struct instant first = read_both();
	struct instant last;
	uint64_t ticks, ns;

	while (clock_system_ns() - first.ns < SPIN_NS)
		;
	last = read_both();
	ticks = last.tsc - first.tsc;
	ns = (uint64_t)(last.ns - first.ns);
	if (ticks == 0 || (first.width + last.width) / 2 > ticks / (1000000 / ERROR_PPM))
		return;
	clock->tsc0 = first.tsc; /* the early anchor: no other core's counter can be behind it now */
	clock->ns0 = first.ns;
	clock->mult = (uint64_t)((((unsigned __int128)ns << 32) + ticks / 2) / ticks);
}

/* The quickest of a few batches, so that an interrupt does not count. */
static int64_t read_cost(const struct clock *clock)
{
	const int rounds = 16, batch = 128;
	int64_t best = INT64_MAX;

	for (int i = 0; i < rounds; i++) {
		const int64_t start = clock_now(clock);
		int64_t end = start;

		for (int k = 0; k < batch; k++)
			end = clock_now(clock);
		best = end - start < best ? end - start : best;
	}
	best = (best + batch / 2) / batch;
	return best > 0 ? best : 1;
}

void clock_init(struct clock *clock, bool force_system)
{
	*clock = (struct clock){ .ns0 = clock_system_ns() };
	if (!force_system && tsc_invariant())
		calibrate(clock);
	clock->read_cost_ns = read_cost(clock);
}

double clock_drift_ppm(const struct clock *clock)
{
	struct instant now;
	int64_t elapsed, by_tsc;

	if (clock->mult == 0)
		return 0;
	now = read_both();
	elapsed = now.ns - clock->ns0;
	by_tsc = (int64_t)(((unsigned __int128)(now.tsc - clock->tsc0) * clock->mult) >> 32);
	return elapsed > 0 ? (double)(by_tsc - elapsed) * 1e6 / (double)elapsed : 0;
}
