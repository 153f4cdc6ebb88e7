/* Brings an RDM endpoint's connection up before the traffic: the active end sends one byte, the passive end returns it. */
#include "driver/ofi.h"

#include "base/clock.h"
#include "mem/mem.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <sched.h>

struct hello {
	struct ofi_ep *ep;
	struct ofi_op sent, received;
	bool is_sent, is_received;
	int64_t deadline_ns;
};

/* Takes what has completed: 0, or a negative errno with a sentence. */
static int look(struct hello *h, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(h->ep);
	struct fi_cq_data_entry entry;
	ssize_t n = fi_cq_read(p->cq, &entry, 1);

	if (n == -FI_EAVAIL) {
		ofi_cq_error(p);
		return error_set(err, p->port.err.code, "%s", p->port.err.text);
	}
	if (n < 0 && n != -FI_EAGAIN)
		return ofi_error(p, "fi_cq_read", (int)n, err);
	if (n == 1) {
		h->is_sent |= entry.op_context == &h->sent.context;
		h->is_received |= entry.op_context == &h->received.context;
		return 0;
	}
	if (clock_now(p->conf.clock) > h->deadline_ns)
		return error_set(
			err, -ETIMEDOUT,
			"the peer did not answer in time over libfabric's provider %s: is its address reachable "
			"from here?",
			p->info->fabric_attr->prov_name);
	sched_yield();
	return port_peer(&p->conf, err);
}

static int await(struct hello *h, const bool *done, struct error *err)
{
	int rc = 0;

	while (rc == 0 && !*done)
		rc = look(h, err);
	return rc;
}

static int post_receive(struct hello *h, struct error *err)
{
	struct ofi_ep *ep = h->ep;
	ssize_t rc;

	while ((rc = fi_recv(ep->fid, ep->conf.mem->data + ep->conf.rx_offset, 1, ep->desc, FI_ADDR_UNSPEC,
			     &h->received.context)) == -FI_EAGAIN) {
		int failed = look(h, err);

		if (failed)
			return failed;
	}
	return rc ? ofi_error(ofi_ep_port(ep), "fi_recv", (int)rc, err) : 0;
}

static int post_send(struct hello *h, struct error *err)
{
	struct ofi_ep *ep = h->ep;
	ssize_t rc;

	while ((rc = fi_send(ep->fid, ep->conf.mem->data + ep->conf.tx_offset, 1, ep->desc, ep->dest,
			     &h->sent.context)) == -FI_EAGAIN) {
		int failed = look(h, err);

		if (failed)
			return failed;
	}
	return rc ? ofi_error(ofi_ep_port(ep), "fi_send", (int)rc, err) : 0;
}

int ofi_hello(struct ofi_ep *ep, int64_t deadline_ns, struct error *err)
{
	struct hello h = { .ep = ep, .deadline_ns = deadline_ns };
	const bool active = ofi_ep_port(ep)->conf.active;
	int rc = post_receive(&h, err);

	if (rc == 0 && !active)
		rc = await(&h, &h.is_received, err);
	if (rc == 0)
		rc = post_send(&h, err);
	if (rc == 0)
		rc = await(&h, &h.is_sent, err);
	return rc == 0 ? await(&h, &h.is_received, err) : rc;
}
