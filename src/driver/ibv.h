/* Private to the libibverbs driver: its port, endpoint, prepared rings and the address that travels to the peer. */
#ifndef DRIVER_IBV_H
#define DRIVER_IBV_H

#include "driver/driver.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

extern const struct driver driver_ibv;

#define IB_WC_BATCH    32 /* completions taken from the device with one call */
#define IB_CQ_CHEAP    16384u /* completion queues up to this hold everything that could complete */
#define IB_GRH_BYTES   40 /* in front of every UD payload that arrives */
#define IB_QKEY        0x0fab0001u /* of UD endpoints: keeps other programs' datagrams out; rdma_cm dictates its own */
#define IB_INLINE_AUTO 236u /* messages up to this travel in the work request when no inline size was asked for */
#define IB_RINGS_MAX                                                                                                   \
	65536u /* work requests that all rings of a port are stretched to, so that slots repeat with them */

/*
 * wr_id: the endpoint's index in the upper half; below it the direction's bit and the place in the ring. It never
 * changes, so it is written once.
 */
#define IB_WRID_RX 0x80000000u

/*
 * Where a ring's slots are, when there are more of them than work requests: after each use the request moves on to the
 * slot that its next turn will meet. step 0: slots and requests repeat together and nothing ever changes.
 */
struct ib_area {
	uint64_t end, bytes, step;
};

/* A work request with its only scatter/gather element; the elements of a ring form a circle. */
struct ib_tx_slot {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

/* UD needs two elements: the global routing header goes to a scratch area, the payload to the slot. */
struct ib_rx_slot {
	struct ibv_recv_wr wr;
	struct ibv_sge sge[2];
};

/* Enhanced connection establishment: whose options they are, and which. */
struct ib_ece {
	uint32_t vendor, options;
};

/* One end of a connection as it travels to the peer (ibv_addr.c). */
struct ib_addr {
	uint8_t link_layer; /* IBV_LINK_LAYER_... */
	uint8_t gid_type; /* enum ibv_gid_type */
	uint8_t mtu; /* enum ibv_mtu: the port's active one */
	uint8_t rd_init, rd_resp; /* reads and atomics this end can have under way / can answer at once */
	uint8_t gid[16];
	uint16_t lid;
	uint32_t gid_index;
	uint32_t qpn, psn, qkey;
	uint32_t rkey, rx_slots, stride;
	uint32_t target_qpn, srqn; /* -c XRC and DC: where messages go; others: qpn, 0 */
	struct ib_ece ece; /* --use_ece: offered, or answered */
	uint64_t rx_addr; /* of slot 0 */
	char device[SPEC_NAME]; /* for sentences */
	uint8_t cm_addr[16]; /* rdma_cm: where the passive end listens, IPv6 or IPv4-mapped */
	uint16_t cm_port; /* 0 = no rdma_cm */
};

struct ib_ep;
struct ib_port;

/*
 * Whose library makes the queues and the queue pairs of a port: libibverbs (ibv_calls.c), or DOCA (dv.c). What it makes
 * looks like objects of verbs: their context has the functions that post and poll. Those that return an int give 0 or
 * an errno.
 */
struct ib_calls {
	int (*open)(struct ib_port *p, uint64_t entries, struct error *err); /* pd, channel, cq */
	void (*close)(struct ib_port *p);
	/* What a call of verbs is named there, for sentences: with why it failed, where that says more than an errno. */
	const char *(*name)(const struct ib_port *p, const char *call);
	struct ibv_qp *(*create_qp)(struct ib_port *p, struct ibv_qp_init_attr_ex *init); /* NULL with errno */
	int (*modify_qp)(struct ib_ep *ep, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(const struct ib_ep *ep, struct ibv_qp_attr *ret, int mask);
	int (*destroy_qp)(struct ib_port *p, struct ibv_qp *qp);
};

/* Who holds the queue pairs back (--rate_limit_type): the device, or why it does not. */
struct ib_pace {
	bool on;
	char why[128]; /* of auto; empty: nobody asked */
};

struct ib_port {
	struct port port;
	const struct ib_calls *calls;
	struct port_conf conf;
	const struct spec *spec;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* NULL: polling */
	struct ibv_cq *cq; /* sends and receives */

	/* Completions taken from the device and not handed on yet: wc[wc_next ... wc_count - 1]. */
	int wc_next, wc_count;
	bool armed; /* the next completion makes an event */
	unsigned unacked; /* events taken and not acknowledged: doing so costs a lock */
	struct ibv_wc wc[IB_WC_BATCH];

