/*
 * A driver moves messages. It describes once, at set-up, what repeats (prepare), and in the measured window only posts
 * what is prepared and polls counts. A port (device context, CQ) belongs to one worker: no locks on the path.
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "base/error.h"
#include "spec/spec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct buf;
struct clock;
struct cursor;
struct facts;
struct mem;
struct nic;

struct port_conf {
	const struct spec
		*spec; /* the test at hand, resolved; valid until close; the next test's stands there before ep_cut */
	const struct spec *
		tests; /* all that the port is opened for, alike but for size, depths, batch and cq_mod; NULL: spec alone */
	unsigned test_count;
	const struct clock *clock;
	unsigned worker, workers; /* this port's worker and how many there are on this side */
	bool first; /* of all workers that send in the test: null may hold it up */
	bool active; /* this side sends (requests); of a test of both directions: the one that connects */
	const struct sockaddr_storage *local,
		*remote; /* ends of the control connection: where the peer can be reached */
	const atomic_int *gone; /* set when the other side is lost: waits for it end (port_peer); NULL: nobody tells */
	struct error *
		closing; /* close, unreg and ep_close tell here what the device did not take back; NULL = nobody asks */
};

/* Whether messages go out from this side, and whether they come in: both when the test has both directions. */
static inline bool port_sends(const struct port_conf *conf)
{
	return conf->active || conf->spec->bidirectional;
}

static inline bool port_receives(const struct port_conf *conf)
{
	return !conf->active || conf->spec->bidirectional;
}

/* What a port can do, asked after open and before each further test. */
struct caps {
	uint64_t max_size; /* largest message, bytes */
	uint32_t max_tx_depth, max_rx_depth, max_qps;
	uint32_t stride_align; /* slots start at multiples of this: 1 = packed, 64 = cache lines */
	bool delivery; /* a DONE_TX means that the message arrived */
	bool poll_memory; /* a plain write shows in the peer's memory, its last byte last: ping-pong may poll memory */
	bool passive_idle; /* the passive side of a one-sided verb needs no CPU at all */
	bool moves_nothing; /* no byte of a message is read or written (null) */
	bool no_peer; /* nothing reaches the other side's endpoints: the driver answers by itself (null) */
	bool can_wait; /* wait() sleeps; else polling only */
	bool in_turn; /* one side's addresses answer the other's: ep_offer comes before its ep_addr */
	const char *device; /* whose place counts for memory near it; NULL: none */
	bool counts_loss; /* counters() gives lost, duplicated, reordered from sequence numbers */
	bool counts_ops; /* operations of a list complete in any order: counters() tells how many of each */
	bool paces; /* the device holds each endpoint back to the test's --rate_limit: no schedule is needed to post */
	bool times_trips; /* a GPU plays both sides of a ping-pong and takes the time of each round trip: trips() */
	bool shows; /* messages do not lie in the order of the slots: poll hands each to port->look */
};

/* One endpoint (QP, socket). A driver embeds it at the head of its own struct. */
struct ep {
	struct port *port;
	uint32_t index; /* 0 ... qps - 1 */
};

/* Likewise embedded by each driver. */
struct port {
	const struct driver *drv;
	struct error err; /* why post or poll returned a negative value */
	unsigned phases; /* counted up by the engine before the first post of a phase */
	void *owner; /* who wraps the driver's functions: engine/validate.c */
	/* With caps.shows, of each message that arrives, while it stays; NULL: nobody looks. */
	void (*look)(struct ep *ep, const uint8_t *data);
};

struct ep_conf {
	uint32_t index;
	struct region *region; /* from reg() */
	struct mem *mem;
	size_t tx_offset, rx_offset; /* this endpoint's slots in mem */
	uint32_t tx_slots, rx_slots; /* a ring of equal messages */
	uint32_t stride; /* bytes from slot to slot */
};

/* One of the operations that a ring repeats. */
struct op {
	enum verb verb;
	uint32_t size; /* bytes a message */
	uint32_t offset; /* of its region within a slot, here and at the peer */
};

/*
 * What a ring of work requests repeats: a cycle of operations, one after another. Request i is op[i % ops] in slot
 * (i / ops) % slots; a ring is whole cycles. WORK_RX: op[] are those that consume a receive, in their order; all receives
 * are alike, with room for the largest of them (work_largest) in its region.
 */
enum work_kind { WORK_TX, WORK_RX };
struct work {
	enum work_kind kind;
	uint32_t ops; /* 1 ... SPEC_OPS */
	struct op op[SPEC_OPS];
	uint32_t signal; /* WORK_TX: every n-th is signalled; completions arrive in steps of n */
	uint32_t batch; /* most that one post will be asked for */
};

static inline const struct op *work_largest(const struct work *work)
{
	const struct op *largest = work->op;

	for (uint32_t i = 1; i < work->ops; i++)
		largest = work->op[i].size > largest->size ? &work->op[i] : largest;
	return largest;
}

enum done_kind { DONE_TX, DONE_RX };
struct done {
	struct ep *ep;
	uint32_t count; /* messages that this entry stands for */
	enum done_kind kind;
};

#define POST_LAST 1u /* signal the last message of this post, wherever the ring stands */

