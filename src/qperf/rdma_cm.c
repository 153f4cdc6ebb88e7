/* Joins the ends of an RC test by the connection manager, as qperf's -cm does, and parts them in order. */
#include "qperf/rdma.h"

#include "base/net.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>

#define RESOLVE_MS 2000
#define PART_NS    2000000000LL
#define RETRIES    7
#define BACKLOG    1

/* The next event within the limit; it is to be acknowledged. */
static int next_event(const struct qperf_rdma *r, int64_t limit_ns, enum rdma_cm_event_type want,
		      struct rdma_cm_event **ret, struct error *err)
{
	const struct patience until = { .clock = r->run->clock, .deadline_ns = clock_now(r->run->clock) + limit_ns };
	int rc = wait_fd(r->events->fd, POLLIN, &until);

	if (rc)
		return error_set(err, rc, "the connection manager did not come to '%s' in time", rdma_event_str(want));
	if (rdma_get_cm_event(r->events, ret))
		return qperf_rdma_fail(err, errno, "rdma_get_cm_event");
	if ((*ret)->event == want)
		return 0;
	rc = error_set(err, -ECONNREFUSED, "the connection manager says '%s' instead of '%s'",
		       rdma_event_str((*ret)->event), rdma_event_str(want));
	rdma_ack_cm_event(*ret);
	return rc;
}

static int expect(const struct qperf_rdma *r, enum rdma_cm_event_type want, struct error *err)
{
	struct rdma_cm_event *event;
	int rc = next_event(r, r->run->channel->timeout_ns, want, &event, err);

	if (rc == 0)
		rdma_ack_cm_event(event);
	return rc;
}

static struct rdma_conn_param conn_param(const struct qperf_rdma *r)
{
	const uint32_t reads = r->own.rd_atomic < 255 ? r->own.rd_atomic : 255;
	const uint32_t most = r->dev.max_qp_init_rd_atom > 0 ? (uint32_t)r->dev.max_qp_init_rd_atom : 0;

	return (struct rdma_conn_param){ .responder_resources = (uint8_t)reads,
					 .initiator_depth = (uint8_t)(reads < most ? reads : most),
					 .retry_count = RETRIES,
					 .rnr_retry_count = RETRIES };
}

static int make_on(struct qperf_rdma *r, struct error *err)
{
	r->context = r->id->verbs;
	r->port = r->id->port_num;
	return qperf_rdma_make(r, err);
}

static int client(struct qperf_rdma *r, struct error *err)
{
	struct sockaddr_storage to = r->run->channel->peer;
	struct rdma_conn_param param;
	uint8_t port[4];
	int rc = qperf_recv(r->run->channel, port, sizeof(port), "port", err);

	if (rc)
		return rc;
	net_set_port(&to, (uint16_t)(port[0] | port[1] << 8));
	if (rdma_create_id(r->events, &r->id, NULL, RDMA_PS_TCP))
		return qperf_rdma_fail(err, errno, "rdma_create_id");
	if (rdma_resolve_addr(r->id, NULL, (struct sockaddr *)&to, RESOLVE_MS))
		return qperf_rdma_fail(err, errno, "rdma_resolve_addr");
	rc = expect(r, RDMA_CM_EVENT_ADDR_RESOLVED, err);
	if (rc == 0 && rdma_resolve_route(r->id, RESOLVE_MS))
		rc = qperf_rdma_fail(err, errno, "rdma_resolve_route");
	if (rc == 0)
		rc = expect(r, RDMA_CM_EVENT_ROUTE_RESOLVED, err);
	if (rc == 0)
		rc = make_on(r, err);
	if (rc)
		return rc;
	param = conn_param(r);
	if (rdma_connect(r->id, &param))
		return qperf_rdma_fail(err, errno, "rdma_connect");
	return expect(r, RDMA_CM_EVENT_ESTABLISHED, err);
}

/* The family that the control connection came by: qperf's own clients come by IPv4 only. */
static sa_family_t family_of(const struct sockaddr_storage *peer)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)peer;

	return peer->ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? AF_INET6 : AF_INET;
}

/* Listens first, then tells the port: a client that is quick finds somebody. */
static int listen_any(struct qperf_rdma *r, struct error *err)
{
	struct sockaddr_storage any = { .ss_family = family_of(&r->run->channel->peer) };
	uint8_t port[4] = { 0 };
	uint16_t number;

	if (rdma_create_id(r->events, &r->listener, NULL, RDMA_PS_TCP))
		return qperf_rdma_fail(err, errno, "rdma_create_id");
	net_set_port(&any, (uint16_t)r->run->params.port);
	if (rdma_bind_addr(r->listener, (struct sockaddr *)&any) || rdma_listen(r->listener, BACKLOG))
		return qperf_rdma_fail(err, errno, "rdma_listen");
	number = ntohs(rdma_get_src_port(r->listener));
	port[0] = (uint8_t)number;
	port[1] = (uint8_t)(number >> 8);
	return qperf_send(r->run->channel, port, sizeof(port), "port", err);
}

static int server(struct qperf_rdma *r, struct error *err)
{
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	int rc = listen_any(r, err);

	if (rc == 0)
		rc = next_event(r, r->run->channel->timeout_ns, RDMA_CM_EVENT_CONNECT_REQUEST, &event, err);
	if (rc)
		return rc;
	r->id = event->id;
	rdma_ack_cm_event(event);
	rc = make_on(r, err);
	if (rc)
		return rc;
	param = conn_param(r);
	if (rdma_accept(r->id, &param))
		return qperf_rdma_fail(err, errno, "rdma_accept");
	return expect(r, RDMA_CM_EVENT_ESTABLISHED, err);
}

int qperf_cm_join(struct qperf_rdma *r, struct error *err)
{
	int rc;

	r->events = rdma_create_event_channel();
	if (!r->events)
		return qperf_rdma_fail(err, errno, "rdma_create_event_channel");
	rc = r->run->client ? client(r, err) : server(r, err);
	return rc ? rc : qperf_node_exchange(r, err);
}

void qperf_cm_part(struct qperf_rdma *r)
{
	struct rdma_cm_event *event;

	if (!r->id || !r->qp)
		return;
	if (r->run->client)
		rdma_disconnect(r->id);
	if (next_event(r, PART_NS, RDMA_CM_EVENT_DISCONNECTED, &event, NULL) == 0)
		rdma_ack_cm_event(event);
	if (!r->run->client)
		rdma_disconnect(r->id);
}
