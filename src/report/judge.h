/* What a reader must know before he trusts the figures: the same remarks for the terminal and for JSON. */
#ifndef REPORT_JUDGE_H
#define REPORT_JUDGE_H

#include <stdbool.h>

struct result;

struct remark {
	const char *id; /* camelCase, for programs */
	bool serious; /* the figure may be wrong, not only imprecise */
	char text[760]; /* one sentence */
};

/* Calls say() once per remark. A result that was not measured gets none. */
void judge_result(const struct result *result, void (*say)(void *context, const struct remark *remark), void *context);

#endif
