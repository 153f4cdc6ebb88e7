/* Draws random numbers by SplitMix64. */
#include "base/lot.h"

#include <math.h>

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void lot_init(struct lot *lot, uint64_t seed, uint64_t stream)
{
	lot->state = mix(mix(seed) + stream);
}

uint64_t lot_draw(struct lot *lot)
{
	lot->state += 0x9e3779b97f4a7c15u;
	return mix(lot->state);
}

double lot_uniform(struct lot *lot)
{
	return (double)((lot_draw(lot) >> 11) + 1) * 0x1p-53;
}

double lot_exponential(struct lot *lot)
{
	return -log(lot_uniform(lot));
}
