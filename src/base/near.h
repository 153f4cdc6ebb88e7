/* Names as people write them: equal but for case and dashes, or near enough to be meant. */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stdbool.h>
#include <stdint.h>

/* Whether two names are the same: without case, '-' and '_' equal. */
bool near_same(const char *a, const char *b);

/* How far a known name is from what was written: few letters changed, left out or swapped, or its beginning only. */
#define NEAR_NOT UINT32_MAX /* too far to be meant */
unsigned near_miss(const char *known, const char *written);

#endif
