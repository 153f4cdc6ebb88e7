/* Opens DOCA's libraries on demand and finds their functions, or says which is missing, where it was looked for, and its package. */
#include "driver/dv.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMON, VERBS, LIBRARIES };

/* In the order in which they must be opened. */
static const struct library {
	const char *file, *package;
} libraries[LIBRARIES] = {
	[COMMON] = { "libdoca_common.so", "doca-sdk-common" },
	[VERBS] = { "libdoca_verbs.so", "doca-sdk-verbs" },
};

#define FUNCTION(result, name, ...) { "doca_" #name, offsetof(struct doca_calls, name) },
static const struct function {
	const char *name;
	size_t at; /* of its pointer in struct doca_calls */
} verbs[] = { DOCA_VERBS_CALLS(FUNCTION) }, states[] = { DOCA_STATE_CALLS(FUNCTION) },
  cc[] = { DOCA_VERBS_CC_CALLS(FUNCTION) }, common[] = { DOCA_COMMON_CALLS(FUNCTION) };

/* Not there, or there and broken: the loader's own words then. */
static int not_opened(const struct library *library, const char *folder, const char *path, struct error *err)
{
	const char *why = dlerror();

	if (folder && access(path, F_OK) == 0)
		return error_set(err, -ELIBACC, "-r dv cannot open %s: %s", path, why ? why : "no reason is given");
	return error_set(
		err, -ENOENT, "-r dv needs DOCA's %s, which is not in %s%s: install the package %s, or %s",
		library->file, folder ? folder : "the loader's path", folder ? " (DOCA_SDK_LIB_PATH)" : "",
		library->package,
		folder ? "correct that variable"
		       : "name its folder in DOCA_SDK_LIB_PATH (often /opt/mellanox/doca/lib/x86_64-linux-gnu)");
}

static int open_library(const struct library *library, void **ret, struct error *err)
{
	const char *folder = getenv("DOCA_SDK_LIB_PATH");
	char path[512];

	folder = folder && *folder ? folder : NULL;
	snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "", folder ? "/" : "", library->file);
	dlerror();
	*ret = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE); /* its threads and handlers stay */
	return *ret ? 0 : not_opened(library, folder, path, err);
}

/* NULL, or the name of the first that is missing. */
static const char *find(void *library, const struct function *function, size_t count, struct doca_calls *ret)
{
	for (size_t i = 0; i < count; i++) {
		void *const found = dlsym(library, function[i].name);

		if (!found)
			return function[i].name;
		memcpy((char *)ret + function[i].at, &found, sizeof(found));
	}
	return NULL;
}

#define FIND(library, functions, ret) find(library, functions, sizeof(functions) / sizeof(*(functions)), ret)

int dv_library_open(bool with_cc, struct doca_calls *ret, struct error *err)
{
	void *handle[LIBRARIES] = { NULL };
	const char *missing;
	int rc = 0;

	for (int i = 0; !rc && i < LIBRARIES; i++)
		rc = open_library(&libraries[i], &handle[i], err);
	if (rc)
		return rc;
	FIND(handle[COMMON], common, ret);
	missing = FIND(handle[VERBS], verbs, ret);
	if (!missing)
		missing = FIND(handle[VERBS], states, ret);
	if (missing)
		return error_set(err, -ENOSYS, "-r dv needs %s, which this %s lacks: install a newer %s", missing,
				 libraries[VERBS].file, libraries[VERBS].package);
	missing = with_cc ? FIND(handle[VERBS], cc, ret) : NULL;
	if (missing)
		return error_set(err, -ENOSYS, "--cc_group_hints needs %s, which this %s lacks: install a newer %s",
				 missing, libraries[VERBS].file, libraries[VERBS].package);
	return 0;
}

int dv_library_states(void *plugin, struct doca_calls *ret, struct error *err)
{
	const char *missing = FIND(plugin, states, ret);

	return missing ? error_set(err, -ENOSYS,
				   "--engine gpunetio needs %s, which its plug-in's library lacks: build both anew",
				   missing)
		       : 0;
}
