/* The kinds of memory there are, and what is the same for all of them. */
#include "mem/mem.h"

#include "spec/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct mem_kind_row *const kinds[] = { &mem_host, &mem_nullmr, &mem_device };

static const struct {
	const char *name, *key; /* key: of the fact that says why it was not possible */
} ways[MEM_WAYS] = {
	[MEM_BY_ADDRESS] = { "address", NULL },
	[MEM_BY_NULL] = { "null memory region", NULL },
	[MEM_BY_DEVICE] = { "device memory", NULL },
};

const char *mem_way_name(enum mem_way way)
{
	return ways[way].name;
}

static const struct mem_kind_row *find(uint32_t kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->kind == kind)
			return kinds[i];
	return NULL;
}

int mem_alloc(const struct mem_conf *conf, struct mem **ret, struct error *err)
{
	const struct mem_kind_row *kind = find(conf->spec->mem);
	struct mem *mem = calloc(1, sizeof(*mem));
	int rc;

	if (!mem)
		return error_set(err, -ENOMEM, "no memory");
	*mem = (struct mem){ .kind = kind, .size = conf->size, .topo = conf->topo, .node = -1 };
	rc = kind ? kind->alloc(conf, mem, err)
		  : error_set(err, -EPROTO, "this executable has no such memory (%s)", mem_name(conf->spec->mem));
	if (rc) {
		mem_free(mem);
		return rc;
	}
	*ret = mem;
	return 0;
}

void mem_free(struct mem *mem)
{
	if (!mem)
		return;
	if (mem->kind)
		mem->kind->release(mem);
	free(mem);
}

void mem_facts(const struct mem *mem, struct facts *ret)
{
	if (mem->ways != MEM_WAY(mem->way))
		facts_add(ret, "registration", "Registered by", "%s", ways[mem->way].name);
	for (int way = 0; way < (int)mem->way; way++)
		if (mem->why_not[way][0] && ways[way].key)
			facts_add(ret, ways[way].key, ways[way].name, "%s", mem->why_not[way]);
	mem->kind->facts(mem, ret);
}
