/* What the ends of an RDMA test tell each other: qperf's 40 bytes, and behind them GID and sender where both are fabperf's. */
#include "qperf/rdma.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

#define OURS       0x46414250u
#define OURS_BYTES 20

static void pack(const struct qperf_node *node, bool ours, struct buf *to)
{
	buf_put_u64(to, node->vaddr);
	buf_put_u32(to, node->lid);
	buf_put_u32(to, node->qpn);
	buf_put_u32(to, node->psn);
	buf_put_u32(to, node->srqn);
	buf_put_u32(to, node->rkey);
	buf_put_u32(to, node->alt_lid);
	buf_put_u32(to, node->rd_atomic);
	buf_put_u32(to, ours ? OURS : 0);
}

static bool unpack(const uint8_t data[NODE_BYTES], struct qperf_node *ret)
{
	struct cursor from;

	cursor_init(&from, data, NODE_BYTES);
	ret->vaddr = cursor_u64(&from);
	ret->lid = cursor_u32(&from);
	ret->qpn = cursor_u32(&from);
	ret->psn = cursor_u32(&from);
	ret->srqn = cursor_u32(&from);
	ret->rkey = cursor_u32(&from);
	ret->alt_lid = cursor_u32(&from);
	ret->rd_atomic = cursor_u32(&from);
	return cursor_u32(&from) == OURS;
}

/* RoCE needs the GID, XRC the number of the queue pair that sends. */
static int exchange_ours(struct qperf_rdma *r, struct error *err)
{
	struct qperf_channel *c = r->run->channel;
	uint8_t data[OURS_BYTES];
	struct cursor from;
	int rc;

	memcpy(data, r->own.gid, sizeof(r->own.gid));
	for (unsigned i = 0; i < 4; i++)
		data[sizeof(r->own.gid) + i] = (uint8_t)(r->own.sender >> 8 * i);
	rc = qperf_send(c, data, sizeof(data), "GID", err);
	if (rc == 0)
		rc = qperf_recv(c, data, sizeof(data), "GID", err);
	if (rc)
		return rc;
	cursor_init(&from, data, sizeof(data));
	cursor_get(&from, r->peer.gid, sizeof(r->peer.gid));
	r->peer.sender = cursor_u32(&from);
	r->peer.is_ours = true;
	return 0;
}

int qperf_node_exchange(struct qperf_rdma *r, struct error *err)
{
	struct qperf_channel *c = r->run->channel;
	struct buf own = BUF_INIT;
	uint8_t data[NODE_BYTES];
	int rc;

	pack(&r->own, r->run->client || r->run->ours, &own);
	rc = own.failed ? error_set(err, own.failed, "no memory for an address")
			: qperf_send(c, own.data, own.len, "node information", err);
	buf_release(&own);
	if (rc == 0)
		rc = qperf_recv(c, data, sizeof(data), "node information", err);
	if (rc)
		return rc;
	r->run->ours = unpack(data, &r->peer);
	return r->run->ours ? exchange_ours(r, err) : 0;
}
