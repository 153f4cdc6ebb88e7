/* Ranks that read one counter: those of rank 0's machine take its calibration, so that their clocks are one and differ by nothing. */
#include "base/buf.h"
#include "orch/clocks.h"
#include "orch/comm.h"
#include "orch/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_LEN  160u
#define APART_PPM 200 /* two calibrations of one counter */
#define ANCHOR_NS 20000 /* two anchors may be read as wrongly */
#define FAR_NS    (INT64_C(1) << 60) /* no instant is as large */
#define MULT_MOST (UINT64_C(1) << 42) /* of a counter of 1 MHz */

/* What a rank's clock is made of. */
struct making {
	char name[NAME_LEN]; /* of the kernel and the time namespace that it is read in; empty: not known */
	struct clock clock;
};

/* Whether two calibrations agree as well as two of one counter can. */
static bool agree(const struct clock *a, const struct clock *b)
{
	const int64_t passed = llabs(a->ns0 - b->ns0), apart = llabs((int64_t)(a->mult - b->mult));
	const int64_t allowed = ANCHOR_NS + passed / 1000000 * APART_PPM;
	const __int128 gone = ((__int128)(int64_t)(b->tsc0 - a->tsc0) * (__int128)a->mult) >> 32;
	const __int128 off = a->ns0 + gone - b->ns0;

	if (!a->mult || !b->mult) /* the kernel's clock is read instead */
		return a->mult == b->mult;
	return apart <= (int64_t)(a->mult / 1000000 * APART_PPM) && off >= -allowed && off <= allowed;
}

/* A time namespace moves the system's clocks; a kernel without them has none that could. */
static void name_clock(char *ret)
{
	char machine[64], space[64];
	const ssize_t n = readlink("/proc/self/ns/time", space, sizeof(space) - 1);

	machine_name(machine, sizeof(machine));
	space[n > 0 ? n : 0] = 0;
	snprintf(ret, NAME_LEN, "%s%s%s", machine, machine[0] ? " " : "", machine[0] ? space : "");
}

static void pack(const struct making *making, struct buf *to)
{
	buf_put_string(to, making->name);
	buf_put_u64(to, making->clock.tsc0);
	buf_put_u64(to, (uint64_t)making->clock.ns0);
	buf_put_u64(to, making->clock.mult);
}

static int unpack(struct making *ret, struct cursor *from)
{
	*ret = (struct making){ 0 };
	cursor_string(from, ret->name, sizeof(ret->name));
	ret->clock.tsc0 = cursor_u64(from);
	ret->clock.ns0 = (int64_t)cursor_u64(from);
	ret->clock.mult = cursor_u64(from);
	if (llabs(ret->clock.ns0 / 2) > FAR_NS / 2 || ret->clock.mult > MULT_MOST)
		from->failed = -EPROTO;
	return from->failed;
}

static int compare(struct clocks *clocks, struct comm *comm, struct cursor *from, struct clock *own, struct error *err)
{
	struct making root = { 0 };

	for (unsigned i = 0; i < clocks->ranks; i++) {
		struct making other;

		if (unpack(&other, from) < 0)
			return error_set(err, -EPROTO, "rank %u tells of its clock what cannot be read", i);
		if (i == 0)
			root = other;
		clocks->shared[i] = root.name[0] && !strcmp(other.name, root.name) && agree(&other.clock, &root.clock);
	}
	if (comm->rank && clocks->shared[comm->rank]) {
		own->tsc0 = root.clock.tsc0;
		own->ns0 = root.clock.ns0;
		own->mult = root.clock.mult;
	}
	clocks->read_cost_ns = own->read_cost_ns;
	return 0;
}

int clocks_share(struct clocks *clocks, struct comm *comm, struct clock *own, int64_t deadline_ns, struct error *err)
{
	struct buf mine = BUF_INIT, all = BUF_INIT;
	struct making making = { .clock = *own };
	struct cursor from;
	int rc;

	name_clock(making.name);
	pack(&making, &mine);
	rc = comm_allgather(comm, &mine, &all, deadline_ns, err);
	cursor_init(&from, all.data, all.len);
	if (rc == 0)
		rc = compare(clocks, comm, &from, own, err);
	buf_release(&mine);
	buf_release(&all);
	return rc;
}

bool clock_settle(const struct clocks *clocks, bool *shared, struct clock_offset *found)
{
	if (!*shared)
		return true;
	*shared = llabs(found->offset_ns) <= found->error_ns;
	if (!*shared)
		return false;
	found->offset_ns = 0;
	found->error_ns = 2 * clocks->read_cost_ns;
	return true;
}
