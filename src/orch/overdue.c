/* Decides when traffic has to be given up: by time the end is known, by count something must move. */
#include "orch/overdue.h"

#include "base/error.h"
#include "spec/spec.h"

#include <errno.h>

void overdue_expect(struct overdue *overdue, const struct spec *spec)
{
	const int64_t silence = spec_silence_ns(spec);

	overdue->silence_ns = silence > overdue->silence_ns ? silence : overdue->silence_ns;
}

int overdue_check(struct overdue *overdue, uint64_t count, int64_t now, struct error *err)
{
	const int64_t patience = OVERDUE_NS + overdue->silence_ns;

	if (overdue->due_ns != INT64_MAX)
		return now <= overdue->due_ns + OVERDUE_NS
			       ? 0
			       : error_set(err, -ETIMEDOUT, "the traffic has not ended 30 s after its time");
	if (count != overdue->moved_count || !overdue->moved_ns) {
		overdue->moved_count = count;
		overdue->moved_ns = now;
	}
	return now <= overdue->moved_ns + patience ? 0
						   : error_set(err, -ETIMEDOUT, "no message has completed for %lld s",
							       (long long)(patience / 1000000000));
}
