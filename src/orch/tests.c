/* Agrees on the tests of a run: rank 0 sends them all, the others check each before anything starts; everybody chooses its cores. */
#include "base/buf.h"
#include "orch/run.h"

#include <errno.h>
#include <string.h>

#define REQUEST_BYTES 256 /* rough costs beside the data buffers, for the memory limit: a work request, */
#define EP_BYTES      10240 /* an endpoint, */
#define WORKER_BYTES  (4u << 20) /* a worker */

/*
 * Device, cores and memory of a rank that answers: what the client asked for it, else what it was started with, else the
 * client's device and cores of its own choice.
 */
struct wishes {
	char device[SPEC_NAME], cores[SPEC_TEXT];
	uint32_t mem;
};

static void use_own(const struct orch_conf *conf, const struct wishes *wishes, struct spec *spec)
{
	spec->mem = mem_of_server(spec, wishes->mem, conf->own_mem);
	if (conf->own_gpu != SPEC_AUTO)
		spec->gpu = conf->own_gpu;
	if (wishes->device[0])
		memcpy(spec->device, wishes->device, sizeof(spec->device));
	else if (conf->own_device && conf->own_device[0])
		memcpy(spec->device, conf->own_device, sizeof(spec->device));
	memcpy(spec->cores, wishes->cores, sizeof(spec->cores));
	if (!spec->cores[0] && conf->own_cores)
		memcpy(spec->cores, conf->own_cores, sizeof(spec->cores));
	if (spec->cores[0])
		spec->exclude_cores[0] = 0;
	else if (conf->own_exclude_cores && conf->own_exclude_cores[0])
		memcpy(spec->exclude_cores, conf->own_exclude_cores, sizeof(spec->exclude_cores));
}

/* Rank 0: all tests, its own placement, and what it asks of the rank that answers. */
static void pack_tests(const struct run *run, const struct placement *mine, struct buf *to)
{
	sweep_pack(&run->sweep, to);
	placement_pack(mine, to);
	buf_put_string(to, run->request->server_device);
	buf_put_string(to, run->request->server_cores);
	buf_put_u32(to, run->request->server_mem);
}

uint64_t orch_memory_of(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];
	const uint64_t per_qp = EP_BYTES + REQUEST_BYTES * (spec->tx_depth * spec_ops(spec, op) + spec->rx_depth);

	return spec->workers * (WORKER_BYTES + flow_buffer_bytes(spec, 64, NULL) + spec->qps * per_qp);
}

/* The largest test counts; where several share buffers, these have room for the longest message behind the last slot. */
static int check_memory(const struct run *run, struct error *err)
{
	uint64_t need = 0, longest = 0;

	for (unsigned i = 0; i < run->sweep.count; i++) {
		const struct spec *spec = &run->sweep.spec[i];

		need = orch_memory_of(spec) > need ? orch_memory_of(spec) : need;
		longest = spec->size > longest ? spec->size : longest;
	}
	need += run->sweep.count > 1 ? run->workers * longest : 0;
	if (!run->conf->memory_limit || need <= run->conf->memory_limit)
		return 0;
	return error_set(
		err, -E2BIG,
		"the test needs %llu MiB of memory and this server allows %llu MiB: ask for fewer --qps or smaller "
		"messages, or start the server with a larger --memory_limit",
		(unsigned long long)(need >> 20), (unsigned long long)(run->conf->memory_limit >> 20));
}

static int check_test(const struct run *run, const struct spec *test, struct error *err)
{
	const struct request *conditions = run->conf->conditions;
	int rc = conditions ? request_admits(conditions, test, err) : 0;

	if (rc == 0)
		rc = spec_check(test, err);
	return rc == 0 ? spec_check_server_mem(test, err) : rc;
}

/* The others: read them, and check them before anything is sized by them. */
static int unpack_tests(struct run *run, const struct buf *data, struct placement *ret, struct error *err)
{
	struct wishes wishes;
	struct cursor from;
	int rc;

	cursor_init(&from, data->data, data->len);
	rc = sweep_unpack(&run->sweep, &from, err);
	if (rc == 0 && placement_unpack(ret, &from) < 0)
		rc = error_set(err, -EPROTO, "the client's placement cannot be read");
	cursor_string(&from, wishes.device, sizeof(wishes.device));
	cursor_string(&from, wishes.cores, sizeof(wishes.cores));
	wishes.mem = cursor_u32(&from);
	if (rc == 0 && from.failed)
		rc = error_set(err, -EPROTO, "the client's test cannot be read");
	for (unsigned i = 0; rc == 0 && i < run->sweep.count; i++) {
		use_own(run->conf, &wishes, &run->sweep.spec[i]);
		rc = check_test(run, &run->sweep.spec[i], err);
	}
	if (rc < 0)
		return rc;
	run->spec = run->sweep.spec[0];
	run->workers = (unsigned)run->spec.workers;
	return check_memory(run, err);
}

/* Everybody has the same tests and its own cores; what is wrong with either goes into own. Fails with the connection only. */
static int take_tests(struct run *run, struct placement *mine, struct error *own, struct error *err)
{
	struct placement other = { 0 };
	struct buf data = BUF_INIT;
	int rc;

	if (run->comm->rank == 0) {
		run->spec = run->sweep.spec[0];
		run->workers = (unsigned)run->spec.workers;
		placement_choose(run, NULL, mine, own);
		pack_tests(run, mine, &data);
	}
	rc = comm_bcast(run->comm, &data, run_deadline(run), err);
	if (rc == 0 && run->comm->rank != 0 && unpack_tests(run, &data, &other, own) == 0)
		placement_choose(run, &other, mine, own);
	buf_release(&data);
	return rc;
}

/* Everybody knows everybody's cores: shared ones are reported, and their workers give way. */
static int exchange_placement(struct run *run, const struct placement *mine, struct error *err)
{
	struct buf to[2] = { BUF_INIT, BUF_INIT }, from[2] = { BUF_INIT, BUF_INIT };
	unsigned peer = 1 - run->comm->rank;
	struct placement other = { 0 };
	struct cursor c;
	int rc;

	placement_pack(mine, &to[peer]);
	rc = comm_exchange(run->comm, to, from, run_deadline(run), err);
	if (rc == 0) {
		cursor_init(&c, from[peer].data, from[peer].len);
		if (placement_unpack(&other, &c) < 0)
			rc = error_set(err, -EPROTO, "the placement of %s cannot be read", run->comm->peer_name);
		run->cores_shared = placement_shared(mine, &other);
	}
	for (unsigned i = 0; i < 2; i++) {
		buf_release(&to[i]);
		buf_release(&from[i]);
	}
	return rc;
}

/* From here on; what came before were the hellos and the tests themselves. */
static void mark(struct run *run, struct error *own)
{
	if (run->spec.control_class && !own->code)
		comm_mark(run->comm, (unsigned)run->spec.control_class, own);
}

int tests_agree(struct run *run, struct error *err)
{
	struct placement mine = { 0 };
	struct error own = { 0 };
	int rc = take_tests(run, &mine, &own, err);

	if (rc == 0) {
		mark(run, &own);
		rc = comm_agree(run->comm, &own, run_deadline(run), err);
	}
	return rc == 0 ? exchange_placement(run, &mine, err) : rc;
}
