/* Completes a request with what follows from its options, and checks the whole. */
#include "base/topo.h"
#include "spec/legal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define BW_SIZE     65536
#define PACKET_SIZE 1024 /* UD and UDP: fits every usual MTU */
#define SMALL_SIZE  8 /* latency, atomics */

#define BW_TX_DEPTH 128
#define RX_DEPTH    512
#define RDMA_BATCH  16
#define UDP_BATCH   64
#define TCP_CALL    (512u * 1024) /* bytes that one call should carry: where a loop over one socket is fastest */
#define TCP_BATCH   1024

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
	if (rc == 0 && *request->host && request->control_port == 0)
		rc = error_set(err, -EINVAL, "%s is for a server only: a client needs the server's port",
			       naming_of(request, ROW(control_port)).text);
	return rc;
}

/* --- driver and transport --- */

static int no_rdma(const char *because, struct error *err)
{
	return error_set(err, -EINVAL,
			 "%s%sthis host has no RDMA device: use -c TCP or -c UDP over the network, or -r null to try "
			 "the program",
			 because, *because ? " asks for RDMA, but " : "");
}

static int check_rdma(const struct request *request, const struct request_host *host, struct error *err)
{
	const int driver = ROW(spec.driver), transport = ROW(spec.transport), device = ROW(spec.device);

	if (!host->has_rdma && option_given(request, driver))
		return no_rdma(naming_of(request, driver).text, err);
	if (!host->has_rdma && option_given(request, transport))
		return no_rdma(naming_of(request, transport).text, err);
	if (!host->has_rdma)
		return no_rdma("", err);
	if (*request->spec.device && !host->device_is_rdma)
		return error_set(
			err, -EINVAL,
			"%s is no RDMA device of this host: name one, or use -c TCP or -c UDP on a network interface",
			naming_of(request, device).text);
	return 0;
}

static enum transport default_transport(uint32_t driver)
{
	return driver == DRIVER_SOCK ? TRANSPORT_TCP : TRANSPORT_RC;
}

static int resolve_driver(struct request *request, const struct request_host *host, struct error *err)
{
	struct spec *const spec = &request->spec;

	if (spec->driver == DRIVER_AUTO && transport_is_socket(spec->transport))
		spec->driver = DRIVER_SOCK;
	if (spec->driver == DRIVER_AUTO || spec->driver == DRIVER_IBV) {
		const int rc = check_rdma(request, host, err);

		if (rc)
			return rc;
		spec->driver = DRIVER_IBV;
	}
	if (spec->transport == TRANSPORT_AUTO)
		spec->transport = default_transport(spec->driver);
	return 0;
}

/* --- size, workers, depths --- */

static void resolve_verb(struct spec *spec)
{
	const uint32_t legal = transport_verbs(spec->transport, spec->metric);

	if (spec->verb == VERB_AUTO)
		spec->verb = legal & (1u << VERB_WRITE) ? VERB_WRITE : VERB_SEND;
}

