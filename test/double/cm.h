/* The stand-in connection manager: what its two files share. */
#ifndef DOUBLE_CM_H
#define DOUBLE_CM_H

#include "double.h"

#include <rdma/rdma_cma.h>

#pragma GCC visibility push(hidden)

#define CM_CONSUMER_REJECT 28 /* reason code of a request that the program at the other end refuses */
#define CM_PRIVATE         56u /* bytes of a connection request's private data, padded */

struct d_cm_channel {
	struct rdma_event_channel channel;
	uint32_t handle; /* names its FIFO */
};

/* One event on its way: from an identifier of one process to that of another, or to itself. */
struct cm_message {
	enum rdma_cm_event_type type;
	int status;
	uint64_t to, from; /* identifiers' addresses in their processes */
	uint32_t from_channel;
	uint32_t qpn, psn;
	uint8_t responder, initiator, retries, rnr_retries;
	uint8_t gid[16];
	uint8_t data_len;
	uint8_t data[CM_PRIVATE];
};

struct d_cm_id {
	struct rdma_cm_id id;
	uint16_t port; /* bound to, host order */
	uint8_t gid[16]; /* own address */
	uint32_t psn;
	struct rdma_conn_param own;
	struct cm_message peer; /* the last message from there */
};

struct d_cm_event {
	struct rdma_cm_event event;
	uint8_t data[CM_PRIVATE];
};

static inline struct d_cm_id *d_cm_id_of(struct rdma_cm_id *id)
{
	return (struct d_cm_id *)id;
}

struct d_cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps);
struct ibv_context *cm_context(void); /* of the first device; only to be named */

/* --- cm_event.c --- */

bool cm_send(uint32_t channel, const struct cm_message *message); /* false: nobody is there */
void cm_post(struct d_cm_id *id, enum rdma_cm_event_type type); /* an event to the own channel */
uint16_t cm_listen(struct d_cm_id *id); /* the port: a new one when none is bound; 0: taken */
bool cm_listener(uint16_t port, uint32_t *channel, uint64_t *id);
void cm_unlisten(struct d_cm_id *id);

#pragma GCC visibility pop

#endif
