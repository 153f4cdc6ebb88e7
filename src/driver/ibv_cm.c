/* Connects queue pairs by rdma_cm: the passive end listens on its GID's address, the active end connects to it. */
#include "driver/ibv_cm.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define CM_MAGIC 0xfabfca11u

/* Sent with each request so that the passive end knows which endpoint is meant. */
struct cm_hello {
	uint32_t magic, index;
};

static void to_sockaddr(const uint8_t addr[16], uint16_t port, uint32_t scope, struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (ib_gid_is_ipv4(addr)) {
		in->sin_family = AF_INET;
		in->sin_port = htobe16(port);
		memcpy(&in->sin_addr, addr + 12, 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htobe16(port);
		in6->sin6_scope_id = addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80 ? scope : 0;
		memcpy(&in6->sin6_addr, addr, 16);
	}
}

static void own_sockaddr(const struct ib_port *p, struct sockaddr_storage *ret)
{
	to_sockaddr(p->cm->addr, 0, p->gid.ndev_ifindex, ret);
}

static enum rdma_port_space port_space(const struct ib_port *p)
{
	return p->spec->transport == TRANSPORT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

/* An address leads to a device; it has to be the one of this port. */
static int check_device(const struct ib_port *p, const struct rdma_cm_id *id, struct error *err)
{
	const char *name = id->verbs ? ibv_get_device_name(id->verbs->device) : "no RDMA device";

	if (strcmp(name, p->name) == 0)
		return 0;
	return error_set(err, -EINVAL,
			 "rdma_cm reaches the peer by %s instead of %s: choose another --device or --gid_index", name,
			 p->name);
}

static int listen_on(struct ib_port *p, struct error *err)
{
	struct sockaddr_storage addr;
	char text[IB_GID_TEXT];
	int rc;

	own_sockaddr(p, &addr);
	if (rdma_create_id(p->cm->channel, &p->cm->listener, p, port_space(p)))
		return ib_cm_failed(p, "rdma_create_id", "cannot create an identifier", err);
	if (rdma_bind_addr(p->cm->listener, (struct sockaddr *)&addr))
		return ib_fail(err, errno, "rdma_bind_addr", "rdma_cm on %s: cannot bind to %s", p->name,
			       ib_gid_format(p->cm->addr, text));
	rc = check_device(p, p->cm->listener, err);
	if (rc)
		return rc;
	if (rdma_listen(p->cm->listener, (int)p->spec->qps))
		return ib_cm_failed(p, "rdma_listen", "cannot listen", err);
	return 0;
}

/* GIDs of RoCE are IP addresses; on InfiniBand the control connection must run over IPoIB of the device. */
static int choose_address(struct ib_port *p, struct error *err)
{
	if (p->attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
		memcpy(p->cm->addr, p->gid.gid.raw, sizeof(p->cm->addr));
		return 0;
	}
	if (ib_gid_of_sockaddr(p->conf.local, p->cm->addr))
		return 0;
	return error_set(err, -EINVAL, "--rdma_cm on %s needs a control connection over IP", p->name);
}

int ib_cm_open(struct ib_port *p, struct error *err)
{
	int rc;

	if (p->spec->transport == TRANSPORT_UC)
		return error_set(err, -EINVAL, "--rdma_cm cannot connect UC queue pairs: use --connection RC or UD");
	p->cm = calloc(1, sizeof(*p->cm));
	if (p->cm)
		p->cm->ids = calloc(p->spec->qps, sizeof(struct rdma_cm_id *));
	if (!p->cm || !p->cm->ids)
		return error_set(err, -ENOMEM, "no memory for rdma_cm");
	p->cm->count = (uint32_t)p->spec->qps;
	errno = 0;
	p->cm->channel = rdma_create_event_channel();
	if (!p->cm->channel)
		return ib_cm_failed(p, "rdma_create_event_channel", "cannot open an event channel", err);
	if (fcntl(p->cm->channel->fd, F_SETFL, O_NONBLOCK))
		return ib_cm_failed(p, "fcntl", "cannot set up the event channel", err);
	rc = choose_address(p, err);
	if (!rc && !p->conf.active)
		rc = listen_on(p, err);
	return rc;
}

static void destroy_id(const struct ib_port *p, struct rdma_cm_id *id)
{
	errno = 0;
	if (rdma_destroy_id(id))
		ib_kept(p, errno ? errno : EIO, "rdma_destroy_id", "an rdma_cm identifier");
}

void ib_cm_close(struct ib_port *p)
{
	struct ib_cm *cm = p->cm;

	if (!cm)
		return;
	for (uint32_t i = 0; i < cm->count; i++)
		if (cm->ids[i])
			destroy_id(p, cm->ids[i]);
	if (cm->listener)
		destroy_id(p, cm->listener);
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	free(cm->ids);
	free(cm);
	p->cm = NULL;
}

void ib_cm_addr(const struct ib_port *p, struct ib_addr *ret)
{
	if (!p->cm)
		return;
	memcpy(ret->cm_addr, p->cm->addr, sizeof(ret->cm_addr));
	if (p->cm->listener)
		ret->cm_port = be16toh(rdma_get_src_port(p->cm->listener));
}

/* The test's knobs take the place of what the connection manager would use. */
static void apply_knobs(const struct ib_ep *ep, struct ibv_qp_attr *attr)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct spec *spec = p->spec;

	attr->path_mtu = ep->mtu;
	attr->min_rnr_timer = (uint8_t)spec->min_rnr_timer;
	attr->timeout = (uint8_t)spec->qp_timeout;
	attr->retry_cnt = (uint8_t)spec->retry_count;
	attr->rnr_retry = (uint8_t)spec->rnr_retry;
	ib_path_knobs(p, &attr->ah_attr);
}

static int transition(const struct ib_ep *ep, struct rdma_cm_id *id, enum ibv_qp_state state, struct ibv_qp_attr *ret,
		      struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	int mask, rc;

	memset(ret, 0, sizeof(*ret));
	ret->qp_state = state;
	if (rdma_init_qp_attr(id, ret, &mask))
		return ib_cm_failed(p, "rdma_init_qp_attr", "has no attributes for the queue pair", err);
	apply_knobs(ep, ret);
	rc = ibv_modify_qp(ep->qp, ret, mask);
	if (rc)
		return ib_fail(err, rc, "ibv_modify_qp", "cannot bring QP %u of %s to %s with rdma_cm's attributes",
			       ep->qp->qp_num, p->name, state == IBV_QPS_RTR ? "RTR" : "RTS");
	return 0;
}

static int to_rts(struct ib_ep *ep, struct rdma_cm_id *id, struct error *err)
{
	struct ibv_qp_attr attr;
	int rc = transition(ep, id, IBV_QPS_RTR, &attr, err);

	if (rc)
		return rc;
	ep->peer.qpn = attr.dest_qp_num;
	ep->peer.psn = attr.rq_psn;
	rc = transition(ep, id, IBV_QPS_RTS, &attr, err);
	if (rc)
		return rc;
	ep->own.psn = attr.sq_psn;
	return 0;
}

static struct rdma_conn_param parameters(const struct ib_ep *ep, const struct cm_hello *hello)
{
	const struct spec *spec = ib_ep_port(ep)->spec;

	return (struct rdma_conn_param){
		.private_data = hello,
		.private_data_len = hello ? sizeof(*hello) : 0,
		.responder_resources = ep->own.rd_resp < ep->peer.rd_init ? ep->own.rd_resp : ep->peer.rd_init,
		.initiator_depth = ep->rd_atomic,
		.flow_control = 1,
		.retry_count = (uint8_t)spec->retry_count,
		.rnr_retry_count = (uint8_t)spec->rnr_retry,
		.qp_num = ep->qp->qp_num,
	};
}

static int resolve(const struct ib_ep *ep, struct rdma_cm_id *id, int64_t deadline_ns, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	int64_t left_ms = (deadline_ns - clock_now(p->conf.clock)) / 1000000;
	int limit = left_ms < 1 ? 1 : left_ms > 60000 ? 60000 : (int)left_ms;
	uint8_t tos = (uint8_t)p->spec->traffic_class;
	struct sockaddr_storage own, peer;
	int rc;

	own_sockaddr(p, &own);
	to_sockaddr(ep->peer.cm_addr, ep->peer.cm_port, p->gid.ndev_ifindex, &peer);
	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		return ib_cm_failed(p, "rdma_set_option", "cannot set the traffic class", err);
	if (rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&peer, limit))
		return ib_cm_failed(p, "rdma_resolve_addr", "cannot resolve the peer's address", err);
	rc = ib_cm_expect(p, id, RDMA_CM_EVENT_ADDR_RESOLVED, deadline_ns, err);
	if (!rc)
		rc = check_device(p, id, err);
	if (rc)
		return rc;
	if (rdma_resolve_route(id, limit))
		return ib_cm_failed(p, "rdma_resolve_route", "cannot resolve the route to the peer", err);
	return ib_cm_expect(p, id, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline_ns, err);
}

