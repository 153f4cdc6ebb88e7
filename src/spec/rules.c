/* Completes a request with what follows from its options, and checks the whole. */
#include "base/topo.h"
#include "spec/legal.h"
#include "spec/result.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BW_SIZE     65536
#define PACKET_SIZE 1024 /* UD, UDP and DGRAM: fits every usual MTU */
#define SMALL_SIZE  8 /* latency, atomics */

#define IN_FLIGHT      (256ull << 20) /* bytes: more would only take long to end */
#define BW_TX_DEPTH    128
#define LAT_TX_DEPTH   32 /* one message is under way; the rest are completions not yet reaped */
#define RX_DEPTH       512
#define OFI_RX_DEPTH   256 /* what every provider of libfabric has */
#define RDMA_BATCH     16
#define RDMA_CALL      (256u * 1024) /* a post of more keeps a software device busy for too long */
#define DEPTH_OF_ALL   16384
#define DEPTH_MIN      16
#define UDP_CALL       (256u * 1024)
#define UDP_BATCH_MIN  16
#define UDP_BATCH      1024
#define ZEROCOPY_CALLS 4 /* the buffers of a call are busy until its notice comes: so many calls are under way */
#define TCP_CALL       (768u * 1024) /* bytes that one call should carry: where a loop over one socket is fastest */
#define TCP_BATCH      1024
#define BURST_BATCH    1024

/* --- words that go into a command line of ssh --- */

static int check_word(const struct request *request, int row, const char *text, struct error *err)
{
	if (text[0] == '-')
		return error_set(err, -EINVAL, "%s must not begin with '-'", naming_of(request, row).text);
	for (; *text; text++)
		if (isspace((unsigned char)*text))
			return error_set(err, -EINVAL, "%s must not contain a space", naming_of(request, row).text);
	return 0;
}

static int check_words(const struct request *request, struct error *err)
{
	int rc = check_word(request, ROW(host), request->host, err);

	if (rc == 0)
		rc = check_word(request, ROW(server_username), request->server_username, err);
	if (rc == 0)
		rc = check_word(request, ROW(spec.device), request->spec.device, err);
	if (rc == 0)
		rc = check_word(request, ROW(server_device), request->server_device, err);
	if (rc == 0 && *request->cuda_lib_path && *request->cuda_lib_path != '/')
		rc = error_set(err, -EINVAL, "%s must begin with '/'", naming_of(request, ROW(cuda_lib_path)).text);
	if (rc == 0 && *request->host && !request_is_scenario(request) && request->control_port == 0)
		rc = error_set(err, -EINVAL, "%s is for a server only: a client needs the server's port",
			       naming_of(request, ROW(control_port)).text);
	return rc;
}

/* --- driver and transport --- */

static int no_rdma(const char *because, struct error *err)
{
	return error_set(err, -EINVAL,
			 "%s asks for an RDMA device, but this host has none: use -r ofi for the same operations over "
			 "libfabric, or -c TCP or -c UDP for sockets",
			 because);
}

static int check_rdma(const struct request *request, const struct request_host *host, struct error *err)
{
	const int driver = ROW(spec.driver), transport = ROW(spec.transport), device = ROW(spec.device);

	if (!host->has_rdma && option_given(request, driver))
		return no_rdma(naming_of(request, driver).text, err);
	if (!host->has_rdma && option_given(request, transport))
		return no_rdma(naming_of(request, transport).text, err);
	if (*request->spec.device && !host->device_is_rdma)
		return error_set(
			err, -EINVAL,
			"%s is no RDMA device and no libfabric provider of this host: name one (fi_info -l lists "
			"providers), or use -c TCP or -c UDP on a network interface",
			naming_of(request, device).text);
	return 0;
}

static enum transport default_transport(uint32_t driver)
{
	return driver == DRIVER_SOCK ? TRANSPORT_TCP : driver == DRIVER_OFI ? TRANSPORT_RDM : TRANSPORT_RC;
}

/* What -c and -d ask for; libfabric also where nothing is asked for and there is no RDMA device. */
static uint32_t default_driver(const struct spec *spec, const struct request_host *host)
{
	if (transport_is_socket(spec->transport))
		return DRIVER_SOCK;
	if (spec->transport != TRANSPORT_AUTO && driver_transports(DRIVER_OFI) & (1u << spec->transport))
		return DRIVER_OFI;
	if (spec->transport != TRANSPORT_AUTO || host->device_is_rdma)
		return DRIVER_IBV;
	if (host->device_is_provider || (!host->has_rdma && !*spec->device))
		return DRIVER_OFI;
	return DRIVER_IBV;
}

/* The provider that is on every machine and has this kind of endpoint; shared memory where both sides are one machine. */
static const char *default_provider(uint32_t transport, const struct request_host *host)
{
	if (transport == TRANSPORT_DGRAM)
		return "udp";
	return host->shm && transport == TRANSPORT_RDM ? "shm" : "tcp";
}

