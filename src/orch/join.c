/* Joins the endpoints of both sides: their addresses travel, at once or in turn, then each connects to its peer. */
#include "orch/run.h"

#include <errno.h>

#define CONNECT_NS 10000000000LL /* for data connections: the other side makes them at the same time */

/* Sends the addresses of all endpoints of this rank (nothing when it is not its turn) and takes the other's. */
static int swap_addresses(struct run *run, bool turn, struct buf *ret, struct error *mine, struct error *err)
{
	struct buf to[2] = { BUF_INIT, BUF_INIT }, from[2] = { BUF_INIT, BUF_INIT };
	unsigned peer = 1 - run->comm->rank;
	int rc;

	for (unsigned i = 0; turn && mine->code == 0 && i < run->workers; i++)
		flow_addresses(&run->flows[i], &to[peer], mine);
	rc = comm_agree(run->comm, mine, run_deadline(run), err);
	if (rc == 0)
		rc = comm_exchange(run->comm, to, from, run_deadline(run), err);
	if (rc == 0 && ret) {
		*ret = from[peer];
		from[peer] = (struct buf)BUF_INIT;
	}
	for (unsigned i = 0; i < 2; i++) {
		buf_release(&to[i]);
		buf_release(&from[i]);
	}
	return rc;
}

/* Rank 0 makes an offer, and what the other's endpoints have after they took it is the answer: still one message each way. */
static int swap_in_turn(struct run *run, struct buf *ret, struct error *err)
{
	bool offers = run->comm->rank == 0;
	struct error mine = { 0 };
	struct cursor c;
	int rc = swap_addresses(run, offers, offers ? NULL : ret, &mine, err);

	if (rc == 0 && !offers) {
		cursor_init(&c, ret->data, ret->len);
		for (unsigned i = 0; mine.code == 0 && i < run->workers; i++)
			flow_offer(&run->flows[i], &c, &mine);
	}
	return rc == 0 ? swap_addresses(run, !offers, offers ? ret : NULL, &mine, err) : rc;
}

int run_prepare(const struct run *run, struct flow *flow, struct error *err)
{
	int rc = flow->idle ? 0 : run->engine->prepare(flow);

	return rc < 0 ? error_set(err, rc, "%s", flow->error.text) : 0;
}

static int connect_flows(struct run *run, struct cursor *from, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < run->workers; i++) {
		struct flow *flow = &run->flows[i];

		rc = flow_connect(flow, from, clock_now(run->conf->clock) + CONNECT_NS, err);
		if (rc == 0)
			rc = run_prepare(run, flow, err);
	}
	return rc;
}

int join_flows(struct run *run, struct error *err)
{
	struct buf addresses = BUF_INIT;
	struct error mine = { 0 };
	struct cursor c;
	int rc;

	if (run->flows[0].caps.in_turn)
		rc = swap_in_turn(run, &addresses, err);
	else
		rc = swap_addresses(run, true, &addresses, &mine, err);
	if (rc == 0) {
		cursor_init(&c, addresses.data, addresses.len);
		connect_flows(run, &c, &mine);
		rc = comm_agree(run->comm, &mine, run_deadline(run), err);
	}
	buf_release(&addresses);
	return rc;
}
