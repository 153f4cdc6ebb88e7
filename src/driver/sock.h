/* What the files of the socket driver share: its port, its endpoint, and what TCP and UDP do differently. */
#ifndef DRIVER_SOCK_H
#define DRIVER_SOCK_H

#include "driver/driver.h"
#include "driver/seq.h"

#include <poll.h>

struct sock_accept;
struct sock_addr;
struct sock_batch;
struct sock_ep;
struct sock_port;
struct sock_zerocopy;

/* What a transport does in its own way; the rest is common. */
struct sock_kind {
	const char *name;
	uint64_t max_size; /* bytes a message */
	void (*close)(struct sock_port *p); /* what ep_open and prepare left in the port */
	int (*ep_open)(struct sock_ep *ep, struct error *err);
	int (*ep_connect)(struct sock_ep *ep, const struct sock_addr *peer, int64_t deadline_ns, struct error *err);
	int (*prepare_tx)(struct sock_ep *ep, const struct work *work, struct error *err);
	int (*prepare_rx)(struct sock_ep *ep, const struct work *work, struct error *err);
	int (*post)(struct sock_ep *ep, unsigned n); /* as struct driver's, without the bookkeeping of completions */
	int (*finish)(struct sock_ep *ep);
	int (*receive)(struct sock_ep *ep,
		       int flags); /* recv flags; new messages (0 ...) or negative errno, port->err */
	void (*facts)(const struct sock_ep *ep, struct facts *ret);
};

/* What an endpoint tells its peer. */
struct sock_addr {
	struct sockaddr_storage address;
	uint64_t nonce; /* of the port: tells its own connections from strangers' */
	uint32_t worker, index;
};

/* A ring of equal packed messages and how far the stream of bytes has got in it. */
struct sock_ring {
	uint8_t *data;
	size_t bytes; /* length of the ring */
	size_t at; /* next byte to send or to be received */
	size_t part; /* bytes of the message at hand that are already through */
	uint32_t size; /* bytes a message */
};

struct sock_ep {
	struct ep base;
	int fd; /* blocking; calls that must not block pass MSG_DONTWAIT. -1 = none */
	bool rx_on; /* prepare(WORK_RX) was called: messages are expected */
	bool tx_blocked; /* the last post got less than it asked for */
	unsigned tx_done; /* messages accepted, to be reported by the next poll */
	unsigned rx_done; /* messages that wait() received, to be reported by the next poll */
	struct sock_ring tx, rx;
	struct sockaddr_storage peer;
	int64_t timeout_ns; /* SO_RCVTIMEO as set, 0 = none yet */

	/* UDP */
	uint64_t tx_seq; /* number of the next datagram */
	uint32_t number; /* bytes of it in front of each: 8, 4, or 0 */
	uint64_t bad; /* datagrams of another length */
	struct seq *seq; /* what arrived; NULL where messages are too small for a number */
	uint32_t segments; /* datagrams a super-datagram of the kernel's segmentation offload; 1 = off */
	bool gro;
	int64_t refused_first_ns, refused_last_ns; /* ICMP "port unreachable": 0 = never */

	/* TCP with --zerocopy */
	struct sock_zerocopy *zerocopy; /* NULL = off */
};

struct sock_port {
	struct port base;
	struct port_conf conf;
	const struct spec *spec;
	const struct clock *clock;
	const struct sock_kind *kind;
	unsigned worker;
	bool active; /* connects */
	bool sends;
	bool zerocopy; /* sends complete by notices on the sockets' error queues */
	bool lazy; /* --events ping-pong: a poll right after a post does not ask the kernel, wait() will */
	bool skip; /* lazy, and there was a post since the last poll that found nothing */
	struct sockaddr_storage here; /* this side's address, port 0 */

	unsigned qps, eps; /* endpoints asked for, and how many exist */
	struct sock_ep **ep;
	unsigned done_count, rx_count; /* entries in: */
	struct sock_ep **done; /* endpoints with tx_done > 0 */
	struct sock_ep **rx; /* endpoints with rx_on */
	unsigned rx_next; /* where the round over rx goes on */
	int epoll_fd; /* over rx when they are many; -1 = none */
	struct pollfd *fds; /* for wait(): 2 * qps entries */

	uint64_t nonce;
	struct sock_accept *accept; /* TCP, passive: the listening socket and what arrived at it */
	struct sock_batch *batch; /* UDP: message headers for sendmmsg and recvmmsg, shared by the endpoints */
	uint8_t *scratch; /* TCP: receive buffer where the rings are too small for large receives */
};

