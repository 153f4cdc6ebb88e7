/*
 * What the stand-in for DOCA is told and what it tells. FABPERF_DOCA has words joined by commas: fail=CALL:CODE[:N] (the N-th
 * call, 0: each), vendor=N, format=N, hint_most=BYTES, no_cc, tell (on stderr at the end: what was posted and polled).
 * Objects that are still alive at the end are told in any case.
 */
#include "doca.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 16

static struct {
	char text[256], *word[WORDS];
	unsigned words;
	char call[64]; /* fail= */
	int code;
	unsigned nth;
} config;
static atomic_int alive[KINDS], calls;
static atomic_llong posts, receives, completions;
static atomic_int grouped;
static atomic_size_t hint_bytes;

static __attribute__((constructor)) void read_config(void)
{
	const char *const text = getenv("FABPERF_DOCA");
	char *save = NULL;

	snprintf(config.text, sizeof(config.text), "%s", text ? text : "");
	for (char *one = strtok_r(config.text, ",", &save); one && config.words < WORDS;
	     one = strtok_r(NULL, ",", &save)) {
		config.word[config.words++] = one;
		config.nth = 1;
		if (strncmp(one, "fail=", 5) == 0 &&
		    sscanf(one + 5, "%63[^:]:%d:%u", config.call, &config.code, &config.nth) < 2) {
			dprintf(STDERR_FILENO, "FABPERF_DOCA: '%s' is wrong\n", one);
			_exit(125);
		}
	}
}

unsigned word(const char *name, unsigned otherwise)
{
	const size_t len = strlen(name);

	for (unsigned i = 0; i < config.words; i++) {
		if (strncmp(config.word[i], name, len) == 0 && config.word[i][len] == '=')
			return (unsigned)strtoul(config.word[i] + len + 1, NULL, 10);
		if (strcmp(config.word[i], name) == 0)
			return 1;
	}
	return otherwise;
}

int planted(const char *call)
{
	if (strcmp(call, config.call) != 0)
		return 0;
	return !config.nth || (unsigned)atomic_fetch_add(&calls, 1) + 1 == config.nth ? config.code : 0;
}

void *made(enum kind kind, size_t size)
{
	void *object = calloc(1, size);

	atomic_fetch_add(&alive[kind], object != NULL);
	return object;
}

void gone(enum kind kind, void *object)
{
	atomic_fetch_sub(&alive[kind], 1);
	free(object);
}

void counted(const char *call, int n)
{
	atomic_fetch_add(strcmp(call, "send") == 0 ? &posts : strcmp(call, "recv") == 0 ? &receives : &completions, n);
}

void joined(size_t hint)
{
	atomic_fetch_add(&grouped, 1);
	atomic_store(&hint_bytes, hint);
}

static __attribute__((destructor)) void tell(void)
{
	static const char *const names[KINDS] = { "context", "pd", "cq", "qp", "cc_group", "attr" };

	if (word("tell", 0))
		dprintf(STDERR_FILENO, "libdoca: %lld sends, %lld receives, %lld completions\n", (long long)posts,
			(long long)receives, (long long)completions);
	if (word("tell", 0) && grouped)
		dprintf(STDERR_FILENO, "libdoca: hints of %zu bytes for %d queue pair%s\n", (size_t)hint_bytes, grouped,
			grouped == 1 ? "" : "s");
	for (int kind = 0; kind < KINDS; kind++)
		if (alive[kind])
			dprintf(STDERR_FILENO, "libdoca: %d %s still alive\n", alive[kind], names[kind]);
}
