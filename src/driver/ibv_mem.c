/* Registers memory with an RDMA device: each way to do it, tried from the best on, and why one failed. */
#include "driver/ibv.h"

#include "base/units.h"
#include "mem/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One try to register one worker's buffers in one way. */
struct attempt {
	struct ib_port *p;
	struct mem *mem;
	struct region *region;
	enum mem_way way;
	struct error *err;
};

/* The call failed with an errno. */
static int failed(const struct attempt *a, const char *call, int code)
{
	code = code ? code : EIO;
	mem_note(a->mem, a->way, "%s: %s", call, strerror(code));
	return ib_fail(a->err, code, call, "cannot register %zu bytes of %s with RDMA device %s", a->mem->size,
		       a->mem->kind->name, a->p->name);
}

static int by_address(const struct attempt *a)
{
	if (a->p->tph) {
		a->region->mr = ib_tph_reg(a->p, a->mem->data, a->mem->size, ib_access(a->p->spec));
		return a->region->mr ? 0 : failed(a, "ibv_reg_mr_ex", errno);
	}
	a->region->mr = ibv_reg_mr(a->p->pd, a->mem->data, a->mem->size, ib_access(a->p->spec));
	return a->region->mr ? 0 : failed(a, "ibv_reg_mr", errno);
}

static int by_null(const struct attempt *a)
{
	a->region->mr = ibv_alloc_null_mr(a->p->pd);
	return a->region->mr ? 0 : failed(a, "ibv_alloc_null_mr", errno);
}

/* How much memory a device has for its users; 0 = none, or it does not say. */
static int device_memory(const struct attempt *a, uint64_t *ret)
{
	struct ibv_device_attr_ex attr = { 0 };
	int code = ibv_query_device_ex(a->p->context, NULL, &attr);

	if (code)
		return failed(a, "ibv_query_device_ex", code);
	*ret = attr.max_dm_size;
	return 0;
}

static int check_capacity(const struct attempt *a)
{
	const unsigned workers = a->p->conf.workers;
	char need[UNITS_TEXT], most[UNITS_TEXT], all[64] = "";
	uint64_t has = 0;
	int rc = device_memory(a, &has);

	if (rc || a->mem->size * workers <= has)
		return rc;
	if (!has)
		return error_set(a->err, -EOPNOTSUPP,
				 "RDMA device %s offers no memory of its own (-M device): use -M host", a->p->name);
	if (workers > 1)
		snprintf(all, sizeof(all), "%u workers of ", workers);
	return error_set(a->err, -ENOSPC,
			 "RDMA device %s has %sB of memory of its own (-M device) and the test needs %s%sB: give a "
			 "smaller --working_set, -s, -q or -N",
			 a->p->name, units_format_size(has, most), all, units_format_size(a->mem->size, need));
}

static int by_device(const struct attempt *a)
{
	struct ibv_alloc_dm_attr attr = { .length = a->mem->size };
	int rc = check_capacity(a);

	if (rc)
		return rc;
	a->region->dm = ibv_alloc_dm(a->p->context, &attr);
	if (!a->region->dm)
		return failed(a, "ibv_alloc_dm", errno);
	a->region->mr =
		ibv_reg_dm_mr(a->p->pd, a->region->dm, 0, a->mem->size, ib_access(a->p->spec) | IBV_ACCESS_ZERO_BASED);
	return a->region->mr ? 0 : failed(a, "ibv_reg_dm_mr", errno);
}

/* A file descriptor of the GPU's memory becomes a region; the region keeps what it needs of it. */
static int by_dmabuf(const struct attempt *a)
{
	int fd, code, rc = mem_offer(a->mem, a->way, &fd, a->err);

	if (rc)
		return rc;
	a->region->mr = ibv_reg_dmabuf_mr(a->p->pd, 0, a->mem->size, a->mem->base, fd, (int)ib_access(a->p->spec));
	code = errno;
	close(fd);
	return a->region->mr ? 0 : failed(a, "ibv_reg_dmabuf_mr", code);
}

