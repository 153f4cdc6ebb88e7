/* The load that is offered to the network: whether there is a schedule, and its messages per second. */
#include "spec/spec.h"

bool spec_is_paced(const struct spec *spec)
{
	return spec->load.per_second > 0;
}

double spec_load_mps(const struct spec *spec)
{
	const double per_second = (double)spec->load.per_second;

	return spec->load.in_messages ? per_second : per_second / (8 * (double)spec->size);
}
