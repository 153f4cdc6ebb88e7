/* Rows of command lines: what follows from them, and with which sentence they are refused; for tests. */
#ifndef UNIT_RULES_H
#define UNIT_RULES_H

#include "spec/option.h"
#include "words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

static const struct request_host bare = { .has_rdma = false };
static const struct request_host rdma = { .has_rdma = true };

struct rule {
	const char *words;
	const struct request_host *host;
	const char *expected; /* "key=value key=value" when it is taken, else the sentence's begin */
};

static inline int resolve_line(const char *words, const struct request_host *host, struct request *ret,
			       struct error *err)
{
	if (parse_line(words, ret, err))
		fail_msg("fabperf %s: %s", words, err->text);
	return request_resolve(ret, host, err);
}

/* Whether all of "key=value key=value" hold. */
static inline void check_fields(const char *words, const struct request *request, const char *expected)
{
	char text[512], value[OPTION_VALUE_MAX], *rest = text;

	snprintf(text, sizeof(text), "%s", expected);
	for (char *item; (item = strsep(&rest, " "));) {
		char *const wanted = strchr(item, '=') + 1;

		wanted[-1] = '\0';
		option_get(request, option_find(item), value, sizeof(value));
		if (strcmp(value, wanted) != 0)
			fail_msg("fabperf %s: %s is %s, not %s", words, item, value, wanted);
	}
}

static inline void check_taken(const struct rule *rule, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct request request;
		struct error err = { 0 };

		if (resolve_line(rule[i].words, rule[i].host, &request, &err))
			fail_msg("fabperf %s: %s", rule[i].words, err.text);
		check_fields(rule[i].words, &request, rule[i].expected);
		if (*request.host && spec_check(&request.spec, &err))
			fail_msg("fabperf %s: %s", rule[i].words, err.text);
	}
}

static inline void check_refused(const struct rule *rule, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct request request;
		struct error err = { 0 };

		if (parse_line(rule[i].words, &request, &err) == 0 &&
		    request_resolve(&request, rule[i].host, &err) != -EINVAL)
			fail_msg("fabperf %s: taken", rule[i].words);
		if (strncmp(err.text, rule[i].expected, strlen(rule[i].expected)) != 0)
			fail_msg("fabperf %s: %s", rule[i].words, err.text);
	}
}

#endif
