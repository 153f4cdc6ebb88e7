/* Completion queues, in shared memory so that a sender adds to its peer's, and completion channels on a FIFO each. */
#include "double.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	int code = fails(CALL_ibv_create_comp_channel);
	struct d_channel *ch = code ? NULL : calloc(1, sizeof(*ch));

	if (!ch)
		return fails_pointer(code ? code : ENOMEM);
	snprintf(ch->fifo, sizeof(ch->fifo), "%s/channel-%u", fabric_dir(), fabric_handle());
	ch->channel.context = context;
	ch->channel.fd = mkfifo(ch->fifo, 0600) ? -1 : open(ch->fifo, O_RDWR | O_CLOEXEC);
	if (ch->channel.fd < 0) {
		free(ch);
		return NULL;
	}
	count_add(COUNT_CHANNEL, 1);
	return &ch->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int code = fails_to_end(CALL_ibv_destroy_comp_channel, channel);

	if (code)
		return code;
	if (channel->refcnt)
		return fails_busy(channel);
	close(channel->fd);
	unlink(((struct d_channel *)channel)->fifo);
	free(channel);
	count_add(COUNT_CHANNEL, -1);
	return 0;
}

/* A reader that went away meanwhile wants no event. */
static void send_event(const struct fab_cq *cq)
{
	int fd = *cq->fifo ? open(cq->fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	if (write(fd, &cq->owner, sizeof(cq->owner)) != sizeof(cq->owner))
		dprintf(STDERR_FILENO, "double: an event of %s was lost: %m\n", cq->fifo);
	close(fd);
}

void cq_push(struct fab_cq *cq, const struct fab_cqe *cqe)
{
	bool event;

	fabric_lock(&cq->lock);
	if (cq->head - cq->tail == cq->size)
		cq->overrun = true;
	else
		cq->cqe[cq->head % cq->size] = *cqe;
	if (!cq->overrun)
		__atomic_store_n(&cq->head, cq->head + 1, __ATOMIC_RELEASE);
	event = cq->armed;
	cq->armed = false;
	fabric_unlock(&cq->lock);
	if (event)
		send_event(cq);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	int code = fails(CALL_ibv_create_cq);
	struct d_cq *cq;
	uint64_t offset;

	if (!code && (cqe < 1 || (uint32_t)cqe > config->max_cqe || vector < 0 || vector >= context->num_comp_vectors))
		code = EINVAL;
	if (code)
		return fails_pointer(code);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return fails_pointer(ENOMEM);
	cq->bytes = sizeof(*cq->fab) + (size_t)cqe * sizeof(struct fab_cqe);
	offset = fabric_alloc(cq->bytes);
	if (!offset) {
		free(cq);
		return fails_pointer(ENOMEM);
	}
	cq->fab = fabric_at(offset);
	fabric_mutex(&cq->fab->lock);
	cq->fab->size = (uint32_t)cqe;
	cq->fab->owner = (uintptr_t)&cq->cq;
	if (channel) {
		memcpy(cq->fab->fifo, ((struct d_channel *)channel)->fifo, sizeof(cq->fab->fifo));
		channel->refcnt++;
	}
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = cqe;
	count_add(COUNT_CQ, 1);
	return &cq->cq;
}

/* libibverbs would wait for the acknowledgement of events for ever: here that is refused. */
int ibv_destroy_cq(struct ibv_cq *base)
{
	int code = fails_to_end(CALL_ibv_destroy_cq, base);
	struct d_cq *cq = d_cq_of(base);

	if (code)
		return code;
	if (cq->users || cq->unacked)
		return fails_busy(cq);
	if (base->channel)
		base->channel->refcnt--;
	fabric_free(fabric_offset(cq->fab), cq->bytes);
	free(cq);
	count_add(COUNT_CQ, -1);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **ret, void **ret_context)
{
	int code = fails(CALL_ibv_get_cq_event);
	uint64_t owner;

	if (code) {
		errno = code;
		return -1;
	}
	if (read(channel->fd, &owner, sizeof(owner)) != sizeof(owner))
		return -1;
	*ret = (struct ibv_cq *)(uintptr_t)owner;
	*ret_context = (*ret)->cq_context;
	d_cq_of(*ret)->unacked++;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
	d_cq_of(cq)->unacked -= count;
}

int cq_notify(struct ibv_cq *cq, int solicited)
{
	int code = fails(CALL_ibv_req_notify_cq);
	struct fab_cq *fab = d_cq_of(cq)->fab;

	(void)solicited;
	if (code)
		return code;
	fabric_lock(&fab->lock);
	fab->armed = true;
	fabric_unlock(&fab->lock);
	return 0;
}

/* Whether the entry is for the caller: a destroyed queue pair leaves nothing behind. */
static bool take(const struct fab_cqe *cqe, struct ibv_wc *ret)
{
	struct d_qp *qp = qp_local(cqe->wc.qp_num);
	const struct fault *fault;

	if (!qp)
		return false;
	*ret = cqe->wc;
	if (cqe->send) {
		__atomic_store_n(&qp->done, cqe->sq_end, __ATOMIC_RELEASE);
		return true;
	}
	count_add(COUNT_RECEIVED, cqe->wc.status == IBV_WC_SUCCESS);
	fault = fault_find(FAULT_RECV_STATUS, fault_received());
	if (fault)
		ret->status = (enum ibv_wc_status)fault->value;
	return true;
}

int cq_poll(struct ibv_cq *base, int max, struct ibv_wc *wc)
{
	int code = fails(CALL_ibv_poll_cq), n = 0;
	struct fab_cq *cq = d_cq_of(base)->fab;

	if (code)
		return -code;
	pump_poll();
	if (__atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) == cq->tail)
		return cq->overrun ? -EIO : 0;
	fabric_lock(&cq->lock);
	while (n < max && cq->tail != cq->head) {
		if (take(&cq->cqe[cq->tail % cq->size], &wc[n]))
			n++;
		cq->tail++;
	}
	fabric_unlock(&cq->lock);
	return n;
}