struct counters { /* of one endpoint, since it was prepared; receiver's side but the last */
	uint64_t lost, duplicated, reordered;
	uint64_t bad; /* messages of the wrong length or not ours */
	uint64_t shortfall; /* bytes by which good messages that arrived were smaller than the largest (work_largest) */
	uint64_t op_sent[SPEC_OPS]; /* completed by operation (caps.counts_ops) */
};

struct driver {
	const char *name;
	enum driver_kind kind;

	/* Whether this host has a device of this driver by that name (any when name is empty). */
	bool (*has_device)(const char *name);
	/* Largest message of the test's device, asked before anything is opened; 0 = not known. */
	uint64_t (*message_max)(const struct spec *spec);

	int (*open)(const struct port_conf *conf, struct port **ret, struct error *err);
	void (*caps)(const struct port *port, struct caps *ret);
	void (*facts)(const struct port *port,
		      struct facts *ret); /* what was used, once connected: device, GID, MTU ... */
	void (*nic)(const struct port *port,
		    struct nic *ret); /* by what its messages leave this host, once connected */
	void (*close)(struct port *port);

	int (*reg)(struct port *port, struct mem *mem, struct region **ret, struct error *err);
	void (*unreg)(struct region *region);

	/*
	 * Set-up of endpoints, on both sides at once: ep_open for all, addresses exchanged (ep_addr appends an opaque blob
	 * of at most EP_ADDR_MAX bytes), ep_connect with the peer's blob, then a barrier. ep_connect of the active and the
	 * passive side run at the same time and must not wait for the peer beyond what deadline_ns (clock) allows.
	 */
	int (*ep_open)(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err);
	int (*ep_addr)(struct ep *ep, struct buf *to, struct error *err);
	/* With caps.in_turn, on the side that answers: what the peer's endpoint offers in its address. */
	int (*ep_offer)(struct ep *ep, struct cursor *peer, struct error *err);
	int (*ep_connect)(struct ep *ep, struct cursor *peer, int64_t deadline_ns, struct error *err);
	void (*ep_close)(struct ep *ep);
	/*
	 * Before the next test on the same endpoints: where its slots lie in the same region; the peer's lie likewise. All
	 * that was sent is completed; receives that are still posted stay, as they have room for any of the port's tests.
	 */
	int (*ep_cut)(struct ep *ep, const struct ep_conf *conf, struct error *err);

	/* Builds the ring of native work requests of one kind and counts from 0; again for the next test, after ep_cut. */
	int (*prepare)(struct ep *ep, const struct work *work, struct error *err);
	/* Payload of the slot that the next post will send, and of the slot where the next message arrives; NULL = none. */
	uint8_t *(*tx_slot)(struct ep *ep);
	uint8_t *(*rx_slot)(struct ep *ep);

	/*
	 * Hot. post: sends the next n messages of the ring, returns how many were accepted (0 ... n, fewer when the device
	 * or socket is full) or a negative errno with port->err. post_rx: the same for receives. poll: completions since the
	 * last call, at most max entries, or a negative errno with port->err. None of them blocks.
	 */
	int (*post)(struct ep *ep, unsigned n, unsigned flags);
	int (*post_rx)(struct ep *ep, unsigned n);
	/*
	 * When nothing more is posted: sends the rest of a message that is half through. 1 = it is accepted now and will
	 * complete as if posted, 0 = there was none, -EAGAIN = not yet, else a negative errno with port->err.
	 */
	int (*finish)(struct ep *ep);
	int (*poll)(struct port *port, struct done *done, int max);
	/* Sleeps until poll or post may have something, at most timeout_ns: 0, or a negative errno with port->err. */
	int (*wait)(struct port *port, int64_t timeout_ns);

	void (*counters)(const struct ep *ep, struct counters *ret);
	/* With caps.times_trips: questions with an answer, or answers, since it was prepared, and what the last round trip took. */
	uint64_t (*trips)(const struct ep *ep, int64_t *ret_ns);
};

#define EP_ADDR_MAX 256

/* Whether waiting for the other side makes sense: 0, or -ECONNRESET with a sentence when it is gone. */
int port_peer(const struct port_conf *conf, struct error *err);

/* The largest value that a number of the spec has in any of the port's tests. */
uint64_t port_most(const struct port_conf *conf, size_t offset);
#define PORT_MOST(conf, field) port_most(conf, offsetof(struct spec, field))
/* Test number i of a port, NULL behind the last one. */
const struct spec *port_test(const struct port_conf *conf, unsigned i);

extern const struct driver *const drivers[]; /* NULL-terminated */
const struct driver *driver_find(enum driver_kind kind); /* NULL when not built in */

/* Defaults for what a driver does not have: they answer -EOPNOTSUPP or do nothing, so that no caller tests for NULL. */
int driver_no_wait(struct port *port, int64_t timeout_ns);
uint64_t driver_no_message(const struct spec *spec); /* message_max: not known */
int driver_no_half(struct ep *ep); /* finish, where a message goes whole or not at all */
int driver_no_reg(struct port *port, struct mem *mem, struct region **ret, struct error *err);
void driver_no_unreg(struct region *region);
void driver_no_nic(const struct port *port, struct nic *ret); /* by none */

#endif
