/* The volley before bursts that go from several senders to one receiver: what its one clock says of how the senders' clocks agree. */
#ifndef SPEC_VOLLEY_H
#define SPEC_VOLLEY_H

#include "spec/burst.h"

struct result;
struct volley_sum;

struct volley_sum *volley_sum_new(void); /* NULL: no memory */
int volley_sum_add(struct volley_sum *sum, const struct result *result); /* a connection; -ENOMEM */
void volley_sum_end(struct volley_sum *sum, const struct spec *spec, struct volley_summary *ret);
void volley_sum_free(struct volley_sum *sum);

#endif
