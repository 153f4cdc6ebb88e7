/* What a reader must know before he trusts the figures: the same remarks for the terminal and for JSON. */
#ifndef REPORT_JUDGE_H
#define REPORT_JUDGE_H

#include <stdbool.h>

struct burst_summary;
struct result;
struct spec;

struct remark {
	const char *id; /* camelCase, for programs */
	bool serious; /* the figure may be wrong, not only imprecise */
	char text[760]; /* one sentence */
};

/* Calls say() once per remark. A result that was not measured gets none. */
void judge_result(const struct result *result, void (*say)(void *context, const struct remark *remark), void *context);

/* judge_paced.c: whether bursts that a device paced give rise to a remark. mtu: of the path, bytes; NULL: not known. */
bool judge_pacing(const struct spec *spec, const struct burst_summary *bursts, const char *mtu, struct remark *ret);

#endif