extern const struct driver driver_sock;
extern const struct sock_kind sock_tcp, sock_udp;

/* Bytes of the number that UDP writes into each message; 0: too small, or the payload is compared and tells by itself. */
static inline uint32_t sock_number_bytes(const struct spec *spec, uint32_t size)
{
	if (spec->validate || size < sizeof(uint32_t))
		return 0;
	return size < sizeof(uint64_t) ? sizeof(uint32_t) : sizeof(uint64_t);
}

static inline struct sock_port *sock_port_of(const struct sock_ep *ep)
{
	return (struct sock_port *)ep->base.port;
}

/* --- sock_addr.c: addresses --- */

#define SOCK_NAME_MAX 96
/* "10.0.0.1 port 4711" or "::1 port 4711"; ret of SOCK_NAME_MAX bytes. */
char *sock_name(const struct sockaddr_storage *address, char *ret);
/* The control connection's own address, or the interface's address of that family; IPv4-mapped IPv6 becomes IPv4. Port 0. */
int sock_find_here(const struct sockaddr_storage *local, const char *interface, struct sockaddr_storage *ret,
		   struct error *err);
void sock_addr_pack(const struct sock_addr *addr, struct buf *to);
int sock_addr_unpack(struct cursor *from, const struct sockaddr_storage *here, struct sock_addr *ret,
		     struct error *err);
/* "cannot WHAT ADDRESS: reason (likely cause)"; returns code. address may be NULL. */
int sock_fail(struct error *err, int code, const char *what, const struct sockaddr_storage *address);

/* sock_link.c: Gb/s of the interface between the two; 0 when it is not a device, does not know, or both are this host. */
double sock_link_rate(const struct sockaddr_storage *here, const struct sockaddr_storage *peer);
void sock_nic(const struct port *port, struct nic *ret);

/* --- sock_setup.c: sockets --- */

/* A blocking socket of the port's family with --sock_buf's sizes. Negative errno, or the descriptor. */
int sock_socket(const struct sock_port *p, int type, struct error *err);
/* Binds to this side's address and port (0 = any), which must be free. */
int sock_bind(const struct sock_port *p, int fd, uint64_t port, struct error *err);
int sock_set(int fd, int level, int option, int value); /* 0 or negative errno */
int sock_get(int fd, int level, int option); /* value, or negative errno */

/* --- sock_gso.c: UDP segmentation offload --- */

/* Sets ep->segments for messages of that size, ep->gro: as --gso says. -EOPNOTSUPP when it is on and cannot be had. */
int sock_gso_tx(struct sock_ep *ep, uint32_t size, struct error *err);
int sock_gso_rx(struct sock_ep *ep, struct error *err);
bool sock_gso_give_up(struct sock_ep *ep); /* true when it was on by choice of the program and is off now */
/* Size of the datagrams in a received message of len bytes. */
uint32_t sock_gro_segment(struct msghdr *msg, uint32_t len);

/* --- sock_connect.c: TCP connections --- */

int sock_tcp_ep_open(struct sock_ep *ep, struct error *err);
int sock_tcp_connect(struct sock_ep *ep, const struct sock_addr *peer, int64_t deadline_ns, struct error *err);
void sock_accept_close(struct sock_accept *a);
/* The listening socket's address. */
const struct sockaddr_storage *sock_accept_address(const struct sock_accept *a);

/* --- sock_zerocopy.c: MSG_ZEROCOPY --- */

int sock_zerocopy_open(struct sock_ep *ep, struct error *err); /* makes ep->zerocopy */
bool sock_zerocopy_full(const struct sock_zerocopy *z); /* no further send until some are through */
bool sock_zerocopy_pending(const struct sock_zerocopy *z);
void sock_zerocopy_sent(struct sock_zerocopy *z, unsigned whole); /* a call went that completed so many messages */
int sock_zerocopy_reap(struct sock_ep *ep); /* takes what is through as completions; negative errno, port->err */
void sock_zerocopy_facts(const struct sock_ep *ep, struct facts *ret);

/* --- sock_poll.c: completions --- */

int sock_poll(struct port *port, struct done *done, int max);
int sock_wait(struct port *port, int64_t timeout_ns);
int sock_expect(struct sock_ep *ep, struct error *err); /* rx_on: poll and wait look at this endpoint from now on */

/* Messages accepted by a post: the next poll reports them. */
static inline void sock_complete_tx(struct sock_ep *ep, unsigned n)
{
	struct sock_port *p = sock_port_of(ep);

	if (ep->tx_done == 0)
		p->done[p->done_count++] = ep;
	ep->tx_done += n;
}

#endif