	struct ib_ep *eps; /* spec->qps, by index */
	bool wr_api; /* ibv_wr_*; else ibv_post_send */
	uint32_t inline_max; /* payload up to this goes into the work request */
	uint32_t tx_depth, rx_depth; /* what this side needs of a queue pair, */
	uint32_t most_size; /* and of a receive: of all tests */

	const char *name; /* device's */
	uint8_t num; /* its port */
	struct ibv_device_attr dev;
	struct ibv_port_attr attr;
	struct ibv_gid_entry gid;
	bool grh; /* packets carry a global routing header: always on Ethernet */
	struct ib_pace pace;
	struct ibv_ah *ah; /* UD, DC: towards the one peer */
	struct ib_addr ah_peer;
	struct ibv_mr *scratch_mr;
	uint8_t scratch[64]; /* headers of received datagrams, never read */
	struct ibv_xrcd *xrcd; /* -c XRC only */
	struct ib_dc *dc; /* -c DC only */
	struct ib_tph *tph; /* --ph only */
	struct ib_cm *cm; /* rdma_cm only */
};

/* Tells the device of one request by an ibv_wr_* call. */
typedef void ib_emitter(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr);

/* How often in a row a queue took nothing though it has room, and its head then. */
struct ib_refused {
	uint32_t count, head;
};

struct ib_ep {
	struct ep ep;
	/* hot */
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx; /* NULL: ibv_post_send */
	struct ib_tx_slot *tx;
	struct ib_rx_slot *rx;
	uint32_t tx_len, tx_head, tx_tail; /* ring; next to post; next to complete */
	uint32_t tx_free; /* how many the send queue still takes */
	struct ib_area tx_local, tx_remote, rx_local;
	uint32_t rx_len, rx_head;
	uint32_t rx_slot; /* where the next message arrives */
	uint32_t rx_bytes; /* byte_len of a good message */
	ib_emitter *emit; /* ibv_wr_* */
	ib_emitter *emit_body; /* of XRC and DC, before they add where it goes */
	struct mlx5dv_qp_ex *dci; /* -c DC only */
	uint64_t bad; /* messages of a wrong length */
	struct ib_refused tx_refused, rx_refused;
	/* cold */
	uint32_t rx_smaller[SPEC_OPS]; /* byte_len of good messages of other operations; 0 behind the last */
	uint64_t shortfall; /* by them, see struct counters */
	struct ep_conf conf;
	struct ib_addr own, peer;
	bool connected;
	struct ibv_qp *target; /* -c XRC and DC: where the peer's messages arrive; qp only sends */
	struct ibv_srq *srq; /* its receives */
	bool answers; /* --use_ece: the peer made the offer */
	enum ibv_mtu mtu; /* of the path */
	uint8_t rd_atomic; /* reads and atomics under way, both ends considered */
};

struct region {
	struct ib_port *port;
	struct ibv_mr *mr;
	struct ibv_dm *dm; /* -M device */
};

static inline struct ib_port *ib_port_of(struct port *port)
{
	return (struct ib_port *)port;
}

static inline struct ib_ep *ib_ep_of(struct ep *ep)
{
	return (struct ib_ep *)ep;
}

static inline struct ib_port *ib_ep_port(const struct ib_ep *ep)
{
	return (struct ib_port *)ep->ep.port;
}

/* A knob of the spec, or what is used when it was left open. */
static inline uint64_t ib_knob(uint64_t value, uint64_t otherwise)
{
	return value == SPEC_AUTO ? otherwise : value;
}

static inline unsigned ib_mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

/* --- ibv.c: a port --- */

/* Opens p, from calloc, which has its driver and calls (NULL: no memory); it is freed when that fails. */
int ib_open_port(struct ib_port *p, const struct port_conf *conf, struct port **ret, struct error *err);
void ib_close(struct port *port);
void ib_caps(const struct port *port, struct caps *ret);

extern const struct ib_calls ib_verbs_calls; /* ibv_calls.c */

/* --- ibv_ep.c: its endpoints, see driver.h --- */

int ib_ep_open(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err);
int ib_ep_addr(struct ep *base, struct buf *to, struct error *err);
int ib_ep_offer(struct ep *base, struct cursor *from, struct error *err);
int ib_ep_connect(struct ep *base, struct cursor *from, int64_t deadline_ns, struct error *err);
void ib_ep_close(struct ep *base);
int ib_ep_cut(struct ep *base, const struct ep_conf *conf, struct error *err);
uint8_t *ib_ep_tx_slot(struct ep *base);
uint8_t *ib_ep_rx_slot(struct ep *base);
void ib_ep_counters(const struct ep *base, struct counters *ret);

/* --- ibv_dev.c: finding and opening a device --- */

bool ib_dev_exists(const char *name);
uint64_t ib_dev_message(const struct spec *spec); /* largest message; 0: it cannot be opened */
uint64_t ib_max_message(const struct ib_port *p); /* the same of an open device */
/* The named device, or the first whose port is active when name is empty. Its limits and port are read, too. */
int ib_dev_open(struct ib_port *p, struct error *err);
void ib_dev_close(const struct ib_port *p, struct ibv_context *context);

/* --- ibv_gid.c: which entry of the GID table to use; pure --- */

/*
 * Writes the position in table. asked: a gid_index or SPEC_AUTO. local: the control connection's address as a GID, or
 * NULL: among equals the entry of that address wins. -EINVAL with a sentence that lists what there is.
 */
int ib_gid_choose(const struct ibv_gid_entry *table, unsigned count, bool ethernet, uint64_t asked,
		  const uint8_t local[16], const char *device, unsigned *ret, struct error *err);
const char *ib_gid_type_name(uint32_t type); /* "RoCE v2" ... */
bool ib_gid_is_ipv4(const uint8_t gid[16]);
#define IB_GID_TEXT 48
char *ib_gid_format(const uint8_t gid[16], char *text); /* "10.1.0.1" or "fe80::1" */
bool ib_gid_of_sockaddr(const struct sockaddr_storage *addr, uint8_t ret[16]); /* false: no IP address */
int ib_gid_setup(struct ib_port *p, struct error *err); /* reads the port's table and chooses */

/* --- ibv_addr.c: the address blob --- */

void ib_addr_pack(const struct ib_addr *addr, struct buf *to);
int ib_addr_unpack(struct ib_addr *ret, struct cursor *from, struct error *err);
/* Whether the two ends can talk at all; the sentence says what to choose. */
int ib_addr_check(const struct ib_addr *own, const struct ib_addr *peer, struct error *err);

/* --- ibv_qp.c: queue pairs --- */

enum ibv_qp_type ib_qp_kind(const struct spec *spec);
int ib_qp_probe(struct ib_port *p, struct error *err); /* chooses posting interface and inline size */
void ib_qp_destroy(struct ib_port *p, struct ibv_qp *qp);
int ib_qp_open(struct ib_ep *ep, struct error *err); /* creates it, state INIT; RESET when ECE comes first */
void ib_qp_close(struct ib_ep *ep); /* and its target and receives */

/* --- ibv_state.c: their states --- */

int ib_qp_init(struct ib_ep *ep, struct error *err); /* RESET → INIT */
int ib_qp_connect(struct ib_ep *ep, int64_t deadline_ns, struct error *err); /* INIT → RTR → RTS */
uint32_t ib_qp_key(const struct ib_port *p); /* of UD endpoints */
int ib_qp_ready_ah(struct ib_ep *ep, struct error *err); /* address handle, INIT → RTR → RTS */
int ib_qp_ready_target(struct ib_ep *ep, struct error *err); /* -c DC: the target INIT → RTR, without a peer */
void ib_path_knobs(const struct ib_port *p,
		   struct ibv_ah_attr *path); /* service level, traffic class ... of the test */
uint32_t ib_access(const struct spec *spec); /* of the memory and the queue pair */

/* --- ibv_mem.c: making memory known to the device --- */

int ib_mem_reg(struct port *port, struct mem *mem, struct region **ret, struct error *err);
void ib_mem_unreg(struct region *region);

/* --- ibv_tph.c: memory with processing hints --- */

int ib_tph_open(struct ib_port *p, struct error *err);
void ib_tph_close(struct ib_port *p); /* once no memory is registered */
struct ibv_mr *ib_tph_reg(struct ib_port *p, void *addr, size_t size, unsigned access); /* NULL with errno */
void ib_tph_facts(const struct ib_port *p, struct facts *ret);

/* --- ibv_xrc.c: queue pairs that only send and only receive, and receives of their own --- */

int ib_xrc_open(struct ib_port *p, struct error *err);
void ib_xrc_close(struct ib_port *p);
int ib_xrc_ep_open(struct ib_ep *ep, struct error *err);

/* --- ibv_dc.c: dynamically connected transport --- */

int ib_dc_open(struct ib_port *p, struct error *err);
void ib_dc_close(struct ib_port *p);
struct ibv_qp *ib_dc_create(const struct ib_port *p, struct ibv_qp_init_attr_ex *init); /* NULL with errno */
int ib_dc_ep_open(struct ib_ep *ep, struct error *err);
void ib_dc_emit(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr);
void ib_dc_facts(const struct ib_ep *ep, struct facts *ret);

/* --- ibv_ece.c: enhanced connection establishment, between RESET and INIT --- */

int ib_ece_query(struct ib_ep *ep, struct error *err); /* what the device has goes into ep->own */
int ib_ece_answer(struct ib_ep *ep,
		  struct error *err); /* takes ep->peer's offer, to INIT; the answer goes into ep->own */
int ib_ece_accept(struct ib_ep *ep, struct error *err); /* takes ep->peer's answer, to INIT, and checks it */
void ib_ece_facts(const struct ib_ep *ep, struct facts *ret);

/* --- ibv_pace.c: packet pacing, by the device --- */

int ib_pace_open(struct ib_port *p, struct error *err); /* if asked for: whether the device can; with hw it must */
int ib_pace_set(struct ib_ep *ep, struct error *err); /* from RTS on */
void ib_pace_facts(const struct ib_port *p, struct facts *ret);

/* --- ibv_mlx5.c, ibv_direct.c: libmlx5; data direct --- */

void *ib_mlx5_find(const char *name); /* NULL: no such library or function */

#define IB_DIRECT_ACCESS 1 /* mlx5dv_reg_dmabuf_mr: over that path */
struct ib_direct {
	const char *call; /* that was made last */
	struct ibv_mr *(*reg)(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
			      int mlx5_access);
};
/* 0 or an errno: ENOSYS when libmlx5 does not know it, else as the device answers. */
int ib_direct_find(struct ibv_context *context, struct ib_direct *ret);

/* --- ibv_ring.c: prepared work requests --- */

/* Whether the payload of a verb can travel in the work request. */
static inline bool ib_can_inline(enum verb verb)
{
	return verb == VERB_WRITE || verb == VERB_WRITE_IMM || verb == VERB_SEND;
}

int ib_ring_prepare(struct ep *ep, const struct work *work, struct error *err);

/* --- ibv_post.c, ibv_poll.c, ibv_wr.c: the hot path --- */

static inline uint64_t ib_area_next(const struct ib_area *area, uint64_t addr)
{
	addr += area->step;
	return addr < area->end ? addr : addr - area->bytes;
}

/* A post was refused for want of room, and completions may make some; an empty queue that goes on refusing never has any. */
bool ib_ring_is_full(struct ib_ep *ep, int code);

/* The n requests from the head on were posted. */
void ib_ring_advance(struct ib_ep *ep, uint32_t n);

int ib_ring_post(struct ep *base, unsigned n, unsigned flags);
int ib_ring_post_rx(struct ep *base, unsigned n);
int ib_ring_post_wr(struct ib_ep *ep, unsigned n, unsigned flags); /* by ibv_wr_* */
void ib_ring_emitter(struct ib_ep *ep); /* chooses ep->emit for the ring as it was filled */
int ib_port_poll(struct port *port, struct done *done, int max);
int ib_port_wait(struct port *port, int64_t timeout_ns);

/* --- ibv_facts.c: what was used --- */

/* ibv_link.c: Gb/s of the link, 0 when unknown; and where the peer is not reached over it: a software device, loopback. */
double ib_link_gbps(const struct ibv_port_attr *attr);
double ib_link_rate(const struct ib_port *p, const struct ib_ep *ep);
void ib_port_facts(const struct port *port, struct facts *ret);
void ib_port_nic(const struct port *port, struct nic *ret);

/* --- ibv_error.c: sentences for what the device reports --- */

int ib_wc_error(struct ib_port *p, const struct ibv_wc *first); /* fills port.err, returns its code */
int ib_post_error(struct ib_ep *ep, const char *call, int code);

/* --- ibv_cause.c: sentences for calls that fail --- */

/* "what (call): errno's text; likely cause". code: an errno of either sign, 0 = none was given. Returns it, negative. */
int ib_fail(struct error *err, int code, const char *call, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* At the end of a run: code 0, or the errno with which a call did not take something back; conf.closing tells of the first. */
void ib_kept(const struct ib_port *p, int code, const char *call, const char *what);

/* --- ibv_cm.c: connecting by rdma_cm instead of the control connection --- */

int ib_cm_open(struct ib_port *p, struct error *err);
void ib_cm_close(struct ib_port *p);
void ib_cm_addr(const struct ib_port *p, struct ib_addr *ret);
int ib_cm_connect(struct ib_ep *ep, int64_t deadline_ns, struct error *err);

#endif
