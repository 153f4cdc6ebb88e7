/* The buffer of a queue from what it lost: bursts as they were really sent, followed through it. */
#ifndef MODEL_INFER_H
#define MODEL_INFER_H

#include <stdint.h>

struct error;

/* Bytes that came in evenly from start to end, s; those of one connection's burst. */
struct arrival {
	double start, end, bytes;
};

/* The arrivals as steps of their rate, in order. */
struct infer_edge {
	double at, rate; /* from then on so many bytes per second more */
};
struct infer {
	uint32_t count;
	struct infer_edge *edge;
	double drain; /* bytes per second */
	double bytes; /* of all */
};
int infer_init(struct infer *ret, const struct arrival *arrival, uint32_t count, double drain, struct error *err);
void infer_release(struct infer *infer);

double infer_loss(const struct infer *infer, double limit); /* bytes lost by a queue that may hold so many */
/* The limit at which so many bytes are lost: the least that loses none where lost is 0. */
double infer_limit(const struct infer *infer, double lost);

/* The median of some estimates, sorted on the way, and where it lies in 95 of 100 cases: by ranks, whatever the distribution. */
struct infer_range {
	double median, low, high; /* NAN: none; low and high: NAN for less than six */
};
void infer_median(double *value, uint32_t count, struct infer_range *ret);

#endif
