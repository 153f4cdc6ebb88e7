/* Finds and opens the MPI plug-in: beside the executable, where it was installed, or in the libraries' folder. */
#include "orch/comm_mpi.h"
#include "orch/mpi_link.h"
#include "orch/reach.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#define PLUGIN "fabperf-mpi.so"

/* Where the plug-in may lie, seen from the executable's folder: as built, as installed for any prefix. */
static const char *const places[] = { "", "../lib/fabperf/", "../lib/x86_64-linux-gnu/fabperf/",
				      "../lib/aarch64-linux-gnu/fabperf/", "../lib64/fabperf/" };

static bool find(char *ret, size_t size)
{
	char own[1024];
	const char *folder;

	own_path(own, sizeof(own));
	folder = dirname(own);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const int n = snprintf(ret, size, "%s/%s%s", folder, places[i], PLUGIN);

		if (n > 0 && (size_t)n < size && access(ret, R_OK) == 0)
			return true;
	}
	return false;
}

int mpi_load(const struct mpi_link **ret, struct error *err)
{
	const struct mpi_link *link;
	char path[1200];
	void *library;

	if (!find(path, sizeof(path)))
		return error_set(err, -ENOENT,
				 "many hosts need the MPI plug-in, %s, which lies neither beside fabperf nor in its "
				 "lib/fabperf: "
				 "install libopenmpi-dev and build again",
				 PLUGIN);
	library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* Open MPI's own plug-ins look for its symbols */
	if (!library)
		return error_set(err, -ELIBACC, "the MPI plug-in cannot be opened (is Open MPI installed?): %.300s",
				 dlerror());
	link = dlsym(library, MPI_LINK_SYMBOL);
	if (!link || link->version != MPI_LINK_VERSION)
		return error_set(err, -ELIBBAD, "%s is not this fabperf's MPI plug-in: install both together", path);
	*ret = link;
	return 0;
}
