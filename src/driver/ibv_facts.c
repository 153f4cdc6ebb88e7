/* Reports what a verbs connection really uses, read back from the device where it can be. */
#include "driver/ibv.h"

#include "spec/result.h"

#include <string.h>

static void device_facts(const struct ib_port *p, struct facts *ret)
{
	bool ethernet = p->attr.link_layer == IBV_LINK_LAYER_ETHERNET;

	facts_add(ret, "device", "Device", "%s", p->name);
	if (p->dev.fw_ver[0])
		facts_add(ret, "firmware", "Firmware", "%.63s", p->dev.fw_ver);
	if (p->dev.vendor_id && p->dev.vendor_id != 0xffffff)
		facts_add(ret, "vendor", "Vendor and part", "0x%x 0x%x", p->dev.vendor_id, p->dev.vendor_part_id);
	facts_add_number(ret, "port", "Device port", p->num);
	facts_add(ret, "linkLayer", "Link layer", "%s", ethernet ? "Ethernet" : "InfiniBand");
	facts_add(ret, "transport", "Transport", "%s", transport_name(p->spec->transport));
	if (!ethernet)
		facts_add_number(ret, "lid", "LID", p->attr.lid);
}

static void path_facts(const struct ib_port *p, const struct ib_ep *ep, struct facts *ret)
{
	char gid[IB_GID_TEXT];

	facts_add_number(ret, "gidIndex", "GID index", p->gid.gid_index);
	facts_add(ret, "gid", "GID", "%s", ib_gid_format(p->gid.gid.raw, gid));
	facts_add(ret, "gidType", "GID type", "%s", ib_gid_type_name(p->gid.gid_type));
	facts_add(ret, "peerGid", "Peer's GID", "%s", ib_gid_format(ep->peer.gid, gid));
	if (!p->grh)
		facts_add_number(ret, "peerLid", "Peer's LID", ep->peer.lid);
	if (ib_link_rate(p, ep) > 0)
		facts_add_real(ret, "linkGbSec", "Link, Gbit/sec", ib_link_rate(p, ep));
}

/* Where the device or the kernel's routing uses another value than the asked one, the report says so. */
static void not_taken(const struct spec *spec, const struct ibv_ah_attr *used, struct facts *ret)
{
	const char *key = "notTaken", *label = "Not taken by the device";
	bool level = used->sl != spec->service_level, hops = used->is_global && used->grh.hop_limit != spec->hop_limit;
	unsigned asked_level = (unsigned)spec->service_level, asked_hops = (unsigned)spec->hop_limit;

	if (level && hops)
		facts_add(ret, key, label, "--service_level %u, --hop_limit %u", asked_level, asked_hops);
	else if (level)
		facts_add(ret, key, label, "--service_level %u", asked_level);
	else if (hops)
		facts_add(ret, key, label, "--hop_limit %u", asked_hops);
}

static void route_facts(const struct ib_port *p, const struct ibv_ah_attr *used, struct facts *ret)
{
	facts_add_number(ret, "serviceLevel", "Service level", used->sl);
	if (used->is_global) {
		facts_add_number(ret, "trafficClass", "Traffic class", used->grh.traffic_class);
		facts_add_number(ret, "hopLimit", "Hop limit", used->grh.hop_limit);
		if (p->spec->driver == DRIVER_IBV) /* DOCA does not tell */
			facts_add_number(ret, "flowLabel", "Flow label", used->grh.flow_label);
	}
	not_taken(p->spec, used, ret);
}

static void reliable_facts(const struct ib_port *p, const struct ibv_qp_attr *used, struct facts *ret)
{
	facts_add_number(ret, "qpTimeout", "QP timeout", used->timeout);
	facts_add_number(ret, "retryCount", "Retry count", used->retry_cnt);
	facts_add_number(ret, "rnrRetry", "RNR retry", used->rnr_retry);
	facts_add_number(ret, "minRnrTimer", "Minimal RNR timer", used->min_rnr_timer);
	if (spec_verbs(p->spec) & (VERB_BIT(VERB_READ) | ATOMIC_VERBS))
		facts_add_number(ret, "maxRdAtomic", "Reads outstanding", used->max_rd_atomic);
}

/* Where another queue pair answers, its timer counts. */
static void read_target(const struct ib_ep *ep, struct ibv_qp_attr *ret)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };

	if (ep->target && !ibv_query_qp(ep->target, &attr, IBV_QP_MIN_RNR_TIMER, &init))
		ret->min_rnr_timer = attr.min_rnr_timer;
}

static void qp_facts(const struct ib_port *p, const struct ib_ep *ep, struct facts *ret)
{
	struct ibv_qp_attr attr = { 0 };
	int mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN;

	facts_add_number(ret, "qpNumber", "First QP number", ep->own.qpn);
	facts_add_number(ret, "peerQpNumber", "Peer's first QP number", ep->peer.qpn);
	facts_add_number(ret, "psn", "First PSN", ep->own.psn);
	if (p->spec->transport == TRANSPORT_UD) { /* the path is in the address handle, which cannot be read back */
		facts_add_number(ret, "mtu", "MTU", ib_mtu_bytes(ep->mtu));
		return;
	}
	if (p->calls->query_qp(ep, &attr, mask))
		return;
	facts_add_number(ret, "mtu", "MTU", ib_mtu_bytes(attr.path_mtu));
	read_target(ep, &attr);
	if (p->dc)
		ib_dc_facts(ep, ret); /* its path is in an address handle, too */
	else
		route_facts(p, &attr.ah_attr, ret);
	if (p->xrcd) {
		facts_add_number(ret, "xrcTargetQpNumber", "First receiving QP", ep->own.target_qpn);
		facts_add_number(ret, "xrcSrqNumber", "First XRC receive queue", ep->own.srqn);
	}
	if (transport_is_reliable((enum transport)p->spec->transport))
		reliable_facts(p, &attr, ret);
	if (p->spec->use_ece)
		ib_ece_facts(ep, ret);
}

void ib_port_facts(const struct port *port, struct facts *ret)
{
	const struct ib_port *p = (const struct ib_port *)port;
	const struct ib_ep *first = p->eps;

	device_facts(p, ret);
	if (first->connected) {
		path_facts(p, first, ret);
		qp_facts(p, first, ret);
	}
	if (p->tph)
		ib_tph_facts(p, ret);
	ib_pace_facts(p, ret);
	facts_add_number(ret, "inlineSize", "Inline up to", p->inline_max);
	facts_add(ret, "postApi", "Posting calls", "%s", p->wr_api ? "ibv_wr_*" : p->calls->name(p, "ibv_post_send"));
	facts_add(ret, "completionMode", "Completions by", "%s", p->channel ? "events" : "polling");
	facts_add(ret, "connection", "Connected by", "%s", p->cm ? "rdma_cm" : "control connection");
}
