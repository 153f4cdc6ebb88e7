/* What DOCA's options ask for, checked before anything is opened. */
#ifndef SPEC_DOCA_H
#define SPEC_DOCA_H

#include "base/error.h"
#include "spec/spec.h"

/* --cc_group_hints: a file with a block of so many bytes, of a vendor's format. */
struct cc_hints {
	char path[SPEC_TEXT];
	uint64_t size, vendor, format;
};

/* "path,size,vendorId,formatId": 0, or -EINVAL with the part of a sentence that follows the option's name. */
int cc_hints_parse(const char *text, struct cc_hints *ret, struct error *err);

#endif
