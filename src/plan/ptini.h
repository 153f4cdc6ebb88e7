/* UCC's ALLTOALLV pattern files (.ptini): how many elements each rank sends to each. */
#ifndef PLAN_PTINI_H
#define PLAN_PTINI_H

#include <stdint.h>

struct error;

/* A file that was loaded, not read yet: how many ranks it has to have follows from a test's endpoints. */
struct ptini {
	char *name, *text;
	uint32_t datatype; /* index into ucc_type_names */
};

uint64_t ptini_element_bytes(uint32_t datatype); /* of a name of ucc_type_names */
/*
 * Message sizes in bytes, row = source, column = destination, ranks * ranks of them; the diagonal is 0. -EINVAL and a sentence
 * with file and line: no or several patterns, another type or team size, another number of counts, a count too large.
 */
int ptini_read(const struct ptini *file, uint32_t ranks, uint32_t *ret, struct error *err);
void ptini_release(struct ptini *file);

#endif