static int by_data_direct(const struct attempt *a)
{
	struct ib_direct direct;
	int fd, code = ib_direct_find(a->p->context, &direct), rc;

	if (code) {
		mem_note(a->mem, a->way, "%s: %s", direct.call, strerror(code));
		return error_set(
			a->err, -code,
			"RDMA device %s has no data direct path (%s): %s: that needs a ConnectX-8 or newer with "
			"its own PCIe function for it, and rdma-core 57",
			a->p->name, direct.call, strerror(code));
	}
	rc = mem_offer(a->mem, a->way, &fd, a->err);
	if (rc)
		return rc;
	errno = 0;
	a->region->mr =
		direct.reg(a->p->pd, 0, a->mem->size, a->mem->base, fd, (int)ib_access(a->p->spec), IB_DIRECT_ACCESS);
	code = errno;
	close(fd);
	return a->region->mr ? 0 : failed(a, "mlx5dv_reg_dmabuf_mr", code);
}

static int by_peermem(const struct attempt *a)
{
	int fd, rc = mem_offer(a->mem, a->way, &fd, a->err);

	if (rc)
		return rc;
	errno = 0;
	a->region->mr = ibv_reg_mr(a->p->pd, (void *)(uintptr_t)a->mem->base, a->mem->size, ib_access(a->p->spec));
	return a->region->mr ? 0 : failed(a, "ibv_reg_mr", errno);
}

static void no_hints(const struct attempt *a)
{
	snprintf(a->mem->why_not[a->way], MEM_WHY, "takes no --ph");
	error_set(a->err, -EINVAL, "--ph has no effect on %s: processing hints are for memory that has an address here",
		  a->mem->kind->name);
}

static int (*const by[MEM_WAYS])(const struct attempt *) = {
	[MEM_BY_ADDRESS] = by_address,         [MEM_BY_NULL] = by_null,     [MEM_BY_DEVICE] = by_device,
	[MEM_BY_DATA_DIRECT] = by_data_direct, [MEM_BY_DMABUF] = by_dmabuf, [MEM_BY_PEERMEM] = by_peermem,
};

static void undo(const struct ib_port *p, struct region *region)
{
	if (region->mr)
		ib_kept(p, ibv_dereg_mr(region->mr), "ibv_dereg_mr", "a memory region");
	if (region->dm)
		ib_kept(p, ibv_free_dm(region->dm), "ibv_free_dm", "its own memory");
	region->mr = NULL;
	region->dm = NULL;
}

/* All ways failed: the reason of the only one, or the reasons of all. */
static int give_up(const struct ib_port *p, const struct mem *mem, const struct error *last, struct error *err)
{
	char text[3 * (MEM_WHY + 24)] = "";
	size_t len = 0;

	if ((mem->ways & (mem->ways - 1)) == 0)
		return error_set(err, last->code, "%s", last->text);
	for (int way = 0; way < MEM_WAYS; way++)
		if (mem->ways & MEM_WAY(way) && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s: %s", len ? "; " : "",
						mem_way_name((enum mem_way)way), mem->why_not[way]);
	return error_set(err, last->code, "cannot register %s with RDMA device %s in any way: %s", mem->kind->name,
			 p->name, text);
}

int ib_mem_reg(struct port *port, struct mem *mem, struct region **ret, struct error *err)
{
	struct region *region = calloc(1, sizeof(*region));
	struct error last = { 0 };

	if (!region)
		return error_set(err, -ENOMEM, "no memory for a memory region");
	region->port = ib_port_of(port);
	for (int way = 0; way < MEM_WAYS; way++) {
		struct attempt attempt = { ib_port_of(port), mem, region, (enum mem_way)way, &last };

		if (!(mem->ways & MEM_WAY(way)))
			continue;
		error_clear(&last);
		if (attempt.p->tph && way != MEM_BY_ADDRESS) {
			no_hints(&attempt);
			continue;
		}
		errno = 0;
		if (by[way](&attempt) == 0) {
			mem->way = (enum mem_way)way;
			*ret = region;
			return 0;
		}
		undo(attempt.p, region);
	}
	free(region);
	return give_up(ib_port_of(port), mem, &last, err);
}

void ib_mem_unreg(struct region *region)
{
	if (!region)
		return;
	undo(region->port, region);
	free(region);
}
