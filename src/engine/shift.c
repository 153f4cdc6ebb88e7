/* How far this rank's clock has drifted from rank 0's since the traffic began: told by the main thread, read by the workers. */
#include "engine/engine.h"

void flow_shift_set(struct flow_control *control, int64_t at_ns, int64_t shift_ns, double drift)
{
	struct clock_shift *shift = &control->shift;

	atomic_fetch_add(&shift->writes, 1);
	atomic_store(&shift->at_ns, at_ns);
	atomic_store(&shift->ns, shift_ns);
	atomic_store(&shift->drift, drift);
	atomic_fetch_add(&shift->writes, 1);
}

int64_t flow_shift(struct flow_control *control, int64_t due_ns)
{
	struct clock_shift *shift = &control->shift;
	unsigned before, after;
	int64_t ret;

	do {
		before = atomic_load(&shift->writes);
		ret = atomic_load(&shift->ns) +
		      (int64_t)(atomic_load(&shift->drift) * (double)(due_ns - atomic_load(&shift->at_ns)));
		after = atomic_load(&shift->writes);
	} while (before != after || before & 1);
	return ret;
}
