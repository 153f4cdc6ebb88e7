/* Private to the libfabric driver: its port, endpoint, operations under way and the address that travels to the peer. */
#ifndef DRIVER_OFI_H
#define DRIVER_OFI_H

#include "driver/driver.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

extern const struct driver driver_ofi;

#define OFI_ALIGN     64u /* slots, and regions in them, begin at multiples of this */
#define OFI_CQ_BATCH  32 /* completions taken with one call */
#define OFI_NAME_MAX  160 /* bytes of a provider's address that travel */
#define OFI_PROVIDERS 400 /* text with the names of providers */

/*
 * An operation under way. Its place in memory is the context that the provider hands back, and the provider may use
 * the head of it; nothing else tells which operation completed, since they may complete in any order.
 */
struct ofi_op {
	struct fi_context2 context; /* first: its address is the context */
	struct ofi_ep *ep;
	enum done_kind kind;
	uint32_t which; /* of the operations that a ring repeats */
	uint32_t slot; /* of its own, where payload is compared: they complete in any order */
};

/* One end of a connection as it travels to the peer (ofi_addr.c). */
struct ofi_addr {
	uint8_t type; /* enum fi_ep_type */
	char provider[SPEC_NAME];
	uint32_t index; /* of the endpoint among its port's: what a write with data tells it by */
	uint64_t offset; /* of its receive slots in the region, and how many they are */
	uint32_t slots;
	uint64_t key, base; /* of the memory region, and where it begins for those who write to it */
	uint64_t token; /* MSG: what a request to connect must bring along */
	uint32_t name_len;
	uint8_t name[OFI_NAME_MAX]; /* fi_getname() */
};

/* One of the operations that a ring repeats, ready to be issued. */
struct ofi_kind {
	ssize_t (*issue)(const struct ofi_ep *ep, struct ofi_op *op, uint32_t size, uint8_t *from, uint64_t to);
	uint32_t size, offset; /* bytes a message; of its region in a slot, here and at the peer */
};

/* Slots in a circle: those of the next cycle of operations, or of the next receive. */
struct ofi_ring {
	uint32_t slots, next, stride;
};

struct ofi_queue { /* operations that are not under way */
	struct ofi_op *ops, **idle;
	uint32_t count, left;
};

struct ofi_port {
	struct port port;
	struct port_conf conf;
	const struct spec *spec;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq; /* of all endpoints, both directions */
	int cq_fd; /* -1: polling */
	struct fid_eq *eq; /* MSG */
	struct fid_pep *pep; /* MSG, passive side */
	struct fi_info **requests; /* MSG, passive side: by endpoint, requests to connect that came early */
	uint64_t token;
	struct ofi_ep *eps; /* spec->qps, by index */
	uint64_t ep_bytes; /* memory that the first one took; before that: of the process */
	bool write_consumes; /* a write with data takes a posted receive (FI_RX_CQ_DATA) */
	bool delivered; /* a completed write has arrived */
	struct ofi_ep *injected; /* it has injected messages that the next poll reports */
	unsigned injected_count;
};

struct ofi_ep {
	struct ep ep;
	struct ep_conf conf;
	struct fid_ep *fid;
	struct fid_av *av;
	struct fid_mr *mr, *operand_mr; /* mr: FI_MR_ENDPOINT, else the region's */
	void *desc, *operand_desc;
	fi_addr_t dest;
	struct ofi_addr own, peer;
	uint64_t target; /* where the peer's receive slots begin */
	bool connected;
	bool injects; /* sends are copied at once and need no completion: the answer follows */
	bool own_slots; /* each operation has its slot, in which nothing else lies while it is under way */

	struct ofi_kind kind[SPEC_OPS];
	uint32_t kinds, next; /* kind[next] is issued next */
	struct ofi_queue tx, rx;
	struct ofi_ring from, to, into; /* slots of sends here, at the peer, and of receives here */
	uint64_t done[SPEC_OPS]; /* completed, of each kind */
	uint64_t rx_room; /* bytes of a receive */
	uint64_t shortfall; /* see struct counters */
	uint32_t rx_sizes, rx_size[SPEC_OPS], rx_offset; /* bytes that a message may have, the most first */
	uint32_t write_size[SPEC_OPS]; /* of a write with data, by its place in the list */
	uint64_t operand[2]; /* of atomics: 1 (added, swapped in) and 0 (compared with) */
	uint64_t bad;
};

static inline struct ofi_port *ofi_port_of(struct port *port)
{
	return (struct ofi_port *)port;
}

static inline struct ofi_ep *ofi_ep_of(struct ep *ep)
{
	return (struct ofi_ep *)ep;
}

static inline struct ofi_port *ofi_ep_port(const struct ofi_ep *ep)
{
	return (struct ofi_port *)ep->ep.port;
}

/* The data that goes with a write: whose it is, and the how many-th operation of the list. */
#define OFI_DATA_EP 16u /* bits of the endpoint's index */
static inline uint64_t ofi_data(const struct ofi_ep *ep, const struct ofi_op *op)
{
	return (uint64_t)op->which << OFI_DATA_EP | ep->peer.index;
}

