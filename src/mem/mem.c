/* The kinds of memory there are, and what is the same for all of them. */
#include "mem/mem.h"

#include "spec/result.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct mem_kind_row *const kinds[] = { &mem_kind_host,        &mem_kind_nullmr,
						    &mem_kind_device,      &mem_kind_cuda,
						    &mem_kind_cuda_auto,   &mem_kind_cuda_peermem,
						    &mem_kind_cuda_dmabuf, &mem_kind_cuda_data_direct };

static const struct {
	const char *name, *key, *label; /* key and label of the fact that says why it was not possible */
} ways[MEM_WAYS] = {
	[MEM_BY_ADDRESS] = { "address", NULL, NULL },
	[MEM_BY_NULL] = { "null memory region", NULL, NULL },
	[MEM_BY_DEVICE] = { "device memory", NULL, NULL },
	[MEM_BY_DATA_DIRECT] = { "data direct", "noDataDirect", "No data direct" },
	[MEM_BY_DMABUF] = { "dmabuf", "noDmabuf", "No dmabuf" },
	[MEM_BY_PEERMEM] = { "peermem", NULL, NULL },
};

const char *mem_way_name(enum mem_way way)
{
	return ways[way].name;
}

void mem_note(struct mem *mem, enum mem_way way, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(mem->why_not[way], MEM_WHY, format, args);
	va_end(args);
}

int mem_offer(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err)
{
	return mem->kind->offer(mem, way, ret_fd, err);
}

int mem_no_offer(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err)
{
	(void)mem;
	(void)way;
	(void)err;
	*ret_fd = -1;
	return 0;
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
	*mem = (struct mem){ .kind = kind, .size = conf->size, .host = *conf->host, .node = -1, .gpu = -1 };
	mem->ways = kind ? kind->ways : 0;
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
	if (mem->way > MEM_BY_DEVICE)
		facts_add(ret, "registration", "Registered by", "%s", ways[mem->way].name);
	for (int way = 0; way < (int)mem->way; way++)
		if (mem->why_not[way][0] && ways[way].key)
			facts_add(ret, ways[way].key, ways[way].label, "%s", mem->why_not[way]);
	mem->kind->facts(mem, ret);
}
