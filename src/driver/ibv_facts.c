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
}

static void qp_facts(const struct ib_port *p, const struct ib_ep *ep, struct facts *ret)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };
	bool rc = p->spec->transport == TRANSPORT_RC;
	int mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN;

	facts_add_number(ret, "qpNumber", "First QP number", ep->own.qpn);
	facts_add_number(ret, "peerQpNumber", "Peer's first QP number", ep->peer.qpn);
	facts_add_number(ret, "psn", "First PSN", ep->own.psn);
	if (ibv_query_qp(ep->qp, &attr, mask, &init))
		return;
	if (p->spec->transport == TRANSPORT_UD) {
		facts_add_number(ret, "mtu", "MTU", ib_mtu_bytes(ep->mtu));
		return;
	}
	facts_add_number(ret, "mtu", "MTU", ib_mtu_bytes(attr.path_mtu));
	facts_add_number(ret, "serviceLevel", "Service level", attr.ah_attr.sl);
	if (attr.ah_attr.is_global) {
		facts_add_number(ret, "trafficClass", "Traffic class", attr.ah_attr.grh.traffic_class);
		facts_add_number(ret, "hopLimit", "Hop limit", attr.ah_attr.grh.hop_limit);
		facts_add_number(ret, "flowLabel", "Flow label", attr.ah_attr.grh.flow_label);
	}
	if (!rc)
		return;
	facts_add_number(ret, "qpTimeout", "QP timeout", attr.timeout);
	facts_add_number(ret, "retryCount", "Retry count", attr.retry_cnt);
	facts_add_number(ret, "rnrRetry", "RNR retry", attr.rnr_retry);
	facts_add_number(ret, "minRnrTimer", "Minimal RNR timer", attr.min_rnr_timer);
	if (p->spec->verb == VERB_READ || verb_is_atomic((enum verb)p->spec->verb))
		facts_add_number(ret, "maxRdAtomic", "Reads outstanding", attr.max_rd_atomic);
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
	facts_add_number(ret, "inlineSize", "Inline up to", p->inline_max);
	facts_add(ret, "postApi", "Posting calls", "%s", p->wr_api ? "ibv_wr_*" : "ibv_post_send");
	facts_add(ret, "completionMode", "Completions by", "%s", p->channel ? "events" : "polling");
	facts_add(ret, "connection", "Connected by", "%s", p->cm ? "rdma_cm" : "control connection");
}
