/* Stands in for librdmacm: binds, resolves, connects and accepts within the fabric, without a device of its own. */
#include "cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static int failed(int code)
{
	errno = code;
	return code ? -1 : 0;
}

struct ibv_context *cm_context(void)
{
	static struct d_device device = { .device = { .name = "double0" } };
	static struct ibv_context context = { .device = &device.device };

	return &context;
}

/* The real one keeps the devices that it finds for the process's life; it finds none. */
struct ibv_context **rdma_get_devices(int *count)
{
	if (count)
		*count = 0;
	errno = ENODEV;
	return NULL;
}

struct d_cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps)
{
	struct d_cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->id.channel = channel;
	id->id.context = context;
	id->id.ps = ps;
	id->id.port_num = 1;
	id->psn = fabric_handle() * 2654435761u & 0xffffff;
	count_add(COUNT_CM_ID, 1);
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **ret, void *context, enum rdma_port_space ps)
{
	int code = fails(CALL_rdma_create_id);
	struct d_cm_id *id = code ? NULL : cm_id_new(channel, context, ps);

	if (!id)
		return failed(code ? code : ENOMEM);
	*ret = &id->id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	int code = fails_to_end(CALL_rdma_destroy_id, id);

	if (code)
		return failed(code);
	cm_unlisten(d_cm_id_of(id));
	free(id);
	count_add(COUNT_CM_ID, -1);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
	(void)id;
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return failed(fails(CALL_rdma_set_option));
}

static void to_gid(const struct sockaddr *addr, uint8_t *ret, uint16_t *port)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	if (addr->sa_family == AF_INET6) {
		memcpy(ret, &in6->sin6_addr, 16);
		*port = ntohs(in6->sin6_port);
		return;
	}
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	memcpy(ret + 12, &in->sin_addr, 4);
	*port = ntohs(in->sin_port);
}

/* The entry of the GID table with that address; RoCE v2 is what rdma_cm uses. */
static int gid_index(const uint8_t *gid)
{
	int found = -1;

	for (uint32_t i = 0; i < config->gid_count; i++) {
		if (memcmp(config->gids[i].gid.raw, gid, 16) != 0)
			continue;
		if (config->gids[i].gid_type == IBV_GID_TYPE_ROCE_V2)
			return (int)i;
		found = found < 0 ? (int)i : found;
	}
	return found;
}

/* On InfiniBand any address may be that of an IPoIB interface. */
static int bind_id(struct d_cm_id *id, const struct sockaddr *addr)
{
	to_gid(addr, id->gid, &id->port);
	if (config->infiniband)
		memcpy(id->gid, config->gids[0].gid.raw, sizeof(id->gid));
	if (gid_index(id->gid) < 0)
		return EADDRNOTAVAIL;
	id->id.verbs = cm_context();
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	int code = fails(CALL_rdma_bind_addr);

	return failed(code ? code : bind_id(d_cm_id_of(id), addr));
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	int code = fails(CALL_rdma_listen);

	(void)backlog;
	if (!code && !cm_listen(d_cm_id_of(id)))
		code = EADDRINUSE;
	return failed(code);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(d_cm_id_of(id)->port);
}

