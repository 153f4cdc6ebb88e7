/* Message sizes of each pair of a test: read from a file, found by position. */
#include "base/error.h"
#include "plan/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t plan_size(const struct plan_test *test, uint32_t from, uint32_t to)
{
	return test->bytes[(uint64_t)from * test->positions + to];
}

/* The largest message, pairs without one; datagrams have a limit. */
static int measure(struct plan_test *test, const struct ptini *file, struct error *err)
{
	const uint64_t n = test->positions;
	const struct spec *const spec = &test->sweep.spec[0];
	uint64_t largest = 0;

	for (uint64_t i = 0; i < n * n; i++) {
		largest = test->bytes[i] > largest ? test->bytes[i] : largest;
		test->skipped += !test->bytes[i] && i / n != i % n;
	}
	if (!largest)
		return error_set(err, -EINVAL, "%.150s: all counts are 0: no pair sends anything", file->name);
	if (largest > spec_max_size(spec))
		return error_set(err, -EINVAL, "%.150s: the largest message has %llu bytes, but %s takes at most %llu",
				 file->name, (unsigned long long)largest, transport_name(spec->transport),
				 (unsigned long long)spec_max_size(spec));
	if (verb_is_atomic(spec->verb))
		return error_set(err, -EINVAL, "%.150s does not go with %s: an atomic operation has 8 bytes",
				 file->name, verb_name(spec->verb));
	for (unsigned i = 0; i < test->sweep.count; i++)
		test->sweep.spec[i].size = largest;
	return 0;
}

int plan_read_sizes(struct plan_test *test, const struct ptini *file, struct error *err)
{
	int rc;

	test->datatype = file->datatype;
	test->sizes_file = strdup(file->name);
	test->bytes = calloc((size_t)test->positions * test->positions, sizeof(*test->bytes));
	if (!test->bytes || !test->sizes_file)
		return error_set(err, -ENOMEM, "no memory for the sizes of %u endpoints", test->positions);
	rc = ptini_read(file, test->positions, test->bytes, err);
	return rc ? rc : measure(test, file, err);
}
