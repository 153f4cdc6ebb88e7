/* Event channels of the stand-in connection manager, a FIFO each, and who listens at which port. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path_of(uint32_t handle, char *ret, size_t size)
{
	snprintf(ret, size, "%s/cm-%u", fabric_dir(), handle);
	return ret;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	int code = fails(CALL_rdma_create_event_channel);
	struct d_cm_channel *ch = code || !fabric_map() ? NULL : calloc(1, sizeof(*ch));
	char path[128];

	if (!ch)
		return fails_pointer(code ? code : ENOMEM);
	ch->handle = fabric_handle();
	path_of(ch->handle, path, sizeof(path));
	ch->channel.fd = mkfifo(path, 0600) ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (ch->channel.fd < 0) {
		free(ch);
		return NULL;
	}
	count_add(COUNT_CM_CHANNEL, 1);
	return &ch->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	char path[128];

	close(channel->fd);
	unlink(path_of(((struct d_cm_channel *)channel)->handle, path, sizeof(path)));
	free(channel);
	count_add(COUNT_CM_CHANNEL, -1);
}

bool cm_send(uint32_t channel, const struct cm_message *message)
{
	char path[128];
	int fd = open(path_of(channel, path, sizeof(path)), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	bool sent = fd >= 0 && write(fd, message, sizeof(*message)) == sizeof(*message);

	if (fd >= 0)
		close(fd);
	return sent;
}

/* The fault asked for takes the place of the event at the step where it belongs; silence is no event at all. */
static bool replace(enum rdma_cm_event_type *type)
{
	static const struct {
		enum cm_fault fault;
		enum rdma_cm_event_type from, to;
	} rows[] = {
		{ CM_FAULT_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_ERROR },
		{ CM_FAULT_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR },
		{ CM_FAULT_REJECTED, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_REJECTED },
		{ CM_FAULT_UNREACHABLE, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_UNREACHABLE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].fault == config->cm_fault && rows[i].from == *type) {
			*type = rows[i].to;
			return true;
		}
	}
	return *type != RDMA_CM_EVENT_CONNECT_RESPONSE || config->cm_fault != CM_FAULT_SILENT;
}

void cm_post(struct d_cm_id *id, enum rdma_cm_event_type type)
{
	struct cm_message m = { .to = (uintptr_t)id };

	if (!replace(&type))
		return;
	m.type = type;
	m.status = type == RDMA_CM_EVENT_REJECTED ? 8 : type == RDMA_CM_EVENT_UNREACHABLE ? -ETIMEDOUT : 0;
	cm_send(((struct d_cm_channel *)id->id.channel)->handle, &m);
}

uint16_t cm_listen(struct d_cm_id *id)
{
	struct fabric *f = fabric();
	uint16_t port = 0;

	fabric_lock(&f->lock);
	for (uint32_t i = 0; i < FABRIC_PORTS && !port; i++) {
		struct fab_listener *at = &f->listeners[i];

		if (at->id || (id->port && id->port != FABRIC_FIRST_PORT + i))
			continue;
		at->id = (uintptr_t)id;
		at->channel = ((struct d_cm_channel *)id->id.channel)->handle;
		port = (uint16_t)(FABRIC_FIRST_PORT + i);
	}
	fabric_unlock(&f->lock);
	if (port)
		id->port = port;
	return port;
}

bool cm_listener(uint16_t port, uint32_t *channel, uint64_t *id)
{
	const struct fab_listener *at = &fabric()->listeners[(port - FABRIC_FIRST_PORT) % FABRIC_PORTS];

	*channel = at->channel;
	*id = at->id;
	return at->id != 0;
}

void cm_unlisten(struct d_cm_id *id)
{
	for (uint32_t i = 0; i < FABRIC_PORTS; i++)
		if (fabric()->listeners[i].id == (uintptr_t)id && id->port == FABRIC_FIRST_PORT + i)
			fabric()->listeners[i].id = 0;
}

static void fill(struct d_cm_event *event, const struct cm_message *m, bool datagram)
{
	struct rdma_cm_event *e = &event->event;

	e->event = m->type;
	e->status = m->status;
	memcpy(event->data, m->data, sizeof(event->data));
	if (datagram) {
		e->param.ud.private_data = event->data;
		e->param.ud.private_data_len = m->data_len ? CM_PRIVATE : 0;
		e->param.ud.qp_num = m->qpn;
		e->param.ud.qkey = RDMA_UDP_QKEY;
		return;
	}
	e->param.conn.private_data = event->data;
	e->param.conn.private_data_len = m->data_len ? CM_PRIVATE : 0;
	e->param.conn.responder_resources = m->responder;
	e->param.conn.initiator_depth = m->initiator;
	e->param.conn.qp_num = m->qpn;
}

/* A request makes a new identifier for the connection to be. */
static struct d_cm_id *concerned(const struct cm_message *m, struct rdma_cm_id **listener)
{
	struct d_cm_id *id = (struct d_cm_id *)(uintptr_t)m->to, *fresh;

	if (m->type != RDMA_CM_EVENT_CONNECT_REQUEST)
		return id;
	fresh = cm_id_new(id->id.channel, id->id.context, id->id.ps);
	if (!fresh)
		return NULL;
	fresh->id.verbs = id->id.verbs;
	memcpy(fresh->gid, id->gid, sizeof(id->gid));
	*listener = &id->id;
	return fresh;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **ret)
{
	int code = fails(CALL_rdma_get_cm_event);
	struct d_cm_event *event;
	struct cm_message m;
	struct d_cm_id *id;

	if (code) {
		errno = code;
		return -1;
	}
	if (read(channel->fd, &m, sizeof(m)) != sizeof(m))
		return -1;
	event = calloc(1, sizeof(*event));
	id = event ? concerned(&m, &event->event.listen_id) : NULL;
	if (!id) {
		free(event);
		errno = ENOMEM;
		return -1;
	}
	if (m.from)
		id->peer = m;
	event->event.id = &id->id;
	fill(event, &m, id->id.ps == RDMA_PS_UDP);
	*ret = &event->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int code = fails_to_end(CALL_rdma_ack_cm_event, event);

	if (code) {
		errno = code;
		return -1;
	}
	free(event);
	return 0;
}
