/* Opens a device by name and port, and makes what a test needs on it: memory, completion queue, queue pair. */
#include "qperf/rdma.h"

#include "base/units.h"
#include "driver/ibv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define DEPTH     1024u /* of streams, as qperf's, */
#define FLIGHT    (4u << 20) /* but no more bytes: on a slow device a burst of 1,024 large messages outlasts the test */
#define DEPTH_MIN 16u
#define GIDS_MAX  256
#define ATOMICS   1024u /* result slots of the tests that check values */
#define PAGE      4096

static const struct qperf_rdma_test tests[] = {
	{ "rc_bi_bw", IBV_QPT_RC, OP_SEND, COURSE_BOTH },
	{ "rc_bw", IBV_QPT_RC, OP_SEND, COURSE_STREAM },
	{ "rc_compare_swap_mr", IBV_QPT_RC, OP_SWAP, COURSE_ALONE },
	{ "rc_fetch_add_mr", IBV_QPT_RC, OP_ADD, COURSE_ALONE },
	{ "rc_lat", IBV_QPT_RC, OP_SEND, COURSE_PINGPONG },
	{ "rc_rdma_read_bw", IBV_QPT_RC, OP_READ, COURSE_ALONE },
	{ "rc_rdma_read_lat", IBV_QPT_RC, OP_READ, COURSE_ALONE_ONE },
	{ "rc_rdma_write_bw", IBV_QPT_RC, OP_WRITE_IMM, COURSE_STREAM },
	{ "rc_rdma_write_lat", IBV_QPT_RC, OP_WRITE_IMM, COURSE_PINGPONG },
	{ "rc_rdma_write_poll_lat", IBV_QPT_RC, OP_WRITE, COURSE_POLL },
	{ "uc_bi_bw", IBV_QPT_UC, OP_SEND, COURSE_BOTH },
	{ "uc_bw", IBV_QPT_UC, OP_SEND, COURSE_STREAM },
	{ "uc_lat", IBV_QPT_UC, OP_SEND, COURSE_PINGPONG },
	{ "uc_rdma_write_bw", IBV_QPT_UC, OP_WRITE_IMM, COURSE_STREAM },
	{ "uc_rdma_write_lat", IBV_QPT_UC, OP_WRITE_IMM, COURSE_PINGPONG },
	{ "uc_rdma_write_poll_lat", IBV_QPT_UC, OP_WRITE, COURSE_POLL },
	{ "ud_bi_bw", IBV_QPT_UD, OP_SEND, COURSE_BOTH },
	{ "ud_bw", IBV_QPT_UD, OP_SEND, COURSE_STREAM },
	{ "ud_lat", IBV_QPT_UD, OP_SEND, COURSE_PINGPONG },
	{ "ver_rc_compare_swap", IBV_QPT_RC, OP_SWAP, COURSE_VERIFY },
	{ "ver_rc_fetch_add", IBV_QPT_RC, OP_ADD, COURSE_VERIFY },
	{ "xrc_bi_bw", IBV_QPT_XRC_SEND, OP_SEND, COURSE_BOTH },
	{ "xrc_bw", IBV_QPT_XRC_SEND, OP_SEND, COURSE_STREAM },
	{ "xrc_lat", IBV_QPT_XRC_SEND, OP_SEND, COURSE_PINGPONG },
};

const struct qperf_rdma_test *qperf_rdma_find(const char *name)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!strcmp(tests[i].name, name))
			return &tests[i];
	return NULL;
}

int qperf_rdma_fail(struct error *err, int code, const char *what)
{
	return error_sys(err, code > 0 ? -code : code ? code : -EIO, "%s failed", what);
}

/* "mlx5_0:2": the name, and the port behind the colon. */
static int parse_id(const char *id, char name[QPERF_TEXT], uint8_t *port, struct error *err)
{
	const char *colon = strchr(id, ':');
	uint64_t number = 1;

	snprintf(name, QPERF_TEXT, "%.*s", colon ? (int)(colon - id) : (int)strlen(id), id);
	if (colon && (units_parse_int(colon + 1, &number, NULL) || number < 1 || number > 255))
		return error_set(err, -EINVAL, "bad IB port: %.30s; must be at least 1", colon + 1);
	*port = (uint8_t)number;
	return 0;
}

