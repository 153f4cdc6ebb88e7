/* How two queues share a switch's buffer: the limit of one alone, and of the same one beside another that is as full. */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/knee.h"

enum share_kind { SHARE_UNCLEAR, SHARE_STATIC, SHARE_DYNAMIC };

struct share {
	enum share_kind kind;
	const char *why; /* of SHARE_UNCLEAR */
	struct infer_range ratio; /* of the limit alone to that of two; NAN: not known */
	struct infer_range pool, alpha; /* of SHARE_DYNAMIC, else NAN; INFINITY: as large as you like */
};
/* Ranges follow from both limits' ends, so that they are rather too wide. */
void share_infer(const struct infer_range *one, const struct infer_range *two, struct share *ret);

/* A whole search. */
struct knees {
	struct knee one;
	struct knee two; /* of the same queue; no points: no second incast, or it didn't come to that */
	struct share share; /* if both have points */
};

#endif
