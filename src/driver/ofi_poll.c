/* Takes completions of a libfabric port in batches, both directions of all endpoints; sleeps on the queue's descriptor. */
#include "driver/ofi.h"

#include "mem/mem.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <time.h>

static inline bool same(const struct done *done, const struct ofi_ep *ep, enum done_kind kind)
{
	return done->ep == &ep->ep && done->kind == kind;
}

/* A write with data that took no receive tells its endpoint by the data. NULL: not ours. */
static struct ofi_ep *written(struct ofi_port *p, const struct fi_cq_data_entry *entry)
{
	const uint64_t index = entry->data & ((1u << OFI_DATA_EP) - 1);

	return index < p->spec->qps && entry->data >> OFI_DATA_EP < SPEC_OPS ? &p->eps[index] : NULL;
}

static inline void put_back(struct ofi_queue *queue, struct ofi_op *op)
{
	queue->idle[queue->left++] = op;
}

static bool is_good(const struct ofi_ep *ep, size_t len)
{
	for (uint32_t i = 0; i < ep->rx_sizes; i++) {
		if (ep->rx_size[i] == len)
			return true;
	}
	return false;
}

/* Bytes that a write of a list is smaller than its largest message; both sides have the same list. */
static inline uint64_t shortfall_of_write(const struct ofi_ep *ep, uint64_t data)
{
	return ep->rx_size[0] - ep->write_size[data >> OFI_DATA_EP & (SPEC_OPS - 1)];
}

/* A message has arrived, or a write that took a receive. */
static void take(struct ofi_ep *ep, const struct ofi_op *op, const struct fi_cq_data_entry *entry)
{
	const struct port *port = ep->ep.port;

	if (!(entry->flags & FI_RECV)) {
		ep->shortfall += shortfall_of_write(ep, entry->data);
		return;
	}
	if (is_good(ep, entry->len))
		ep->shortfall += ep->rx_size[0] - entry->len;
	else
		ep->bad++;
	if (port->look)
		port->look(&ep->ep, ep->conf.mem->data + ep->conf.rx_offset + ofi_slot(ep, &ep->into, op));
}

/* Whose completion it is; NULL: nobody's. */
static inline struct ofi_ep *book(struct ofi_port *p, const struct fi_cq_data_entry *entry, enum done_kind *kind)
{
	struct ofi_op *op = entry->op_context;
	struct ofi_ep *ep;

	if ((entry->flags & FI_REMOTE_WRITE) && !p->write_consumes) {
		*kind = DONE_RX;
		ep = written(p, entry);
		if (ep)
			ep->shortfall += shortfall_of_write(ep, entry->data);
		return ep;
	}
	ep = op->ep;
	*kind = op->kind;
	put_back(op->kind == DONE_TX ? &ep->tx : &ep->rx, op);
	if (op->kind == DONE_RX)
		take(ep, op, entry);
	else
		ep->done[op->which]++;
	return ep;
}

/* Injected messages were copied when they were posted. */
static inline int take_injected(struct ofi_port *p, struct done *done)
{
	if (!p->injected)
		return 0;
	*done = (struct done){ .ep = &p->injected->ep, .kind = DONE_TX, .count = p->injected_count };
	p->injected = NULL;
	p->injected_count = 0;
	return 1;
}

int ofi_poll(struct port *port, struct done *done, int max)
{
	struct ofi_port *p = ofi_port_of(port);
	struct fi_cq_data_entry entries[OFI_CQ_BATCH];
	int out = take_injected(p, done);
	const int room = max - out;
	ssize_t n = fi_cq_read(p->cq, entries, (size_t)(room < OFI_CQ_BATCH ? room : OFI_CQ_BATCH));

	if (__builtin_expect(n <= 0, 1)) {
		if (n == -FI_EAGAIN || n == 0)
			return out;
		return n == -FI_EAVAIL ? ofi_cq_error(p) : ofi_error(p, "fi_cq_read", (int)n, &port->err);
	}
	for (ssize_t i = 0; i < n; i++) {
		enum done_kind kind;
		struct ofi_ep *ep = book(p, &entries[i], &kind);

		if (__builtin_expect(!ep, 0)) {
			p->eps[0].bad++;
			continue;
		}
		if (!out || !same(&done[out - 1], ep, kind))
			done[out++] = (struct done){ .ep = &ep->ep, .kind = kind };
		done[out - 1].count++;
	}
	return out;
}

int ofi_wait(struct port *port, int64_t timeout_ns)
{
	struct ofi_port *p = ofi_port_of(port);
	struct timespec limit = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };
	struct pollfd fd = { .fd = p->cq_fd, .events = POLLIN };
	struct fid *cq = &p->cq->fid;
	int rc;

	if (p->cq_fd < 0)
		return driver_no_wait(port, timeout_ns);
	rc = fi_trywait(p->fabric, &cq, 1);
	if (rc == -FI_EAGAIN)
		return 0;
	if (rc)
		return ofi_error(p, "fi_trywait", rc, &port->err);
	rc = ppoll(&fd, 1, &limit, NULL);
	if (rc < 0 && errno != EINTR)
		return error_sys(&port->err, -errno, "cannot wait for completions of libfabric's provider %s",
				 p->info->fabric_attr->prov_name);
	return 0;
}
