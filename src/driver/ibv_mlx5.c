/* libmlx5's own functions, found by name: the library is opened on first use, as few devices and tests need it. */
#include "driver/ibv.h"

#include <dlfcn.h>

void *ib_mlx5_find(const char *name)
{
	void *library = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *found;

	if (!library)
		return NULL;
	found = dlsym(library, name);
	dlclose(library);
	return found;
}