static int open_named(struct qperf_rdma *r, struct error *err)
{
	struct ibv_device **list;
	char name[QPERF_TEXT];
	int count = 0, rc = parse_id(r->run->params.id, name, &r->port, err);

	if (rc)
		return rc;
	list = ibv_get_device_list(&count);
	if (!list || !count) {
		rc = error_sys(err, -(errno ? errno : ENODEV), "failed to find any InfiniBand devices");
		if (list)
			ibv_free_device_list(list);
		return rc;
	}
	for (int i = 0; i < count && !r->context; i++)
		if (!name[0] || !strcmp(ibv_get_device_name(list[i]), name))
			r->context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return r->context ? 0 : error_set(err, -ENODEV, "failed to find InfiniBand device %s", name);
}

/* The GID as fabperf chooses it: RoCE v2, IPv4 first, link-local last. */
static int choose_gid(struct qperf_rdma *r, struct error *err)
{
	const bool ethernet = r->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	struct ibv_gid_entry table[GIDS_MAX];
	const ssize_t n = ibv_query_gid_table(r->context, table, GIDS_MAX, 0);
	unsigned count = 0, chosen = 0;
	int rc;

	for (ssize_t i = 0; i < n; i++)
		if (table[i].port_num == r->port)
			table[count++] = table[i];
	rc = ib_gid_choose(table, count, ethernet, SPEC_AUTO, NULL, ibv_get_device_name(r->context->device), &chosen,
			   ethernet ? err : NULL);
	if (rc == 0)
		r->gid = table[chosen];
	r->grh = ethernet || !r->attr.lid;
	return ethernet ? rc : 0;
}

static int query(struct qperf_rdma *r, struct error *err)
{
	int rc = ibv_query_device(r->context, &r->dev);

	if (rc == 0)
		rc = ibv_query_port(r->context, r->port, &r->attr);
	if (rc)
		return qperf_rdma_fail(err, rc, "query port");
	if (r->attr.state != IBV_PORT_ACTIVE)
		return error_set(err, -ENETDOWN, "port %u of %s is not active", r->port,
				 ibv_get_device_name(r->context->device));
	if (r->test->type == IBV_QPT_UD && r->size > ib_mtu_bytes(r->attr.active_mtu))
		return error_set(err, -EMSGSIZE, "-m %u: a UD message has at most %u bytes here", r->size,
				 ib_mtu_bytes(r->attr.active_mtu));
	return choose_gid(r, err);
}

static uint32_t most_under_way(const struct qperf_rdma *r)
{
	uint32_t depth = FLIGHT / r->size;

	if (depth < DEPTH_MIN)
		depth = DEPTH_MIN;
	if (depth > DEPTH || r->test->op >= OP_SWAP)
		depth = DEPTH;
	return r->dev.max_qp_wr > 0 && (uint32_t)r->dev.max_qp_wr < depth ? (uint32_t)r->dev.max_qp_wr : depth;
}

static void set_depths(struct qperf_rdma *r)
{
	const uint32_t most = most_under_way(r);
	const bool sends = qperf_run_sends(r->run);

	r->tx_depth = r->rx_depth = 1;
	switch (r->test->course) {
	case COURSE_STREAM:
		*(sends ? &r->tx_depth : &r->rx_depth) = most;
		break;
	case COURSE_BOTH:
		r->tx_depth = r->rx_depth = most;
		break;
	case COURSE_POLL:
	case COURSE_ALONE:
		r->tx_depth = most;
		break;
	case COURSE_VERIFY:
		r->tx_depth = r->size / 8 < most ? r->size / 8 : most;
		break;
	case COURSE_PINGPONG:
	case COURSE_ALONE_ONE:
		break;
	}
}

static int make_memory(struct qperf_rdma *r, struct error *err)
{
	const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				(r->dev.atomic_cap != IBV_ATOMIC_NONE ? IBV_ACCESS_REMOTE_ATOMIC : 0u);

	r->bytes = GRH_BYTES + (size_t)r->size + 8;
	if (posix_memalign((void **)&r->buf, PAGE, r->bytes))
		return error_set(err, -ENOMEM, "no memory for a message of %u bytes", r->size);
	memset(r->buf, 0, r->bytes);
	r->pd = ibv_alloc_pd(r->context);
	if (!r->pd)
		return qperf_rdma_fail(err, errno, "ibv_alloc_pd");
	r->mr = ibv_reg_mr(r->pd, r->buf, r->bytes, access);
	return r->mr ? 0 : qperf_rdma_fail(err, errno, "ibv_reg_mr (locked memory: 'ulimit -l unlimited')");
}

