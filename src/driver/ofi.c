/* The libfabric driver: a port of one provider's domain for one worker, and its endpoints. */
#include "driver/ofi.h"

#include "mem/mem.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#define CQ_MIN 256u

static void port_close(struct port *port)
{
	struct ofi_port *p = (struct ofi_port *)port;

	if (!p)
		return;
	for (uint64_t i = 0; p->eps && i < p->spec->qps; i++)
		ofi_ep_free(&p->eps[i]);
	ofi_msg_close(p);
	if (p->cq)
		fi_close(&p->cq->fid);
	if (p->domain)
		fi_close(&p->domain->fid);
	if (p->fabric)
		fi_close(&p->fabric->fid);
	fi_freeinfo(p->info);
	free(p->eps);
	free(p);
}

static int open_cq(struct ofi_port *p, struct error *err)
{
	const struct spec *spec = p->spec;
	const bool events = spec->events == CHOICE_ON;
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA,
				   .size = (PORT_MOST(&p->conf, tx_depth) + PORT_MOST(&p->conf, rx_depth)) * spec->qps,
				   .wait_obj = events ? FI_WAIT_FD : FI_WAIT_NONE };
	int rc;

	if (attr.size < CQ_MIN)
		attr.size = CQ_MIN;
	rc = fi_cq_open(p->domain, &attr, &p->cq, NULL);
	if (!rc && events)
		rc = fi_control(&p->cq->fid, FI_GETWAIT, &p->cq_fd);
	if (rc && events)
		return error_set(err, -EOPNOTSUPP,
				 "--events has no effect with libfabric's provider %s: it can only poll (%s)",
				 p->info->fabric_attr->prov_name, fi_strerror(-rc));
	return rc ? ofi_error(p, "fi_cq_open", rc, err) : 0;
}

static int open_all(struct ofi_port *p, struct error *err)
{
	int rc = ofi_info_find(p, err);

	if (rc == 0)
		rc = ofi_shm_open(p, err);
	if (rc)
		return rc;
	rc = fi_fabric(p->info->fabric_attr, &p->fabric, NULL);
	if (rc)
		return ofi_error(p, "fi_fabric", rc, err);
	rc = fi_domain(p->fabric, p->info, &p->domain, NULL);
	if (rc)
		return ofi_error(p, "fi_domain", rc, err);
	rc = open_cq(p, err);
	return rc ? rc : ofi_msg_open(p, err);
}

static int port_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	struct ofi_port *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "no memory for a port of libfabric");
	p->port.drv = &driver_ofi;
	p->conf = *conf;
	p->spec = conf->spec;
	p->cq_fd = -1;
	p->eps = calloc(conf->spec->qps, sizeof(*p->eps));
	rc = p->eps ? open_all(p, err)
		    : error_set(err, -ENOMEM, "no memory for %llu endpoints", (unsigned long long)conf->spec->qps);
	if (rc) {
		port_close(&p->port);
		return rc;
	}
	*ret = &p->port;
	return 0;
}

