/* The DOCA Verbs driver: opens DOCA's libraries on demand, and says which one is missing, where it was looked for, and its package. */
#include "driver/dv.h"

#include "driver/ibv.h"
#include "spec/doca.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARIES 2
#define PLUGIN    "fabperf-gpunetio.so"

/* In the order in which they must be opened. */
static const struct library {
	const char *file, *package;
} libraries[LIBRARIES] = {
	{ "libdoca_common.so", "doca-sdk-common" },
	{ "libdoca_verbs.so", "doca-sdk-verbs" },
};

/* Of the second: a version that lacks one is too old. */
static const char *const needed[] = {
	"doca_verbs_bridge_verbs_context_import",
	"doca_verbs_pd_create",
	"doca_verbs_bridge_verbs_pd_get_ibv_pd",
	"doca_verbs_cq_create",
	"doca_verbs_qp_create",
	"doca_verbs_qp_get_qpn",
	"doca_verbs_qp_modify",
	"doca_verbs_ah_attr_create",
	"doca_verbs_bridge_post_send",
	"doca_verbs_bridge_post_recv",
	"doca_verbs_bridge_poll_cq",
};

static const char *where(const char *folder)
{
	return folder ? folder : "the loader's path";
}

/* Not there, or there and broken: the loader's own words then. */
static int not_opened(const struct library *library, const char *folder, const char *path, struct error *err)
{
	const char *why = dlerror();

	if (folder && access(path, F_OK) == 0)
		return error_set(err, -ELIBACC, "-r dv cannot open %s: %s", path, why ? why : "no reason is given");
	return error_set(
		err, -ENOENT, "-r dv needs DOCA's %s, which is not in %s%s: install the package %s, or %s",
		library->file, where(folder), folder ? " (DOCA_SDK_LIB_PATH)" : "", library->package,
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
	*ret = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	return *ret ? 0 : not_opened(library, folder, path, err);
}

static int find_all(void *library, struct error *err)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!dlsym(library, needed[i]))
			return error_set(err, -ENOSYS, "-r dv needs %s, which this %s lacks: install a newer %s",
					 needed[i], libraries[LIBRARIES - 1].file, libraries[LIBRARIES - 1].package);
	return 0;
}

/* The block of hints is as long as the option says. */
static int check_hints(const struct spec *spec, struct error *err)
{
	struct cc_hints hints;
	struct stat file;
	int rc = spec->cc_group_hints[0] ? cc_hints_parse(spec->cc_group_hints, &hints, err) : 0;

	if (rc || !spec->cc_group_hints[0])
		return rc;
	if (stat(hints.path, &file))
		return error_sys(err, -errno, "--cc_group_hints: cannot read %s", hints.path);
	if (!S_ISREG(file.st_mode) || (uint64_t)file.st_size != hints.size)
		return error_set(err, -EINVAL, "--cc_group_hints: %s has %lld bytes, not %llu", hints.path,
				 (long long)file.st_size, (unsigned long long)hints.size);
	return 0;
}

/* Beside the executable, else on the loader's path. */
static int check_plugin(const struct spec *spec, struct error *err)
{
	char path[512] = "";
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof(PLUGIN) - 1);
	void *plugin;

	if (spec->engine != ENGINE_GPUNETIO)
		return 0;
	while (len > 0 && path[len - 1] != '/')
		len--;
	snprintf(path + (len > 0 ? len : 0), sizeof(PLUGIN), PLUGIN);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		return error_set(
			err, -ENOENT,
			"--engine gpunetio needs a plug-in, which is neither %s nor on the loader's path and does not "
			"come with this version: use --engine cpu",
			path);
	dlclose(plugin);
	return 0;
}

static int dv_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	void *library[LIBRARIES] = { NULL };
	int rc = check_hints(conf->spec, err);

	(void)ret;
	if (!rc)
		rc = check_plugin(conf->spec, err);
	for (int i = 0; !rc && i < LIBRARIES; i++)
		rc = open_library(&libraries[i], &library[i], err);
	if (!rc)
		rc = find_all(library[LIBRARIES - 1], err);
	if (!rc)
		rc = error_set(
			err, -ENOSYS,
			"DOCA's libraries are here, but this version of fabperf does not send over them yet: use -r "
			"ibv, which drives the same device");
	for (int i = LIBRARIES - 1; i >= 0; i--)
		if (library[i])
			dlclose(library[i]);
	return rc;
}

/* No port of it is ever open, so nothing else is ever asked. */
const struct driver driver_dv = {
	.name = "dv",
	.kind = DRIVER_DV,
	.has_device = ib_dev_exists,
	.open = dv_open,
	.reg = driver_no_reg,
	.unreg = driver_no_unreg,
	.wait = driver_no_wait,
};
