/* Memory that a provider takes for each endpoint: what all of them would need is refused before it is gone. */
#include "driver/ofi.h"

#include "base/procfs.h"
#include "base/units.h"

#include <errno.h>

#define KIB   1024u
#define LARGE (4u << 20) /* bytes an endpoint: less is not worth a look */

static uint64_t taken(void)
{
	return procfs_number("/proc/self/status", "VmRSS:") * KIB;
}

/* The first one shows how much they take. */
void ofi_room_end(const struct ofi_ep *ep)
{
	struct ofi_port *p = ofi_ep_port(ep);
	const uint64_t now = ep->ep.index ? 0 : taken();

	if (!ep->ep.index)
		p->ep_bytes = now > p->ep_bytes ? now - p->ep_bytes : 0;
}

int ofi_room_begin(const struct ofi_ep *ep, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	const uint64_t left = (p->conf.workers - p->conf.worker) * p->spec->qps - ep->ep.index;
	const uint64_t there = ep->ep.index ? procfs_number("/proc/meminfo", "MemAvailable:") * KIB : 0;
	char one[UNITS_TEXT], free[UNITS_TEXT];

	if (!ep->ep.index)
		p->ep_bytes = taken();
	if (p->ep_bytes < LARGE || !there || there / p->ep_bytes >= left)
		return 0;
	return error_set(err, -ENOMEM,
			 "each endpoint of libfabric's provider %s takes %sB of memory: %llu more do not fit in the "
			 "%sB that are free here; ask for fewer --qps or --num_processes%s",
			 p->info->fabric_attr->prov_name,
			 units_format_size(p->ep_bytes & ~(uint64_t)(KIB * KIB - 1), one), (unsigned long long)left,
			 units_format_size(there & ~(uint64_t)(KIB * KIB - 1), free),
			 spec_verbs(p->spec) & ATOMIC_VERBS ? "" : ", or try -d net");
}
