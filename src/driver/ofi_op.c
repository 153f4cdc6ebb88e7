/* Prepares an endpoint's operations and posts them: one call of libfabric a message, chosen by the verb. */
#include "driver/ofi.h"

#include "mem/mem.h"

#include <errno.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>

static inline void move_on(struct ofi_ring *ring)
{
	ring->next = ring->next + 1 == ring->slots ? 0 : ring->next + 1;
}

/* --- one message --- */

static ssize_t issue_send(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to)
{
	(void)to;
	return fi_send(ep->fid, from, size, ep->desc, ep->dest, &op->context);
}

static ssize_t issue_write(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to)
{
	return fi_write(ep->fid, from, size, ep->desc, ep->dest, to, ep->peer.key, &op->context);
}

static ssize_t issue_write_data(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to)
{
	return fi_writedata(ep->fid, from, size, ep->desc, ofi_data(ep, op), ep->dest, to, ep->peer.key, &op->context);
}

static ssize_t issue_read(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to)
{
	return fi_read(ep->fid, from, size, ep->desc, ep->dest, to, ep->peer.key, &op->context);
}

/* Adds 1 to the peer's word. */
static ssize_t issue_add(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to)
{
	(void)size;
	return fi_fetch_atomic(ep->fid, &ep->operand[0], 1, ep->operand_desc, from, ep->desc, ep->dest, to,
			       ep->peer.key, FI_UINT64, FI_SUM, &op->context);
}

/* Swaps 0 for 1, which is as much work when the word differs. */
static ssize_t issue_swap(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to)
{
	(void)size;
	return fi_compare_atomic(ep->fid, &ep->operand[0], 1, ep->operand_desc, &ep->operand[1], ep->operand_desc, from,
				 ep->desc, ep->dest, to, ep->peer.key, FI_UINT64, FI_CSWAP, &op->context);
}

static struct ofi_kind kind_of(const struct spec *spec, const struct op *op)
{
	struct ofi_kind kind = { .issue = issue_send, .size = op->size, .offset = op->offset };

	if (ofi_with_data(spec, op->verb))
		kind.issue = issue_write_data;
	else if (op->verb == VERB_WRITE)
		kind.issue = issue_write;
	else if (op->verb == VERB_READ)
		kind.issue = issue_read;
	else if (op->verb == VERB_ATOMIC_FA)
		kind.issue = issue_add;
	else if (op->verb == VERB_ATOMIC_CS)
		kind.issue = issue_swap;
	return kind;
}

/* --- what repeats --- */

void ofi_queue_free(struct ofi_queue *queue)
{
	free(queue->ops);
	free((void *)queue->idle);
	*queue = (struct ofi_queue){ 0 };
}

static int queue_alloc(struct ofi_queue *queue, struct ofi_ep *ep, enum done_kind kind, uint64_t count,
		       struct error *err)
{
	if (queue->count == count) /* of the test before; receives stay posted */
		return 0;
	ofi_queue_free(queue);
	queue->ops = calloc(count, sizeof(*queue->ops));
	queue->idle = (struct ofi_op **)calloc(count, sizeof(struct ofi_op *));
	if (!queue->ops || !queue->idle)
		return error_set(err, -ENOMEM, "no memory for %llu operations", (unsigned long long)count);
	for (uint32_t i = 0; i < count; i++) {
		queue->ops[i].ep = ep;
		queue->ops[i].kind = kind;
		queue->ops[i].slot = i;
		queue->idle[i] = &queue->ops[i];
	}
	queue->count = queue->left = (uint32_t)count;
	return 0;
}

static int check_op(const struct ofi_ep *ep, const struct op *op, struct error *err)
{
	const uint32_t end = op->offset + op->size;

	if (end <= ep->conf.stride)
		return 0;
	return error_set(err, -EINVAL, "%u bytes do not fit in slots of %u bytes", op->size, ep->conf.stride);
}

/*
 * In a ping-pong the answer proves that a message arrived, so that the provider need not tell of it, which costs both
 * sides an entry of the completion queue.
 */
static bool injects(const struct ofi_port *p, const struct work *work)
{
	const struct spec *spec = p->spec;

	return latency_is_ping_pong(spec) && !spec_has_list(spec) && spec->verb == VERB_SEND && !spec->validate &&
	       work->op[0].size <= p->info->tx_attr->inject_size;
}

bool ofi_goes_alone(const struct ofi_port *p)
{
	return spec_verbs(p->spec) & ATOMIC_VERBS && strstr(p->info->fabric_attr->prov_name, "ofi_rxd");
}

static int prepare_tx(struct ofi_ep *ep, const struct work *work, struct error *err)
{
	const struct ofi_port *p = ofi_ep_port(ep);
	int rc = 0;

	if (!ep->connected)
		return error_set(err, -ENOTCONN, "endpoint %u is not connected yet", ep->ep.index);
	for (uint32_t i = 0; rc == 0 && i < work->ops; i++) {
		ep->kind[i] = kind_of(p->spec, &work->op[i]);
		rc = check_op(ep, &work->op[i], err);
	}
	if (rc)
		return rc;
	ep->own_slots = p->spec->validate;
	ep->injects = injects(p, work);
	ep->kinds = work->ops;
	ep->next = 0;
	memset(ep->done, 0, sizeof(ep->done));
	ep->from = (struct ofi_ring){ .slots = ep->conf.tx_slots, .stride = ep->conf.stride };
	ep->to = (struct ofi_ring){ .slots = ep->peer.slots, .stride = ep->conf.stride };
	return queue_alloc(&ep->tx, ep, DONE_TX, ofi_goes_alone(p) ? 1 : PORT_MOST(&p->conf, tx_depth), err);
}