/* Where in the memory of its ring an operation's slot begins. */
static inline size_t ofi_slot(const struct ofi_ep *ep, const struct ofi_ring *ring, const struct ofi_op *op)
{
	return (size_t)(ep->own_slots ? op->slot : ring->next) * ring->stride;
}

static inline enum fi_ep_type ofi_ep_type(const struct ofi_port *p)
{
	return p->info->ep_attr->type;
}

/* Latency of a write ends with a completion at the receiver: it is written with data, as write_imm is. */
static inline bool ofi_with_data(const struct spec *spec, enum verb verb)
{
	return verb == VERB_WRITE_IMM ||
	       (verb == VERB_WRITE && spec->metric == METRIC_LAT && latency_is_ping_pong(spec));
}

static inline bool ofi_carries_data(const struct spec *spec)
{
	const uint32_t verbs = spec_verbs(spec);

	return verbs & VERB_BIT(VERB_WRITE_IMM) || (verbs & VERB_BIT(VERB_WRITE) && ofi_with_data(spec, VERB_WRITE));
}

/* --- ofi_info.c: which provider, fabric and domain --- */

bool ofi_has_provider(const char *name); /* "tcp" or "tcp:eth0"; any when empty */
uint64_t ofi_message_max(const struct spec *spec); /* 0: no such provider */
int ofi_info_find(struct ofi_port *p, struct error *err); /* fills p->info and what follows from it */
/* Splits "verbs;ofi_rxm:mlx5_0": both texts of SPEC_NAME bytes, domain empty when there is none. */
void ofi_device_split(const char *device, char *ret_provider, char *ret_domain);

/* --- ofi_addr.c: the address blob; pure --- */

void ofi_addr_pack(const struct ofi_addr *addr, struct buf *to);
int ofi_addr_unpack(struct ofi_addr *ret, struct cursor *from, struct error *err);
/* Whether the two ends can talk at all. */
int ofi_addr_check(const struct ofi_addr *own, const struct ofi_addr *peer, struct error *err);

/* --- ofi_shm.c: files of the shm provider; with any other all is well --- */

/* Names of our own; removes the files of processes that have ended. */
int ofi_shm_open(struct ofi_port *p, struct error *err);
/* Before an endpoint is created: to write where no room is kills the process. */
int ofi_shm_room(const struct ofi_ep *ep, struct error *err);
/* Why there is no such provider; 0: not for want of room. */
int ofi_shm_missing(const char *device, struct error *err);

/* --- ofi_room.c: memory that endpoints take --- */

int ofi_room_begin(const struct ofi_ep *ep, struct error *err); /* before an endpoint is made, */
void ofi_room_end(const struct ofi_ep *ep); /* and then */

/* --- ofi_ep.c: endpoints and their memory --- */

int ofi_ep_make(struct ofi_ep *ep, struct fi_info *info, struct error *err); /* created, bound, enabled unless MSG */
int ofi_reg(struct port *port, struct mem *mem, struct region **ret, struct error *err);
void ofi_unreg(struct region *region);
int ofi_ep_register(struct ofi_ep *ep, struct error *err);
void ofi_ep_free(struct ofi_ep *ep);

/* --- ofi_msg.c: connections of MSG endpoints --- */

int ofi_msg_open(struct ofi_port *p, struct error *err);
void ofi_msg_close(struct ofi_port *p);
int ofi_msg_connect(struct ofi_ep *ep, int64_t deadline_ns, struct error *err);

/* --- ofi_hello.c --- */

/* Providers connect with the first message, which may take long: that one is not of the test. */
int ofi_hello(struct ofi_ep *ep, int64_t deadline_ns, struct error *err);

/* --- ofi_op.c, ofi_poll.c: the hot path --- */

int ofi_prepare(struct ep *ep, const struct work *work, struct error *err);
/* ofi_rxd of 1.17 (below udp) crashes at the peer when something else is under way beside an atomic operation. */
bool ofi_goes_alone(const struct ofi_port *p);
void ofi_queue_free(struct ofi_queue *queue);
int ofi_post(struct ep *base, unsigned n, unsigned flags);
int ofi_post_rx(struct ep *base, unsigned n);
int ofi_poll(struct port *port, struct done *done, int max);
int ofi_wait(struct port *port, int64_t timeout_ns);

/* --- ofi_facts.c: what was used --- */

void ofi_port_facts(const struct port *port, struct facts *ret);
void ofi_port_nic(const struct port *port, struct nic *ret);

/* --- ofi_error.c: sentences for what a provider reports --- */

/* call: the libfabric function; code: negative. Adds the provider, the reason in words and a likely cause. */
int ofi_error(const struct ofi_port *p, const char *call, int code, struct error *err);
int ofi_cq_error(struct ofi_port *p); /* takes the failed completion, fills port.err */

#endif
