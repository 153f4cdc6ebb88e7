/* What libfabric's shm provider keeps in /dev/shm: room for it, names that say whose it is, and nothing of the dead. */
#include "driver/ofi.h"

#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER       "/dev/shm"
#define OWN_NAME     128
#define RECEIVE_ROOM 4096u /* what an endpoint's file takes for each receive of its queue, */
#define OTHER_ROOM   (2u << 20) /* and besides */
#define CORE_ROOM    (16ull << 20) /* of each core, without which there is no such provider */

static bool is_shm(const struct ofi_port *p)
{
	return strcmp(p->info->fabric_attr->prov_name, "shm") == 0;
}

static uint64_t room(void)
{
	struct statvfs fs;

	return statvfs(FOLDER, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* What the names of all processes begin with whose numbers mean the same as here. */
static void own_names(char ret[OWN_NAME])
{
	struct stat space = { 0 };

	stat("/proc/self/ns/pid", &space);
	snprintf(ret, OWN_NAME, "fabperf-%llu-", (unsigned long long)space.st_ino);
}

/* Whether a file is of a process that has ended: "fabperf-SPACE-PID:UID:NUMBER". */
static bool is_stale(const char *name, const char *own)
{
	char text[32];
	uint64_t pid;

	if (strncmp(name, own, strlen(own)) != 0)
		return false;
	name += strlen(own);
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(name, ":"), name);
	return units_parse_int(text, &pid, NULL) == 0 && pid > 0 && pid < INT32_MAX && kill((pid_t)pid, 0) &&
	       errno == ESRCH;
}

static void remove_stale(const char *own)
{
	DIR *folder = opendir(FOLDER);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (is_stale(entry->d_name, own))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

int ofi_shm_open(struct ofi_port *p, struct error *err)
{
	char own[OWN_NAME], name[OWN_NAME + 32];

	if (!is_shm(p))
		return 0;
	own_names(own);
	remove_stale(own);
	snprintf(name, sizeof(name), "fi_shm://%s%d", own, (int)getpid());
	free(p->info->src_addr);
	p->info->src_addr = strdup(name);
	p->info->src_addrlen = strlen(name) + 1;
	return p->info->src_addr ? 0 : error_set(err, -ENOMEM, "no memory for a name in " FOLDER);
}

/* Room for two: the other side may have looked for its next endpoint at the same moment, and take it just after us. */
int ofi_shm_room(const struct ofi_ep *ep, struct error *err)
{
	const struct ofi_port *p = ofi_ep_port(ep);
	const uint64_t need = 2 * (p->info->rx_attr->size * RECEIVE_ROOM + OTHER_ROOM), left = room();
	char needed[UNITS_TEXT], there[UNITS_TEXT];

	if (!is_shm(p) || need <= left)
		return 0;
	return error_set(
		err, -ENOSPC,
		FOLDER
		" is full: endpoint %u of %llu of libfabric's provider shm and the other side's need %sB there, and "
		"%sB are free: enlarge it ('mount -o remount,size=...', docker's --shm-size), or ask for "
		"fewer --qps or --workers, or -d tcp",
		ep->ep.index + 1, (unsigned long long)p->spec->qps, units_format_size(need, needed),
		units_format_size(left & ~1023ull, there));
}

int ofi_shm_missing(const char *device, struct error *err)
{
	const uint64_t left = room(), need = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * CORE_ROOM;
	char needed[UNITS_TEXT], there[UNITS_TEXT];

	if (strncmp(device, "shm", 3) != 0 || left >= need)
		return 0;
	return error_set(err, -ENOSPC,
			 "libfabric has its provider shm only where %sB are free in " FOLDER
			 " (%lluMiB for each core), "
			 "and %sB are: enlarge it ('mount -o remount,size=...', docker's --shm-size), or take -d tcp",
			 units_format_size(need, needed), CORE_ROOM >> 20, units_format_size(left & ~1023ull, there));
}
