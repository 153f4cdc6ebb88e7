/* Traffic patterns: which positions of a list of endpoints send to which. */
#ifndef PLAN_PATTERN_H
#define PLAN_PATTERN_H

#include "spec/spec.h"

struct error;

const char *pattern_name(uint32_t pattern); /* "ALL_TO_ALL" */
const char *direction_name(uint32_t direction);
const char *partition_name(uint32_t partition);

/* Connections from one position to another among n of them; 0 when there can be none: pattern_suits says why. */
uint64_t pattern_count(enum pattern pattern, uint64_t n);
/* Connection number k < pattern_count() of n positions. */
void pattern_pair(enum pattern pattern, uint32_t n, uint64_t k, uint32_t *ret_from, uint32_t *ret_to);
/* Whether n positions suit the pattern. 0, or -EINVAL and a sentence. */
int pattern_suits(enum pattern pattern, uint32_t n, struct error *err);

#endif