int rdma_resolve_addr(struct rdma_cm_id *base, struct sockaddr *from, struct sockaddr *to, int timeout_ms)
{
	int code = fails(CALL_rdma_resolve_addr);
	struct d_cm_id *id = d_cm_id_of(base);
	uint8_t gid[16];

	(void)timeout_ms;
	if (!code)
		code = bind_id(id, from);
	if (code)
		return failed(code);
	to_gid(to, gid, &id->port);
	cm_post(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	int code = fails(CALL_rdma_resolve_route);

	(void)timeout_ms;
	if (!code)
		cm_post(d_cm_id_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED);
	return failed(code);
}

static struct cm_message message(const struct d_cm_id *id, enum rdma_cm_event_type type, uint64_t to)
{
	const struct rdma_conn_param *own = &id->own;
	struct cm_message m = {
		.type = type,
		.status = type == RDMA_CM_EVENT_REJECTED ? CM_CONSUMER_REJECT : 0,
		.to = to,
		.from = (uintptr_t)id,
		.from_channel = ((const struct d_cm_channel *)id->id.channel)->handle,
		.qpn = own->qp_num,
		.psn = id->psn,
		.responder = own->responder_resources,
		.initiator = own->initiator_depth,
		.retries = own->retry_count,
		.rnr_retries = own->rnr_retry_count,
		.data_len = own->private_data_len < CM_PRIVATE ? own->private_data_len : CM_PRIVATE,
	};

	memcpy(m.gid, id->gid, sizeof(m.gid));
	if (m.data_len)
		memcpy(m.data, own->private_data, m.data_len);
	return m;
}

int rdma_connect(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
	int code = fails(CALL_rdma_connect);
	struct d_cm_id *id = d_cm_id_of(base);
	struct cm_message m;
	uint32_t channel;
	uint64_t listener;

	if (code)
		return failed(code);
	id->own = *param;
	if (config->cm_fault != CM_FAULT_NONE) {
		cm_post(id, RDMA_CM_EVENT_CONNECT_RESPONSE); /* becomes the fault */
		return 0;
	}
	if (!cm_listener(id->port, &channel, &listener)) {
		cm_post(id, RDMA_CM_EVENT_REJECTED);
		return 0;
	}
	m = message(id, RDMA_CM_EVENT_CONNECT_REQUEST, listener);
	if (!cm_send(channel, &m))
		cm_post(id, RDMA_CM_EVENT_UNREACHABLE);
	return 0;
}

static void answer(struct d_cm_id *id, enum rdma_cm_event_type type)
{
	const struct cm_message m = message(id, type, id->peer.from);

	cm_send(id->peer.from_channel, &m);
}

int rdma_accept(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
	int code = fails(CALL_rdma_accept);
	struct d_cm_id *id = d_cm_id_of(base);

	if (code)
		return failed(code);
	id->own = *param;
	answer(id, base->ps == RDMA_PS_UDP ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE);
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	int code = fails(CALL_rdma_reject);

	(void)data;
	(void)len;
	if (!code)
		answer(d_cm_id_of(id), RDMA_CM_EVENT_REJECTED);
	return failed(code);
}

int rdma_establish(struct rdma_cm_id *id)
{
	int code = fails(CALL_rdma_establish);

	if (!code)
		answer(d_cm_id_of(id), RDMA_CM_EVENT_ESTABLISHED);
	return failed(code);
}

int rdma_init_qp_attr(struct rdma_cm_id *base, struct ibv_qp_attr *attr, int *mask)
{
	int code = fails(CALL_rdma_init_qp_attr);
	struct d_cm_id *id = d_cm_id_of(base);

	if (code)
		return failed(code);
	if (attr->qp_state == IBV_QPS_RTR) {
		*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		attr->ah_attr = (struct ibv_ah_attr){ .is_global = 1, .port_num = 1, .grh.hop_limit = 64 };
		attr->ah_attr.grh.sgid_index = (uint8_t)gid_index(id->gid);
		memcpy(attr->ah_attr.grh.dgid.raw, id->peer.gid, sizeof(id->peer.gid));
		attr->path_mtu = config->mtu;
		attr->dest_qp_num = id->peer.qpn;
		attr->rq_psn = id->peer.psn;
		attr->max_dest_rd_atomic = id->peer.initiator;
		return 0;
	}
	*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC;
	attr->timeout = 14;
	attr->retry_cnt = id->own.retry_count;
	attr->rnr_retry = id->own.rnr_retry_count;
	attr->sq_psn = id->psn;
	attr->max_rd_atomic = id->peer.responder;
	return 0;
}
