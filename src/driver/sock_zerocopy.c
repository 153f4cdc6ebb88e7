/* TCP sends without a copy (MSG_ZEROCOPY): a message is done when the kernel says that it needs its memory no longer. */
#include "driver/sock.h"

#include "spec/result.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 1024u /* sends under way; more wait */

/* The kernel numbers the calls of a socket 0, 1, 2 ... and names ranges of them when they are through. */
struct sock_zerocopy {
	uint32_t next; /* number of the next call */
	uint32_t open; /* calls that are not through */
	uint64_t calls, copied; /* that are through, and of these: where the kernel made a copy nevertheless */
	unsigned whole[CALLS]; /* messages that call number % CALLS completed */
};

int sock_zerocopy_open(struct sock_ep *ep, struct error *err)
{
	const int rc = sock_set(ep->fd, SOL_SOCKET, SO_ZEROCOPY, 1);

	if (rc < 0)
		return error_sys(err, rc,
				 "--zerocopy: this kernel cannot send without a copy (Linux 4.14 and later can)");
	if (!ep->zerocopy)
		ep->zerocopy = calloc(1, sizeof(*ep->zerocopy));
	return ep->zerocopy ? 0 : error_sys(err, -ENOMEM, "cannot follow the sends of --zerocopy");
}

bool sock_zerocopy_full(const struct sock_zerocopy *z)
{
	return z->open == CALLS;
}

bool sock_zerocopy_pending(const struct sock_zerocopy *z)
{
	return z->open > 0;
}

void sock_zerocopy_sent(struct sock_zerocopy *z, unsigned whole)
{
	z->whole[z->next++ % CALLS] = whole;
	z->open++;
}

/* Calls first ... last are through: the messages that they completed. */
static unsigned take_range(struct sock_zerocopy *z, const struct sock_extended_err *e)
{
	const uint32_t count = e->ee_data - e->ee_info + 1;
	unsigned whole = 0;

	if (count > z->open)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		whole += z->whole[(e->ee_info + i) % CALLS];
	z->open -= count;
	z->calls += count;
	z->copied += e->ee_code & SO_EE_CODE_ZEROCOPY_COPIED ? count : 0;
	return whole;
}

static unsigned take_notice(struct sock_zerocopy *z, struct msghdr *msg)
{
	struct sock_extended_err e;
	unsigned whole = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		memcpy(&e, CMSG_DATA(c), sizeof(e));
		if (e.ee_origin == SO_EE_ORIGIN_ZEROCOPY)
			whole += take_range(z, &e);
	}
	return whole;
}

int sock_zerocopy_reap(struct sock_ep *ep)
{
	uint8_t control[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_storage))]
		__attribute__((aligned(sizeof(size_t))));
	unsigned whole = 0;

	while (ep->zerocopy->open) {
		struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };

		if (recvmsg(ep->fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			if (errno != EAGAIN && errno != EINTR)
				return sock_fail(&sock_port_of(ep)->base.err, -errno,
						 "learn which sends are through on the data connection with",
						 &ep->peer);
			break;
		}
		whole += take_notice(ep->zerocopy, &msg);
	}
	if (whole)
		sock_complete_tx(ep, whole);
	return 0;
}

void sock_zerocopy_facts(const struct sock_ep *ep, struct facts *ret)
{
	const struct sock_zerocopy *z = ep->zerocopy;

	if (!z)
		facts_add(ret, "zerocopy", "Zero copy", "off");
	else if (z->copied)
		facts_add(ret, "zerocopy", "Zero copy",
			  "on, but the kernel copied %.0f %% of the sends (loopback always copies)",
			  100.0 * (double)z->copied / (double)z->calls);
	else
		facts_add(ret, "zerocopy", "Zero copy", "on");
}