static int resolve_driver(struct request *request, const struct request_host *host, struct error *err)
{
	struct spec *const spec = &request->spec;

	if (spec->driver == DRIVER_AUTO)
		spec->driver = default_driver(spec, host);
	if (spec->driver == DRIVER_IBV || spec->driver == DRIVER_DV) {
		const int rc = check_rdma(request, host, err);

		if (rc)
			return rc;
	}
	if (spec->transport == TRANSPORT_AUTO)
		spec->transport = default_transport(spec->driver);
	if (spec->driver == DRIVER_OFI && !*spec->device)
		snprintf(spec->device, sizeof(spec->device), "%s", default_provider(spec->transport, host));
	return 0;
}

/* --- size, workers, depths --- */

/* Whether who waits for a write sees it in memory: a GPU its own, this side's processor not every kind. */
static bool write_shows(const struct spec *spec, uint32_t server)
{
	return spec->engine == ENGINE_GPUNETIO || (mem_is_visible(spec->mem) && mem_is_visible(server));
}

/* A write's latency is taken by watching memory, so where the CPU cannot see it a receive completion has to tell. */
static void resolve_verb(struct request *request)
{
	struct spec *const spec = &request->spec;
	const uint32_t legal = transport_verbs(spec->transport), server = mem_of_server(spec, request->server_mem, 0);

	if (spec->verb != VERB_AUTO)
		return;
	spec->verb = legal & (1u << VERB_WRITE) && !spec->validate ? VERB_WRITE : VERB_SEND;
	if (spec->metric != METRIC_LAT)
		return;
	if (spec_is_paced(spec) && latency_is_ping_pong(spec))
		spec->verb = VERB_SEND; /* several writes under way would overwrite each other */
	else if (!write_shows(spec, server))
		spec->verb = legal & (1u << VERB_WRITE_IMM) && spec->mem != MEM_NULLMR && server != MEM_NULLMR
				     ? VERB_WRITE_IMM
				     : VERB_SEND;
}

static void resolve_size(struct spec *spec)
{
	if (spec_has_list(spec))
		spec->size = spec_largest(spec);
	if (spec->size != SPEC_AUTO)
		return;
	if (spec->metric == METRIC_LAT || verb_is_atomic(spec->verb))
		spec->size = SMALL_SIZE;
	else if (spec->transport == TRANSPORT_UD || spec->transport == TRANSPORT_UDP ||
		 spec->transport == TRANSPORT_DGRAM)
		spec->size = PACKET_SIZE;
	else
		spec->size = BW_SIZE;
}

static int resolve_workers(struct request *request, struct error *err)
{
	struct core_list list;
	int rc;

	if (!*request->spec.cores || option_given(request, ROW(spec.workers)))
		return 0;
	rc = core_list_parse(request->spec.cores, &list, err);
	if (rc == 0)
		request->spec.workers = list.count;
	return rc;
}

static uint64_t within(uint64_t value, uint64_t min, uint64_t max)
{
	if (value < min)
		return min;
	return value > max ? max : value;
}

/* Many queue pairs keep a line busy with few messages each, and completion queues have limits. */
static uint64_t share_of(const struct spec *spec, uint64_t depth)
{
	return within(DEPTH_OF_ALL / spec->qps, DEPTH_MIN, depth);
}

/* Whole iterations if they fit: then every post carries the same. */
static uint64_t rdma_batch(const struct spec *spec)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(spec, op);
	const uint64_t batch =
		within(within(RDMA_CALL * (uint64_t)ops / spec_bytes(spec), 1, RDMA_BATCH), 1, spec->tx_depth);

	return batch > ops ? batch - batch % ops : batch;
}

static uint64_t default_batch(const struct spec *spec)
{
	if (spec->metric == METRIC_LAT || spec_is_paced(spec) || spec->validate)
		return 1;
	if (spec->burst_size) /* a doorbell for the whole burst */
		return within(spec->burst_size, 1, within(spec->tx_depth, 1, BURST_BATCH));
	if (spec->transport == TRANSPORT_TCP)
		return within(TCP_CALL / spec->size, 1, TCP_BATCH);
	if (spec->transport == TRANSPORT_UDP)
		return within(UDP_CALL / spec->size, UDP_BATCH_MIN, UDP_BATCH);
	return rdma_batch(spec);
}

/* A ping-pong has no use for its own completions: half a queue of them is reaped at once. Reads and atomics end with theirs. */
static uint64_t default_cq_mod(const struct spec *spec)
{
	/* Operations of libfabric may complete in any order, and a GPU polls for each: each for itself. */
	if (spec->driver == DRIVER_OFI || spec->engine == ENGINE_GPUNETIO)
		return 1;
	if (spec->metric == METRIC_LAT && latency_is_ping_pong(spec) && !spec_is_paced(spec) &&
	    !transport_is_socket(spec->transport))
		return within(spec->tx_depth / 2, 1, spec->tx_depth);
	return spec->post_batch;
}

