/* What the ends of an RDMA test tell each other: qperf's 40 bytes, and behind them the GID where both are fabperf's. */
#include "qperf/rdma.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

#define OURS      0x46414250u
#define GID_BYTES 16

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
	if (!r->run->ours)
		return 0;
	rc = qperf_send(c, r->own.gid, GID_BYTES, "GID", err);
	if (rc == 0)
		rc = qperf_recv(c, r->peer.gid, GID_BYTES, "GID", err);
	r->peer.has_gid = rc == 0;
	return rc;
}
