/* Monotonic 64-bit nanoseconds: a TSC calibrated against CLOCK_MONOTONIC_RAW where it is invariant, else that clock. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clock {
	uint64_t tsc0; /* counter at the anchor */
	int64_t ns0; /* CLOCK_MONOTONIC_RAW at the anchor, ns */
	uint64_t mult; /* ns per tick, 32.32 fixed point; 0 = read the system clock instead */
	int64_t read_cost_ns; /* measured cost of one clock_now() */
};

/* Calibrates (spins some 10 ms). force_system: do not use the TSC. Never fails. */
void clock_init(struct clock *clock, bool force_system);

/* Parts per million by which the TSC clock now disagrees with CLOCK_MONOTONIC_RAW since clock_init(); 0 without TSC. */
double clock_drift_ppm(const struct clock *clock);

/* CLOCK_MONOTONIC_RAW, ns. */
int64_t clock_system_ns(void);

static inline uint64_t clock_ticks(void)
{
	/* implemented for x86-64 (rdtsc); others return 0 and mult stays 0 */
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* Now, ns since an arbitrary fixed instant of this host; the same for all threads and processes of the host. */
static inline int64_t clock_now(const struct clock *clock)
{
	if (__builtin_expect(clock->mult == 0, 0))
		return clock_system_ns();
	return clock->ns0 + (int64_t)(((unsigned __int128)(clock_ticks() - clock->tsc0) * clock->mult) >> 32);
}

#endif
