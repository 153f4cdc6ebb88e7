/* Connects MSG endpoints of libfabric: the passive end listens for all its endpoints, the active end asks one by one. */
#include "driver/ofi.h"

#include "base/clock.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define EVENT_SLICE_MS 50

/* What a request to connect brings along: whose it is. Strangers do not know the token. */
struct greeting {
	uint64_t token;
	uint32_t index, reserved;
};

/* The entry with what its flexible array holds. */
union event {
	struct fi_eq_cm_entry entry;
	uint8_t bytes[sizeof(struct fi_eq_cm_entry) + sizeof(struct greeting)];
};

static int listen_here(struct ofi_port *p, struct error *err)
{
	int rc = fi_passive_ep(p->fabric, p->info, &p->pep, NULL);

	if (rc)
		return ofi_error(p, "fi_passive_ep", rc, err);
	rc = fi_pep_bind(p->pep, &p->eq->fid, 0);
	if (rc)
		return ofi_error(p, "fi_pep_bind", rc, err);
	rc = fi_listen(p->pep);
	return rc ? ofi_error(p, "fi_listen", rc, err) : 0;
}

int ofi_msg_open(struct ofi_port *p, struct error *err)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	int rc;

	if (ofi_ep_type(p) != FI_EP_MSG)
		return 0;
	rc = fi_eq_open(p->fabric, &attr, &p->eq, NULL);
	if (rc)
		return ofi_error(p, "fi_eq_open", rc, err);
	p->requests = (struct fi_info **)calloc(p->spec->qps, sizeof(struct fi_info *));
	if (!p->requests || getrandom(&p->token, sizeof(p->token), 0) < 0)
		return error_set(err, -ENOMEM, "no memory for requests to connect");
	return p->conf.active ? 0 : listen_here(p, err);
}

void ofi_msg_close(struct ofi_port *p)
{
	for (uint64_t i = 0; p->requests && i < p->spec->qps; i++)
		fi_freeinfo(p->requests[i]);
	free((void *)p->requests);
	if (p->pep)
		fi_close(&p->pep->fid);
	if (p->eq)
		fi_close(&p->eq->fid);
}

static int event_failed(struct ofi_port *p, struct error *err)
{
	struct fi_eq_err_entry entry = { 0 };
	ssize_t rc = fi_eq_readerr(p->eq, &entry, 0);

	return ofi_error(p, "connecting an MSG endpoint", rc < 0 ? (int)rc : -entry.err, err);
}

/* The next event: its size, or a negative errno with a sentence. */
static ssize_t next_event(struct ofi_port *p, uint32_t *kind, union event *ret, int64_t deadline_ns, struct error *err)
{
	while (clock_now(p->conf.clock) < deadline_ns) {
		ssize_t rc = fi_eq_sread(p->eq, kind, ret, sizeof(*ret), EVENT_SLICE_MS, 0);

		if (rc >= 0)
			return rc;
		if (rc == -FI_EAVAIL)
			return event_failed(p, err);
		if (rc != -FI_EAGAIN && rc != -FI_ETIMEDOUT && rc != -FI_EINTR)
			return ofi_error(p, "fi_eq_sread", (int)rc, err);
		rc = port_peer(&p->conf, err);
		if (rc)
			return rc;
	}
	return error_set(err, -ETIMEDOUT, "an MSG endpoint of libfabric's provider %s was not connected in time",
			 p->info->fabric_attr->prov_name);
}

/* Keeps a request for the endpoint that it names; turns strangers away. */
static void take_request(struct ofi_port *p, const union event *event, ssize_t size)
{
	struct greeting g;

	memcpy(&g, event->bytes + sizeof(event->entry), sizeof(g));
	if ((size_t)size >= sizeof(event->entry) + sizeof(g) && g.token == p->token && g.index < p->spec->qps &&
	    !p->requests[g.index]) {
		p->requests[g.index] = event->entry.info;
		return;
	}
	fi_reject(p->pep, event->entry.info->handle, NULL, 0);
	fi_freeinfo(event->entry.info);
}

static int await_connected(struct ofi_ep *ep, int64_t deadline_ns, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	union event event = { 0 };

	for (;;) {
		uint32_t kind = 0;
		ssize_t size = next_event(p, &kind, &event, deadline_ns, err);

		if (size < 0)
			return (int)size;
		if (kind == FI_CONNREQ)
			take_request(p, &event, size);
		else if (kind == FI_CONNECTED && event.entry.fid == &ep->fid->fid)
			return 0;
		else if (kind == FI_SHUTDOWN)
			return error_set(err, -ECONNRESET, "the peer closed an MSG endpoint of libfabric's provider %s",
					 p->info->fabric_attr->prov_name);
	}
}

static int await_request(struct ofi_ep *ep, int64_t deadline_ns, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);

	while (!p->requests[ep->ep.index]) {
		uint32_t kind = 0;
		union event event = { 0 };
		ssize_t size = next_event(p, &kind, &event, deadline_ns, err);

		if (size < 0)
			return (int)size;
		if (kind == FI_CONNREQ)
			take_request(p, &event, size);
	}
	return 0;
}

static int accept_one(struct ofi_ep *ep, int64_t deadline_ns, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	int rc = await_request(ep, deadline_ns, err);

	if (!rc)
		rc = ofi_ep_make(ep, p->requests[ep->ep.index], err);
	if (rc)
		return rc;
	rc = fi_accept(ep->fid, NULL, 0);
	return rc ? ofi_error(p, "fi_accept", rc, err) : 0;
}

int ofi_msg_connect(struct ofi_ep *ep, int64_t deadline_ns, struct error *err)
{
	struct ofi_port *p = ofi_ep_port(ep);
	const struct greeting greeting = { .token = ep->peer.token, .index = ep->ep.index };
	int rc;

	if (p->conf.active) {
		rc = fi_connect(ep->fid, ep->peer.name, &greeting, sizeof(greeting));
		if (rc)
			ofi_error(p, "fi_connect", rc, err);
	} else {
		rc = accept_one(ep, deadline_ns, err);
	}
	return rc ? rc : await_connected(ep, deadline_ns, err);
}