/* The receiver's list has no other operations in it, the sender's places are those of all. */
static void write_sizes(struct ofi_ep *ep)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(ofi_ep_port(ep)->spec, op);

	for (unsigned i = 0; i < SPEC_OPS; i++)
		ep->write_size[i] = i < ops && op[i].size <= ep->rx_size[0] ? (uint32_t)op[i].size : ep->rx_size[0];
}

static int prepare_rx(struct ofi_ep *ep, const struct work *work, struct error *err)
{
	const struct port_conf *conf = &ofi_ep_port(ep)->conf;
	const struct op *largest = work_largest(work);

	if (largest->offset + largest->size > ep->conf.stride)
		return error_set(err, -EINVAL, "messages of %u bytes do not fit in receive slots of %u bytes",
				 largest->size, ep->conf.stride);
	ep->bad = ep->shortfall = 0;
	ep->own_slots = ofi_ep_port(ep)->spec->validate;
	ep->rx_room = port_test(conf, 1) ? PORT_MOST(conf, size) : largest->size; /* it may stay for the next test */
	ep->rx_sizes = 1;
	ep->rx_size[0] = largest->size;
	ep->rx_offset = largest->offset;
	for (uint32_t i = 0; i < work->ops; i++) {
		if (&work->op[i] != largest)
			ep->rx_size[ep->rx_sizes++] = work->op[i].size;
	}
	write_sizes(ep);
	ep->into = (struct ofi_ring){ .slots = ep->conf.rx_slots, .stride = ep->conf.stride };
	return queue_alloc(&ep->rx, ep, DONE_RX, PORT_MOST(conf, rx_depth), err);
}

int ofi_prepare(struct ep *ep, const struct work *work, struct error *err)
{
	return work->kind == WORK_RX ? prepare_rx(ofi_ep_of(ep), work, err) : prepare_tx(ofi_ep_of(ep), work, err);
}

/* --- posting --- */

static int post_failed(struct ofi_ep *ep, const char *what, ssize_t rc, unsigned done)
{
	if (rc == -FI_EAGAIN)
		return (int)done;
	return ofi_error(ofi_ep_port(ep), what, (int)rc, &ep->ep.port->err);
}

/* The next operation of the cycle; behind its last one the slots move on. */
static inline void advance(struct ofi_ep *ep)
{
	if (++ep->next < ep->kinds)
		return;
	ep->next = 0;
	move_on(&ep->from);
	move_on(&ep->to);
}

/* What another endpoint has injected is reported first: a port remembers one. */
static int post_injecting(struct ofi_ep *ep, unsigned n)
{
	struct ofi_port *p = ofi_ep_port(ep);
	const uint8_t *const slots = ep->conf.mem->data + ep->conf.tx_offset + ep->kind[0].offset;

	if (p->injected && p->injected != ep)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		const ssize_t rc =
			fi_inject(ep->fid, slots + (size_t)ep->from.next * ep->from.stride, ep->kind[0].size, ep->dest);

		if (__builtin_expect(rc != 0, 0))
			return post_failed(ep, "fi_inject", rc, i);
		p->injected = ep;
		p->injected_count++;
		ep->done[0]++;
		move_on(&ep->from);
	}
	return (int)n;
}

int ofi_post(struct ep *base, unsigned n, unsigned flags)
{
	struct ofi_ep *ep = ofi_ep_of(base);
	uint8_t *const slots = ep->conf.mem->data + ep->conf.tx_offset;

	(void)flags; /* every message completes by itself */
	if (ep->injects)
		return post_injecting(ep, n);
	n = n < ep->tx.left ? n : ep->tx.left;
	for (unsigned i = 0; i < n; i++) {
		const struct ofi_kind *kind = &ep->kind[ep->next];
		struct ofi_op *op = ep->tx.idle[ep->tx.left - 1];
		ssize_t rc;

		op->which = ep->next;
		rc = kind->issue(ep, op, kind->size, slots + ofi_slot(ep, &ep->from, op) + kind->offset,
				 ep->target + (uint64_t)ep->to.next * ep->to.stride + kind->offset);

		if (__builtin_expect(rc != 0, 0))
			return post_failed(ep, "posting a message", rc, i);
		ep->tx.left--;
		advance(ep);
	}
	return (int)n;
}

/* Without sends nothing takes a receive, unless the provider wants one for each write with data. */
static inline bool takes_receives(const struct ofi_port *p)
{
	return p->write_consumes || spec_verbs(p->spec) & VERB_BIT(VERB_SEND);
}

/* All receives that are idle, at most n; those of n beyond them belonged to writes, which took none. */
int ofi_post_rx(struct ep *base, unsigned n)
{
	struct ofi_ep *ep = ofi_ep_of(base);
	uint8_t *const slots = ep->conf.mem->data + ep->conf.rx_offset + ep->rx_offset;
	unsigned most = n < ep->rx.left ? n : ep->rx.left;

	if (!takes_receives(ofi_ep_port(ep)))
		return (int)n;
	for (unsigned i = 0; i < most; i++) {
		struct ofi_op *op = ep->rx.idle[ep->rx.left - 1];
		ssize_t rc = fi_recv(ep->fid, slots + ofi_slot(ep, &ep->into, op), ep->rx_room, ep->desc,
				     FI_ADDR_UNSPEC, &op->context);

		if (__builtin_expect(rc != 0, 0))
			return post_failed(ep, "fi_recv", rc, i);
		ep->rx.left--;
		move_on(&ep->into);
	}
	return (int)n;
}