static int connect_rc(struct ib_ep *ep, struct rdma_cm_id *id, int64_t deadline_ns, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	int rc = ib_cm_expect(p, id, RDMA_CM_EVENT_CONNECT_RESPONSE, deadline_ns, err);

	if (!rc)
		rc = to_rts(ep, id, err);
	if (!rc && rdma_establish(id))
		rc = ib_cm_failed(p, "rdma_establish", "cannot establish the connection", err);
	return rc;
}

static int connect_ud(struct ib_ep *ep, struct rdma_cm_id *id, int64_t deadline_ns, struct error *err)
{
	struct ib_port *p = ib_ep_port(ep);
	struct rdma_cm_event *event;
	int rc = ib_cm_wait(p, id, RDMA_CM_EVENT_ESTABLISHED, deadline_ns, &event, err);

	if (rc)
		return rc;
	ep->peer.qpn = event->param.ud.qp_num;
	ep->peer.qkey = event->param.ud.qkey;
	ib_cm_ack(p, event);
	return ib_qp_ready_ah(ep, err);
}

static int connect_active(struct ib_ep *ep, int64_t deadline_ns, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct cm_hello hello = { .magic = CM_MAGIC, .index = ep->ep.index };
	struct rdma_conn_param param = parameters(ep, &hello);
	struct rdma_cm_id *id;
	int rc;

	if (rdma_create_id(p->cm->channel, &id, ep, port_space(p)))
		return ib_cm_failed(p, "rdma_create_id", "cannot create an identifier", err);
	p->cm->ids[ep->ep.index] = id;
	rc = resolve(ep, id, deadline_ns, err);
	if (rc)
		return rc;
	if (rdma_connect(id, &param))
		return ib_cm_failed(p, "rdma_connect", "cannot connect to the peer", err);
	if (p->spec->transport == TRANSPORT_UD)
		return connect_ud(ep, id, deadline_ns, err);
	return connect_rc(ep, id, deadline_ns, err);
}

