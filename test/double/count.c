/* Counts messages and live objects, and leaves the sums as JSON in the fabric's folder. */
#include "double.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int64_t counts[COUNTS];

static const char *const count_name[] = {
	[COUNT_SENT] = "sent",
	[COUNT_DROPPED] = "dropped",
	[COUNT_UNRECEIVED] = "unreceived",
	[COUNT_DUPLICATED] = "duplicated",
	[COUNT_FLIPPED] = "flipped",
	[COUNT_DELAYED] = "delayed",
	[COUNT_DELIVERED] = "delivered",
	[COUNT_RECEIVED] = "received",
	[COUNT_HINT] = "hint",
	[COUNT_PACED] = "paced",
	[COUNT_CONTEXT] = "context",
	[COUNT_PD] = "pd",
	[COUNT_MR] = "mr",
	[COUNT_DM] = "dm",
	[COUNT_CHANNEL] = "channel",
	[COUNT_CQ] = "cq",
	[COUNT_QP] = "qp",
	[COUNT_AH] = "ah",
	[COUNT_CM_CHANNEL] = "cm_channel",
	[COUNT_CM_ID] = "cm_id",
	[COUNT_DMAH] = "dmah",
	[COUNT_XRCD] = "xrcd",
};

int64_t count_of(enum count what)
{
	return counts[what];
}

void count_add(enum count what, int n)
{
	atomic_fetch_add_explicit(&counts[what], n, memory_order_relaxed);
}

/* Each time a device is closed, too: a process that leaves by _exit runs no destructor. */
__attribute__((destructor)) void count_write(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char path[160];
	FILE *file;

	if (!fabric())
		return;
	pthread_mutex_lock(&lock);
	snprintf(path, sizeof(path), "%s/count-%d.json", fabric_dir(), (int)getpid());
	file = fopen(path, "w");
	for (int i = 0; file && i < COUNTS; i++)
		fprintf(file, "%s\"%s\": %lld", i ? ", " : "{", count_name[i], (long long)counts[i]);
	if (file) {
		fprintf(file, ", \"calls\": {");
		fault_calls(file);
		fprintf(file, "}}\n");
		fclose(file);
	}
	pthread_mutex_unlock(&lock);
}
