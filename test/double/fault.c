/* Decides which call fails and which message is harmed, by counting both. */
#include "double.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

static _Atomic uint64_t calls[CALL_COUNT], messages, received;

static void wait_ns(uint64_t ns)
{
	struct timespec rest = { .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
}

static _Thread_local bool own; /* the stand-in calls itself */

void fails_not(bool now)
{
	own = now;
}

int fails(enum call call)
{
	uint64_t number = own ? 0 : atomic_fetch_add(&calls[call], 1) + 1;
	int code = 0;

	for (uint32_t i = 0; number && i < config->fault_count; i++) {
		const struct fault *fault = &config->faults[i];

		if (fault->kind > FAULT_SLOW || fault->call != call || (fault->nth && fault->nth != number))
			continue;
		if (fault->kind == FAULT_SLOW)
			wait_ns(fault->value);
		else
			code = (int)fault->value;
	}
	return code;
}

void fault_calls(FILE *to)
{
	const char *comma = "";

	for (int i = 0; i < CALL_COUNT; i++) {
		if (!calls[i])
			continue;
		fprintf(to, "%s\"%s\": %llu", comma, call_name[i], (unsigned long long)calls[i]);
		comma = ", ";
	}
}

/* Reachable, for the leak checker. */
static void keep(const void *object)
{
	static _Atomic(const void *) kept[64];
	static _Atomic unsigned count;

	atomic_store(&kept[atomic_fetch_add(&count, 1) % 64], object);
}

int fails_to_end(enum call call, const void *object)
{
	int code = fails(call);

	if (code)
		keep(object);
	return code;
}

int fails_busy(const void *object)
{
	keep(object);
	return EBUSY;
}

void *fails_pointer(int code)
{
	errno = code;
	return NULL;
}

uint64_t fault_message(void)
{
	return atomic_fetch_add(&messages, 1) + 1;
}

uint64_t fault_received(void)
{
	return atomic_fetch_add(&received, 1) + 1;
}

bool fault_gone(uint64_t number)
{
	return number > config->gone_after;
}

/* The same messages are lost in every run: splitmix64 of their number. */
static double chance(uint64_t number)
{
	uint64_t z = number * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

const struct fault *fault_find(enum fault_kind kind, uint64_t number)
{
	for (uint32_t i = 0; i < config->fault_count; i++) {
		const struct fault *fault = &config->faults[i];
		bool hit = fault->share > 0 ? chance(number) < fault->share : !fault->nth || fault->nth == number;

		if (fault->kind == kind && hit)
			return fault;
	}
	return NULL;
}