static bool is_for(const struct rdma_cm_event *event, const struct ib_ep *ep)
{
	bool ud = ib_ep_port(ep)->spec->transport == TRANSPORT_UD;
	const void *data = ud ? event->param.ud.private_data : event->param.conn.private_data;
	size_t len = ud ? event->param.ud.private_data_len : event->param.conn.private_data_len;
	struct cm_hello hello = { 0 };

	if (data && len >= sizeof(hello)) /* the connection manager pads it */
		memcpy(&hello, data, sizeof(hello));
	return hello.magic == CM_MAGIC && hello.index == ep->ep.index;
}

static int accept_request(struct ib_ep *ep, struct rdma_cm_id *id, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	bool ud = p->spec->transport == TRANSPORT_UD;
	struct rdma_conn_param param = parameters(ep, NULL);
	int rc = ud ? ib_qp_ready_ah(ep, err) : to_rts(ep, id, err);

	if (rc)
		return rc;
	if (rdma_accept(id, &param))
		return ib_cm_failed(p, "rdma_accept", "cannot accept the connection", err);
	return 0;
}

/* Endpoints are connected in their order; a stranger's request is refused. */
static int connect_passive(struct ib_ep *ep, int64_t deadline_ns, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);

	for (;;) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;
		bool wanted;
		int rc = ib_cm_wait(p, NULL, RDMA_CM_EVENT_CONNECT_REQUEST, deadline_ns, &event, err);

		if (rc)
			return rc;
		id = event->id;
		wanted = is_for(event, ep);
		ib_cm_ack(p, event);
		if (wanted) {
			p->cm->ids[ep->ep.index] = id;
			rc = accept_request(ep, id, err);
			if (rc)
				rdma_reject(id, NULL, 0); /* or the peer would wait for the answer */
			return rc;
		}
		rdma_reject(id, NULL, 0);
		destroy_id(p, id);
	}
}

int ib_cm_connect(struct ib_ep *ep, int64_t deadline_ns, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);

	if (!p->conf.active)
		return connect_passive(ep, deadline_ns, err);
	if (!ep->peer.cm_port)
		return error_set(err, -EPROTO, "the peer does not listen for rdma_cm connections");
	return connect_active(ep, deadline_ns, err);
}
