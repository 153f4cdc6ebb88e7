/* Which cores a rank's workers run on. */
#include "base/buf.h"
#include "orch/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The boot id names the running kernel: ranks with the same one share its cores. */
void machine_name(char *ret, size_t size)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	ret[0] = 0;
	if (!file)
		return;
	if (fgets(ret, (int)size, file))
		ret[strcspn(ret, "\n")] = 0;
	fclose(file);
}

void placement_pack(const struct placement *p, struct buf *to)
{
	buf_put_string(to, p->machine);
	buf_put_u32(to, p->cores.count);
	for (unsigned i = 0; i < p->cores.count; i++)
		buf_put_u16(to, p->cores.core[i]);
}

int placement_unpack(struct placement *ret, struct cursor *from)
{
	cursor_string(from, ret->machine, sizeof(ret->machine));
	ret->cores.count = cursor_u32(from);
	if (ret->cores.count > TOPO_MAX_CORES)
		return -EPROTO;
	for (unsigned i = 0; i < ret->cores.count; i++)
		ret->cores.core[i] = cursor_u16(from);
	return from->failed;
}

static bool same_machine(const struct placement *a, const struct placement *b)
{
	return a->machine[0] && strcmp(a->machine, b->machine) == 0;
}

static int choose_asked(struct run *run, struct placement *ret, struct error *err)
{
	int rc = core_list_parse(run->spec.cores, &ret->cores, err);

	return rc < 0 ? rc : topo_check(run->conf->topo, &ret->cores, err);
}

int placement_choose(struct run *run, const struct placement *other, struct placement *ret, struct error *err)
{
	const struct topo *topo = run->conf->topo;
	int device_node = topo_device_node(topo, run->spec.device);
	struct core_list exclude, none = { 0 };
	int rc;

	machine_name(ret->machine, sizeof(ret->machine));
	if (run->spec.cores[0]) {
		rc = choose_asked(run, ret, err);
	} else {
		rc = core_list_parse(run->spec.exclude_cores, &exclude, err);
		if (rc == 0)
			rc = topo_choose(topo, device_node, run->workers, &exclude,
					 other && same_machine(ret, other) ? &other->cores : &none, &ret->cores, err);
	}
	if (rc < 0)
		return rc;
	run->cores = ret->cores;
	run->node = device_node >= 0 ? device_node : topo_core_node(topo, ret->cores.core[0]);
	return 0;
}

bool placement_shared(const struct placement *mine, const struct placement *other)
{
	for (unsigned i = 0; i < mine->cores.count; i++) {
		if (same_machine(mine, other) && core_list_has(&other->cores, mine->cores.core[i]))
			return true;
		for (unsigned j = 0; j < i; j++) {
			if (mine->cores.core[i] == mine->cores.core[j])
				return true;
		}
	}
	return false;
}
