/* The matrix of a test's connections for people: who sends how much to whom, coloured by how much that is. */
#ifndef REPORT_MATRIX_H
#define REPORT_MATRIX_H

#include "plan/outcome.h"

#define MATRIX_MAX 16 /* endpoints; of more the fastest and the slowest connections are told */

struct page;

void block_matrix(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t test);
/* What each host sends and receives, where one has several endpoints; of many hosts nothing. */
void block_hosts(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t test);

#endif