static uint32_t clamp_u32(size_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void port_caps(const struct port *port, struct caps *ret)
{
	const struct ofi_port *p = (const struct ofi_port *)port;
	const struct fi_info *info = p->info;

	*ret = (struct caps){
		.max_size = info->ep_attr->max_msg_size,
		.max_tx_depth = clamp_u32(info->tx_attr->size),
		.max_rx_depth = clamp_u32(info->rx_attr->size),
		.max_qps = clamp_u32(info->domain_attr->ep_cnt),
		.stride_align = OFI_ALIGN,
		.delivery = p->delivered,
		/* passive_idle: not even where the provider says that it makes progress by itself (tcp of 1.17 does not) */
		.can_wait = p->cq_fd >= 0,
		.shows = true,
		.counts_ops = true,
	};
}

static int set_own(struct ofi_ep *ep, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	struct fid *named = ep->fid ? &ep->fid->fid : &p->pep->fid;
	size_t len = sizeof(ep->own.name);
	int rc = fi_getname(named, ep->own.name, &len);

	if (rc)
		return ofi_error(p, "fi_getname", rc, err);
	ep->own.name_len = (uint32_t)len;
	ep->own.type = (uint8_t)ofi_ep_type(p);
	ep->own.token = p->token;
	strncpy(ep->own.provider, p->info->fabric_attr->prov_name, sizeof(ep->own.provider) - 1);
	return 0;
}

static int ep_open(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err)
{
	struct ofi_port *p = ofi_port_of(port);
	struct ofi_ep *ep = &p->eps[conf->index];
	int rc = 0;

	ep->ep = (struct ep){ .port = port, .index = conf->index };
	ep->conf = *conf;
	if (!p->pep) /* a passive MSG endpoint comes with the request to connect */
		rc = ofi_ep_make(ep, p->info, err);
	if (!rc)
		rc = ofi_ep_register(ep, err);
	if (!rc)
		rc = set_own(ep, err);
	if (rc) {
		ofi_ep_free(ep);
		return rc;
	}
	*ret = &ep->ep;
	return 0;
}

static int ep_addr(struct ep *base, struct buf *to, struct error *err)
{
	(void)err;
	ofi_addr_pack(&ofi_ep_of(base)->own, to);
	return 0;
}

static int insert_peer(struct ofi_ep *ep, struct error *err)
{
	int rc = fi_av_insert(ep->av, ep->peer.name, 1, &ep->dest, 0, NULL);

	return rc == 1 ? 0 : ofi_error(ofi_ep_port(ep), "fi_av_insert", rc < 0 ? rc : -EIO, err);
}

static int connect_by_type(struct ofi_ep *ep, int64_t deadline_ns, struct error *err)
{
	const enum fi_ep_type type = ofi_ep_type(ofi_ep_port(ep));
	int rc = type == FI_EP_MSG ? ofi_msg_connect(ep, deadline_ns, err) : insert_peer(ep, err);

	return rc == 0 && type == FI_EP_RDM ? ofi_hello(ep, deadline_ns, err) : rc;
}

static int ep_connect(struct ep *base, struct cursor *from, int64_t deadline_ns, struct error *err)
{
	struct ofi_ep *ep = ofi_ep_of(base);
	int rc = ofi_addr_unpack(&ep->peer, from, err);

	if (!rc)
		rc = ofi_addr_check(&ep->own, &ep->peer, err);
	if (!rc)
		rc = connect_by_type(ep, deadline_ns, err);
	ep->target = ep->peer.base + ep->peer.offset;
	ep->connected = !rc;
	return rc;
}

static int ep_cut(struct ep *base, const struct ep_conf *conf, struct error *err)
{
	struct ofi_ep *ep = ofi_ep_of(base);

	(void)err;
	ep->conf = *conf;
	ep->target = ep->peer.base + conf->rx_offset; /* between two hosts: the peer's are cut as ours are */
	ep->peer.slots = conf->rx_slots;
	return 0;
}

static void ep_close(struct ep *base)
{
	if (base)
		ofi_ep_free(ofi_ep_of(base));
}

static uint8_t *tx_slot(struct ep *base)
{
	const struct ofi_ep *ep = ofi_ep_of(base);

	if (!ep->tx.left)
		return NULL;
	return ep->conf.mem->data + ep->conf.tx_offset + ofi_slot(ep, &ep->from, ep->tx.idle[ep->tx.left - 1]);
}

static uint8_t *rx_slot(struct ep *base)
{
	const struct ofi_ep *ep = ofi_ep_of(base);

	return ep->conf.mem->data + ep->conf.rx_offset;
}

static void counters(const struct ep *base, struct counters *ret)
{
	const struct ofi_ep *ep = (const struct ofi_ep *)base;

	*ret = (struct counters){ .bad = ep->bad, .shortfall = ep->shortfall };
	memcpy(ret->op_sent, ep->done, sizeof(ret->op_sent));
}

const struct driver driver_ofi = {
	.name = "ofi",
	.kind = DRIVER_OFI,
	.has_device = ofi_has_provider,
	.message_max = ofi_message_max,
	.open = port_open,
	.caps = port_caps,
	.facts = ofi_port_facts,
	.nic = ofi_port_nic,
	.close = port_close,
	.reg = ofi_reg,
	.unreg = ofi_unreg,
	.ep_open = ep_open,
	.ep_addr = ep_addr,
	.ep_connect = ep_connect,
	.ep_close = ep_close,
	.ep_cut = ep_cut,
	.finish = driver_no_half,
	.prepare = ofi_prepare,
	.tx_slot = tx_slot,
	.rx_slot = rx_slot,
	.post = ofi_post,
	.post_rx = ofi_post_rx,
	.poll = ofi_poll,
	.wait = ofi_wait,
	.counters = counters,
};