static int make_queue(struct qperf_rdma *r, struct error *err)
{
	const int entries = (int)(r->tx_depth + r->rx_depth);

	if (!r->run->params.poll_mode) {
		r->channel = ibv_create_comp_channel(r->context);
		if (!r->channel)
			return qperf_rdma_fail(err, errno, "ibv_create_comp_channel");
	}
	r->cq = ibv_create_cq(r->context, entries, NULL, r->channel, 0);
	return r->cq ? 0 : qperf_rdma_fail(err, errno, "ibv_create_cq");
}

static int make_pair(struct qperf_rdma *r, struct error *err)
{
	struct ibv_qp_init_attr init = {
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = { .max_send_wr = r->tx_depth, .max_recv_wr = r->rx_depth, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = r->test->type,
		.sq_sig_all = 1,
	};

	if (r->test->type == IBV_QPT_XRC_SEND)
		return qperf_xrc_make(r, err);
	if (r->id) {
		if (rdma_create_qp(r->id, r->pd, &init))
			return qperf_rdma_fail(err, errno, "rdma_create_qp");
		r->qp = r->id->qp;
	} else {
		r->qp = ibv_create_qp(r->pd, &init);
	}
	if (!r->qp)
		return qperf_rdma_fail(err, errno, "ibv_create_qp");
	r->inline_max = init.cap.max_inline_data;
	return 0;
}

static void tell_own(struct qperf_rdma *r)
{
	uint32_t psn = 0;
	const uint32_t asked = r->run->params.rd_atomic, most = (uint32_t)r->dev.max_qp_rd_atom;

	if (getrandom(&psn, sizeof(psn), 0) < 0)
		psn = (uint32_t)getpid();
	r->own = (struct qperf_node){ .vaddr = (uintptr_t)qperf_rdma_data(r),
				      .lid = r->attr.lid | r->run->params.src_path_bits,
				      .qpn = (r->target ? r->target : r->qp)->qp_num,
				      .sender = r->qp->qp_num,
				      .srqn = r->srqn,
				      .psn = psn & 0xffffff,
				      .rkey = r->mr->rkey,
				      .rd_atomic = asked ? asked : most };
	memcpy(r->own.gid, r->gid.gid.raw, sizeof(r->own.gid));
}

static int check_atomics(const struct qperf_rdma *r, struct error *err)
{
	const uint32_t asked = r->run->params.rd_atomic, most = (uint32_t)r->dev.max_qp_rd_atom;
	const bool atomic = r->test->op == OP_SWAP || r->test->op == OP_ADD;

	if (asked > most)
		return error_set(err, -EINVAL, "device only supports %u (< %u) RDMA reads or atomics", most, asked);
	if (atomic && r->dev.atomic_cap == IBV_ATOMIC_NONE)
		return error_set(err, -EOPNOTSUPP, "the device has no atomic operations");
	if (atomic && r->size < 8)
		return error_set(err, -EINVAL, "message size must be at least 8");
	return 0;
}

int qperf_rdma_make(struct qperf_rdma *r, struct error *err)
{
	int rc = r->context ? 0 : open_named(r, err);

	if (rc == 0)
		rc = query(r, err);
	if (rc == 0)
		rc = check_atomics(r, err);
	if (rc)
		return rc;
	set_depths(r);
	rc = make_memory(r, err);
	if (rc == 0)
		rc = make_queue(r, err);
	if (rc == 0)
		rc = make_pair(r, err);
	if (rc == 0)
		tell_own(r);
	return rc;
}

static void close_verbs(struct qperf_rdma *r)
{
	if (r->ah)
		ibv_destroy_ah(r->ah);
	if (r->qp && r->id)
		rdma_destroy_qp(r->id);
	else if (r->qp)
		ibv_destroy_qp(r->qp);
	qperf_xrc_close(r);
	if (r->cq)
		ibv_destroy_cq(r->cq);
	if (r->channel)
		ibv_destroy_comp_channel(r->channel);
	if (r->mr)
		ibv_dereg_mr(r->mr);
	if (r->pd)
		ibv_dealloc_pd(r->pd);
	if (r->context && !r->events)
		ibv_close_device(r->context);
}

void qperf_rdma_close(struct qperf_rdma *r)
{
	if (!r)
		return;
	qperf_cm_part(r);
	close_verbs(r);
	if (r->id)
		rdma_destroy_id(r->id);
	if (r->listener)
		rdma_destroy_id(r->listener);
	if (r->events)
		rdma_destroy_event_channel(r->events);
	free(r->buf);
	free(r);
}