static void resolve_size(struct spec *spec)
{
	if (spec->size != SPEC_AUTO)
		return;
	if (spec->metric == METRIC_LAT || verb_is_atomic(spec->verb))
		spec->size = SMALL_SIZE;
	else if (spec->transport == TRANSPORT_UD || spec->transport == TRANSPORT_UDP)
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

static uint64_t default_batch(const struct spec *spec)
{
	if (spec->metric == METRIC_LAT)
		return 1;
	if (spec->transport == TRANSPORT_TCP)
		return within(TCP_CALL / spec->size, 1, TCP_BATCH);
	if (spec->transport == TRANSPORT_UDP)
		return UDP_BATCH;
	return within(RDMA_BATCH, 1, spec->tx_depth);
}

/* Sockets have no queues of their own: their depths are what one call carries. */
static void resolve_depths(struct spec *spec)
{
	const bool socket = transport_is_socket(spec->transport);

	if (spec->tx_depth == SPEC_AUTO && !socket)
		spec->tx_depth = spec->metric == METRIC_LAT ? 1 : BW_TX_DEPTH;
	if (spec->post_batch == SPEC_AUTO)
		spec->post_batch = default_batch(spec);
	if (spec->tx_depth == SPEC_AUTO)
		spec->tx_depth = spec->post_batch;
	if (spec->rx_depth == SPEC_AUTO && socket)
		spec->rx_depth = spec->post_batch;
	if (spec->rx_depth == SPEC_AUTO)
		spec->rx_depth = verb_is_two_sided(spec->verb) ? RX_DEPTH : 1;
	if (spec->cq_mod == SPEC_AUTO)
		spec->cq_mod = spec->post_batch;
}

/* A polling loop is what latency is about, and what a device wants; streams over sockets leave the cores to the kernel. */
static void resolve_events(struct spec *spec)
{
	const bool stream = transport_is_socket(spec->transport) && spec->metric == METRIC_BW;

	if (spec->events == CHOICE_AUTO)
		spec->events = stream ? CHOICE_ON : CHOICE_OFF;
}

/* --- all --- */

static int resolve_client(struct request *request, const struct request_host *host, struct error *err)
{
	int rc = request_check_legality(request, err);

	if (rc == 0)
		rc = resolve_driver(request, host, err);
	if (rc)
		return rc;
	resolve_verb(&request->spec);
	resolve_size(&request->spec);
	rc = request_check_legality(request, err);
	if (rc == 0)
		rc = request_check_scope(request, err);
	if (rc == 0)
		rc = resolve_workers(request, err);
	if (rc)
		return rc;
	resolve_depths(&request->spec);
	resolve_events(&request->spec);
	return request_check_values(request, err);
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
	if (*request->host)
		return resolve_client(request, host, err);
	rc = resolve_workers(request, err);
	return rc ? rc : request_check_values(request, err);
}

/* A test that arrives has every value that the sizes of buffers and queues follow from. */
static int check_complete(const struct request *request, struct error *err)
{
	const int rows[] = { ROW(spec.driver),   ROW(spec.transport), ROW(spec.verb),       ROW(spec.size),
			     ROW(spec.tx_depth), ROW(spec.rx_depth),  ROW(spec.post_batch), ROW(spec.cq_mod) };
	char value[OPTION_VALUE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(option_get(request, rows[i], value, sizeof(value)), "auto"))
			return error_set(err, -EINVAL, "the test leaves %s open", name_of(request, rows[i]).text);
	return 0;
}

int spec_check(const struct spec *spec, struct error *err)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	memset(request.given, 0xff, sizeof(request.given));
	request.spec = *spec;
	return check_complete(&request, err) ? -EINVAL : request_check_values(&request, err);
}

/* A client's value that this host replaces by its own or chooses by itself. */
static bool is_own(int row)
{
	return row == ROW(spec.device) || row == ROW(spec.cores) || row == ROW(spec.exclude_cores) ||
	       row == ROW(spec.mem);
}

/* A condition on one kind of end is not met by a test that uses the other. */
static int admits_ends(const struct request *server, const struct spec *test, struct error *err)
{
	const int duration = ROW(spec.duration_ns), warmup = ROW(spec.warmup_ns);

	if (option_given(server, duration) && test->iterations)
		return error_set(err, -EINVAL,
				 "this server was started with %s, but the client's test ends by iterations",
				 naming_of(server, duration).text);
	if (option_given(server, warmup) && test->warmup_iterations)
		return error_set(err, -EINVAL,
				 "this server was started with %s, but the client's test warms up by iterations",
				 naming_of(server, warmup).text);
	return 0;
}

int request_admits(const struct request *server, const struct spec *test, struct error *err)
{
	struct request client;
	char value[OPTION_VALUE_MAX], asked[OPTION_VALUE_MAX];

	if (admits_ends(server, test, err))
		return -EINVAL;
	memset(&client, 0, sizeof(client));
	client.spec = *test;
	for (int row = 0; row < (int)option_count; row++) {
		if (!option_given(server, row) || !(option_rows[row].flags & OPTION_WIRE) || is_own(row))
			continue;
		option_get(server, row, value, sizeof(value));
		option_get(&client, row, asked, sizeof(asked));
		if (strcmp(value, "auto") != 0 && strcmp(value, asked) != 0)
			return error_set(err, -EINVAL, "this server was started with %s, but the client's test has %s",
					 naming_of(server, row).text, asked);
	}
	return 0;
}
