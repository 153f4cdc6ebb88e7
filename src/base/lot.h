/* Random numbers from a seed: the same ones on every host and in every run, and independent streams of them. */
#ifndef BASE_LOT_H
#define BASE_LOT_H

#include <stdint.h>

/* SplitMix64: state i is mix(mix(seed) + stream) + i * 0x9e3779b97f4a7c15, draw i is mix(state i), from i = 1 on. */
struct lot {
	uint64_t state;
};

void lot_init(struct lot *lot, uint64_t seed, uint64_t stream);
uint64_t lot_draw(struct lot *lot);
double lot_uniform(struct lot *lot); /* (draw / 2^11 + 1) / 2^53: 0 < u <= 1 */
/* Exponential with mean 1: -ln of a uniform one. */
double lot_exponential(struct lot *lot);

#endif