static uint64_t default_rx_depth(const struct spec *spec)
{
	const uint64_t depth = share_of(spec, spec->driver == DRIVER_OFI ? OFI_RX_DEPTH : RX_DEPTH);

	if (!(spec_verbs(spec) & TWO_SIDED_VERBS))
		return 1;
	if (spec_bursts(spec) && depth < spec->burst_size)
		return spec->driver == DRIVER_OFI ? depth : spec->burst_size;
	return spec->validate && depth < spec->tx_depth ? spec->tx_depth : depth;
}

/* Of messages in flight; by a schedule sockets have a limit for them, too. */
static void resolve_tx_depth(struct spec *spec)
{
	const bool paced = spec_is_paced(spec) || spec_bursts(spec);
	const uint64_t least = within(spec->burst_size << (spec->rate_limit_type != LIMITER_SW), 0,
				      (uint64_t)option_rows[ROW(spec.tx_depth)].max);

	if (spec->tx_depth != SPEC_AUTO || (transport_is_socket(spec->transport) && !paced))
		return;
	spec->tx_depth = spec->metric == METRIC_LAT && !paced
				 ? LAT_TX_DEPTH
				 : within(IN_FLIGHT / spec->size, 2, share_of(spec, BW_TX_DEPTH));
	if (spec->tx_depth <
	    least) /* a burst never waits for completions; a device that paces has the next one at hand */
		spec->tx_depth = least;
}

/* Sockets have no queues of their own: their depths are what one call carries. */
static void resolve_depths(struct spec *spec)
{
	const bool socket = transport_is_socket(spec->transport);

	resolve_tx_depth(spec);
	if (spec->post_batch == SPEC_AUTO)
		spec->post_batch = default_batch(spec);
	if (spec->tx_depth == SPEC_AUTO)
		spec->tx_depth = spec->post_batch * (spec->zerocopy == CHOICE_ON ? ZEROCOPY_CALLS : 1);
	if (spec->rx_depth == SPEC_AUTO && socket)
		spec->rx_depth = spec->validate ? spec->tx_depth : spec->post_batch;
	if (spec->rx_depth == SPEC_AUTO)
		spec->rx_depth = default_rx_depth(spec);
	if (spec->cq_mod == SPEC_AUTO)
		spec->cq_mod = default_cq_mod(spec);
}

/* A polling loop is what latency is about, and what a device wants; streams over sockets leave the cores to the kernel. */
static void resolve_events(struct spec *spec)
{
	const bool stream = transport_is_socket(spec->transport) && spec->metric == METRIC_BW && !spec_is_paced(spec) &&
			    !spec_bursts(spec);

	if (spec->events == CHOICE_AUTO)
		spec->events = stream ? CHOICE_ON : CHOICE_OFF;
}

/* A pause of which only the shortest is given always lasts so long. */
static void resolve_pause(struct request *request)
{
	if (option_given(request, ROW(spec.pause_min_ns)) && !option_given(request, ROW(spec.pause_max_ns)))
		request->spec.pause_max_ns = request->spec.pause_min_ns;
}

/* Both sides use the same number, so that one option repeats the run. */
static void resolve_psn(struct spec *spec, uint32_t lot)
{
	const bool verbs = spec->driver == DRIVER_IBV || spec->driver == DRIVER_DV;

	if (spec->start_psn == SPEC_AUTO && verbs && spec->rdma_cm != CHOICE_ON)
		spec->start_psn = lot & 0xffffff;
}

/* --- all --- */

static int resolve_client(struct request *request, const struct request_host *host, struct error *err)
{
	int rc = request_check_legality(request, err);

	if (rc == 0)
		rc = resolve_driver(request, host, err);
	if (rc)
		return rc;
	if (!spec_has_list(&request->spec))
		resolve_verb(request);
	resolve_size(&request->spec);
	rc = request_check_legality(request, err);
	if (rc == 0)
		rc = request_check_scope(request, err);
	if (rc == 0)
		rc = resolve_workers(request, err);
	if (rc)
		return rc;
	resolve_pause(request);
	resolve_depths(&request->spec);
	resolve_events(&request->spec);
	if (!request->planning)
		resolve_psn(&request->spec, host->lot);
	rc = request_check_memory(request, err);
	if (rc == 0)
		rc = request_check_sync_transport(request, err);
	return rc ? rc : request_check_values(request, err);
}

int request_resolve(struct request *request, const struct request_host *host, struct error *err)
{
	int rc = request_check_side(request, err);

	if (rc == 0)
		rc = check_words(request, err);
	if (rc == 0)
		rc = request_check_pairs(request, err);
	if (rc)
		return rc;
	request_resolve_cuda(request);
	if (request_is_scenario(request)) {
		rc = request_check_many(request, err);
		return rc ? rc : resolve_client(request, host, err);
	}
	if (*request->host)
		return resolve_client(request, host, err);
	rc = resolve_workers(request, err);
	return rc ? rc : request_check_values(request, err);
}
