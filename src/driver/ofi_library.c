/* libfabric's own functions, from the library opened on first use: its dependencies take a fifth of a second to load. */
#include "driver/ofi.h"

#include <dlfcn.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY  "libfabric.so.1"
#define PATIENCE "500" /* us between the steps of a connection of ofi_rxm, whose 10 ms add up over many endpoints */

/* One that libfabric brings in, libinfinipath, catches these with a handler that calls exit(): they stay as they were. */
static const int signals[] = { SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGABRT };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void mask_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(how, &set, NULL);
}

static void *open_library(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	struct sigaction before[SIGNALS];

	if (library)
		return library;
	mask_signals(SIG_BLOCK);
	setenv("FI_OFI_RXM_CM_PROGRESS_INTERVAL", PATIENCE, 0);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], NULL, &before[i]);
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	mask_signals(SIG_UNBLOCK);
	return library;
}

/* NULL when there is no library. */
static void *function(const char *name)
{
	void *library = open_library();

	return library ? dlsym(library, name) : NULL;
}

/* Found by name: ISO C has no conversion from an object's address to a function's. */
#define CALL(name, none, ...)                                                                                          \
	do {                                                                                                           \
		__typeof__(name) *call;                                                                                \
		void *const found = function(#name);                                                                   \
                                                                                                                       \
		if (!found)                                                                                            \
			return none;                                                                                   \
		memcpy(&call, &found, sizeof(call));                                                                   \
		return call(__VA_ARGS__);                                                                              \
	} while (0)

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
	       struct fi_info **info)
{
	CALL(fi_getinfo, -FI_ENOSYS, version, node, service, flags, hints, info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
	CALL(fi_dupinfo, NULL, info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	CALL(fi_fabric, -FI_ENOSYS, attr, fabric, context);
}

const char *fi_strerror(int errnum)
{
	CALL(fi_strerror, strerror(errnum), errnum);
}

uint32_t fi_version(void)
{
	CALL(fi_version, 0, );
}

void fi_freeinfo(struct fi_info *info)
{
	void (*call)(struct fi_info *);
	void *const found = info ? function("fi_freeinfo") : NULL;

	if (!found)
		return;
	memcpy(&call, &found, sizeof(call));
	call(info);
}
