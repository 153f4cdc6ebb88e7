/* Endpoints of the libfabric driver: created, bound to their queues, their memory registered as the provider asks. */
#include "driver/ofi.h"

#include "mem/mem.h"

#include <errno.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

struct region {
	struct fid_mr *mr; /* NULL with FI_MR_ENDPOINT: then each endpoint registers the same memory for itself */
};

static int open_av(struct ofi_ep *ep, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	struct fi_av_attr attr = { .type = p->info->domain_attr->av_type, .count = 1 };
	int rc;

	if (ofi_ep_type(p) == FI_EP_MSG)
		return 0;
	if (attr.type == FI_AV_UNSPEC)
		attr.type = FI_AV_TABLE;
	rc = fi_av_open(p->domain, &attr, &ep->av, NULL);
	if (rc)
		return ofi_error(p, "fi_av_open", rc, err);
	rc = fi_ep_bind(ep->fid, &ep->av->fid, 0);
	return rc ? ofi_error(p, "fi_ep_bind to an address vector", rc, err) : 0;
}

static int make(struct ofi_ep *ep, struct fi_info *info, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	int rc = fi_endpoint(p->domain, info, &ep->fid, ep);
	if (rc)
		return ofi_error(p, "fi_endpoint", rc, err);
	rc = fi_ep_bind(ep->fid, &p->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc)
		return ofi_error(p, "fi_ep_bind to a completion queue", rc, err);
	rc = open_av(ep, err);
	if (!rc && p->eq) {
		rc = fi_ep_bind(ep->fid, &p->eq->fid, 0);
		if (rc)
			return ofi_error(p, "fi_ep_bind to an event queue", rc, err);
	}
	if (rc)
		return rc;
	rc = fi_enable(ep->fid);
	return rc ? ofi_error(p, "fi_enable", rc, err) : 0;
}

int ofi_ep_make(struct ofi_ep *ep, struct fi_info *info, struct error *err)
{
	int rc = ofi_shm_room(ep, err);

	if (rc == 0)
		rc = ofi_room_begin(ep, err);
	if (rc == 0)
		rc = make(ep, info, err);
	ofi_room_end(ep);
	return rc;
}

static uint64_t access_of(const struct spec *spec)
{
	const uint64_t messages = FI_SEND | FI_RECV;

	if (spec_verbs(spec) & ~VERB_BIT(VERB_SEND))
		return messages | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	return messages;
}

int ofi_reg(struct port *port, struct mem *mem, struct region **ret, struct error *err)
{
	struct ofi_port *p = ofi_port_of(port);
	struct region *region = calloc(1, sizeof(*region));
	int rc = 0;

	if (!region)
		return error_set(err, -ENOMEM, "no memory for a memory region");
	if (!(p->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
		rc = fi_mr_reg(p->domain, mem->data, mem->size, access_of(p->spec), 0, 0, 0, &region->mr, NULL);
	if (rc) {
		free(region);
		return ofi_error(p, "fi_mr_reg", rc, err);
	}
	*ret = region;
	return 0;
}

void ofi_unreg(struct region *region)
{
	if (!region)
		return;
	if (region->mr)
		fi_close(&region->mr->fid);
	free(region);
}

/* Memory of one endpoint: bound to it where the provider wants that. */
static int reg_for(struct ofi_ep *ep, void *data, size_t size, uint64_t key, struct fid_mr **ret, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	int rc = fi_mr_reg(p->domain, data, size, access_of(p->spec), 0, key, 0, ret, NULL);

	if (rc)
		return ofi_error(p, "fi_mr_reg", rc, err);
	if (!(p->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
		return 0;
	rc = fi_mr_bind(*ret, &ep->fid->fid, 0);
	if (!rc)
		rc = fi_mr_enable(*ret);
	return rc ? ofi_error(p, "fi_mr_bind", rc, err) : 0;
}

static int check_atomics(const struct ofi_ep *ep, struct error *err)
{
	const struct ofi_port *p = ofi_ep_port(ep);
	const uint32_t verbs = spec_verbs(p->spec);
	size_t adds = 1, swaps = 1;

	if (verbs & VERB_BIT(VERB_ATOMIC_FA) && fi_fetch_atomicvalid(ep->fid, FI_UINT64, FI_SUM, &adds))
		adds = 0;
	if (verbs & VERB_BIT(VERB_ATOMIC_CS) && fi_compare_atomicvalid(ep->fid, FI_UINT64, FI_CSWAP, &swaps))
		swaps = 0;
	if (adds && swaps)
		return 0;
	return error_set(err, -EOPNOTSUPP, "libfabric's provider %s has no %s of 64 bits: choose another --verb or -d",
			 p->info->fabric_attr->prov_name, verb_name(adds ? VERB_ATOMIC_CS : VERB_ATOMIC_FA));
}

/* A provider that wants all local memory registered wants the atomics' operands, too. */
static int register_operand(struct ofi_ep *ep, struct error *err)
{
	const struct ofi_port *p = ofi_ep_port(ep);
	const uint64_t key = p->spec->qps + ep->ep.index + 1;
	int rc;

	ep->operand[0] = 1;
	if (!(spec_verbs(p->spec) & ATOMIC_VERBS) || !(p->info->domain_attr->mr_mode & FI_MR_LOCAL))
		return 0;
	rc = reg_for(ep, ep->operand, sizeof(ep->operand), key, &ep->operand_mr, err);
	if (!rc)
		ep->operand_desc = fi_mr_desc(ep->operand_mr);
	return rc;
}

int ofi_ep_register(struct ofi_ep *ep, struct error *err)
{
	const struct ofi_port *p = ofi_ep_port(ep);
	const struct mem *mem = ep->conf.mem;
	struct fid_mr *mr = ep->conf.region->mr;
	int rc = mr ? 0 : reg_for(ep, mem->data, mem->size, ep->ep.index + 1, &ep->mr, err);

	if (!rc)
		rc = register_operand(ep, err);
	if (rc)
		return rc;
	mr = mr ? mr : ep->mr;
	ep->desc = fi_mr_desc(mr);
	ep->own.key = fi_mr_key(mr);
	ep->own.index = ep->ep.index;
	ep->own.offset = ep->conf.rx_offset;
	ep->own.slots = ep->conf.rx_slots;
	ep->own.base = p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)mem->data : 0;
	if (ep->own.key == FI_KEY_NOTAVAIL)
		return error_set(err, -EOPNOTSUPP, "libfabric's provider %s has keys of memory that do not fit 64 bits",
				 p->info->fabric_attr->prov_name);
	return ep->fid ? check_atomics(ep, err) : 0;
}

void ofi_ep_free(struct ofi_ep *ep)
{
	/* Bound to the endpoint, or it to them: the endpoint goes first where it uses them. */
	if (ep->fid)
		fi_close(&ep->fid->fid);
	if (ep->av)
		fi_close(&ep->av->fid);
	if (ep->mr)
		fi_close(&ep->mr->fid);
	if (ep->operand_mr)
		fi_close(&ep->operand_mr->fid);
	ofi_queue_free(&ep->tx);
	ofi_queue_free(&ep->rx);
	ep->fid = NULL;
	ep->av = NULL;
	ep->mr = ep->operand_mr = NULL;
	ep->connected = false;
}
