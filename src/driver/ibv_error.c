/* Turns what an RDMA device reports about a failed work request into a sentence that says what is likely wrong. */
#include "driver/ibv.h"

#include <errno.h>
#include <stdio.h>

#define DRAIN_MOST 65536 /* completions looked through for the one that tells the cause */

static const char *hint(enum ibv_wc_status status)
{
	static const char *const hints[] = {
		[IBV_WC_LOC_LEN_ERR] = "a message was longer than the receive posted for it",
		[IBV_WC_LOC_QP_OP_ERR] = "the device could not carry out the work request",
		[IBV_WC_LOC_PROT_ERR] = "a buffer of this side is not registered for what was asked",
		[IBV_WC_WR_FLUSH_ERR] = "the queue pair went into the error state before",
		[IBV_WC_MW_BIND_ERR] = "the device could not change a memory region",
		[IBV_WC_BAD_RESP_ERR] = "the peer's device answered something else than was asked",
		[IBV_WC_LOC_ACCESS_ERR] = "a buffer of this side is not registered for what the peer wrote",
		[IBV_WC_REM_INV_REQ_ERR] =
			"the peer's device does not allow this operation, or the message is longer than its receive",
		[IBV_WC_REM_ACCESS_ERR] = "the peer's memory is not registered for it, or its address or key is wrong",
		[IBV_WC_REM_OP_ERR] = "the peer's device could not carry it out",
		[IBV_WC_RETRY_EXC_ERR] =
			"the peer is gone, or GID, path MTU or flow control do not match: see --gid_index, --mtu",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "the peer posts receives too slowly: raise --rx_depth or --rnr_retry",
		[IBV_WC_REM_ABORT_ERR] = "the peer's device gave up",
		[IBV_WC_RESP_TIMEOUT_ERR] = "the peer's device answered too late: see --qp_timeout",
	};
	const char *text = (size_t)status < sizeof(hints) / sizeof(*hints) ? hints[status] : NULL;

	return text ? text : "the device failed: see the kernel's log";
}

/* What a queue pair meets when the peer's has failed: the peer knows why. */
static bool is_consequence(enum ibv_wc_status status)
{
	return status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_RNR_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR;
}

/* A queue pair in the error state flushes everything: the first entry that is not a flush tells why. */
static const struct ibv_wc *find_cause(struct ib_port *p, const struct ibv_wc *first, struct ibv_wc *room)
{
	const struct ibv_wc *end = p->wc + p->wc_count;

	for (const struct ibv_wc *wc = first; wc < end; wc++)
		if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
			return wc;
	for (int i = 0; i < DRAIN_MOST && ibv_poll_cq(p->cq, 1, room) == 1; i++)
		if (room->status != IBV_WC_SUCCESS && room->status != IBV_WC_WR_FLUSH_ERR)
			return room;
	return first;
}

/* The verb of the request that failed, of a list that of its operation. */
static const char *sent_verb(const struct ib_port *p, const struct ibv_wc *wc)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(p->spec, op);

	return verb_name(op[(uint32_t)wc->wr_id % ops].verb);
}

int ib_wc_error(struct ib_port *p, const struct ibv_wc *first)
{
	struct ibv_wc room;
	const struct ibv_wc *wc = find_cause(p, first, &room);
	const char *what = wc->wr_id & IB_WRID_RX ? "receive" : sent_verb(p, wc);
	char vendor[40] = "";

	if (wc->vendor_err)
		snprintf(vendor, sizeof(vendor), ", vendor error 0x%x", wc->vendor_err);
	error_set(&p->port.err, is_consequence(wc->status) ? -ECONNRESET : -EIO, "%s %s on %s QP %u failed: %s%s (%s)",
		  transport_name(p->spec->transport), what, p->name, p->eps[wc->wr_id >> 32].qp->qp_num,
		  ibv_wc_status_str(wc->status), vendor, hint(wc->status));
	return p->port.err.code;
}

int ib_post_error(struct ib_ep *ep, const char *call, int code)
{
	struct ib_port *p = ib_ep_port(ep);

	return ib_fail(&p->port.err, code, p->calls->name(p, call), "QP %u of %s takes no message", ep->qp->qp_num,
		       p->name);
}
