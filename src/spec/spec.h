/* What is asked for: struct spec is one test as plain data (it travels), struct request adds what stays on this host. */
#ifndef SPEC_SPEC_H
#define SPEC_SPEC_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cursor;
struct error;

#define SPEC_AUTO            UINT64_MAX /* a number that the program chooses: written "auto", replaced before it is used */
#define SPEC_NAME            64
#define SPEC_TEXT            256
#define SPEC_MAX_PERCENTILES 16
#define SPEC_OPS             16 /* most operations of one iteration */

enum driver_kind { DRIVER_AUTO, DRIVER_IBV, DRIVER_SOCK, DRIVER_NULL, DRIVER_OFI, DRIVER_DV, DRIVERS };
enum transport {
	TRANSPORT_AUTO,
	TRANSPORT_RC,
	TRANSPORT_UC,
	TRANSPORT_UD,
	TRANSPORT_TCP,
	TRANSPORT_UDP,
	TRANSPORT_RDM, /* libfabric's endpoints */
	TRANSPORT_MSG,
	TRANSPORT_DGRAM,
	TRANSPORT_XRC,
	TRANSPORT_DC,
	TRANSPORTS
};
enum verb { VERB_AUTO, VERB_WRITE, VERB_WRITE_IMM, VERB_READ, VERB_SEND, VERB_ATOMIC_FA, VERB_ATOMIC_CS };
enum engine_kind { ENGINE_CPU, ENGINE_GPUNETIO };
enum metric { METRIC_BW, METRIC_LAT };
enum arrivals { ARRIVALS_PERIODIC, ARRIVALS_POISSON };
enum burst_profile { BURST_NONE, BURST_TRAINING, BURST_STORAGE, BURST_SYNC };
enum limiter { LIMITER_SW, LIMITER_HW, LIMITER_AUTO }; /* the program; the device; that where it can */
enum lat_mode { LAT_FULL_ROUND_TRIP, LAT_ONE_WAY };
enum choice { CHOICE_AUTO, CHOICE_ON, CHOICE_OFF };
enum pattern {
	PATTERN_NONE,
	PATTERN_ONE_TO_ONE,
	PATTERN_ONE_TO_MANY,
	PATTERN_MANY_TO_ONE,
	PATTERN_ALL_TO_ALL,
	PATTERN_BISECTION,
	PATTERN_RING,
	PATTERNS
};
/* What may be written for a pattern: the patterns themselves, then other names. */
enum pattern_word {
	WORD_O2O = PATTERNS,
	WORD_O2M,
	WORD_M2O,
	WORD_A2A,
	WORD_B,
	WORD_R,
	WORD_INCAST,
	WORD_ALL2ALL,
	WORD_ALL_2_ALL,
	WORD_ALLREDUCE
};
enum traffic_direction { DIRECTION_UNIDIR, DIRECTION_BIDIR, DIRECTION_DUAL_UNIDIR };
enum partition { PARTITION_NONE, PARTITION_RAILED, PARTITION_LOCAL, PARTITION_REMOTE };
enum results_detail { DETAIL_SUMMARY, DETAIL_CONNECTIONS, DETAIL_PROCESSES };
enum tph_mem { TPH_MEM_NONE, TPH_MEM_VM, TPH_MEM_PM };
enum mem_kind {
	MEM_AUTO,
	MEM_HOST,
	MEM_NULLMR,
	MEM_DEVICE,
	MEM_CUDA, /* as MEM_CUDA_AUTO_DETECT */
	MEM_CUDA_AUTO_DETECT,
	MEM_CUDA_PEERMEM,
	MEM_CUDA_DMABUF,
	MEM_CUDA_DATA_DIRECT
};

#define VERB_BIT(verb)  (1u << (verb))
#define TWO_SIDED_VERBS (VERB_BIT(VERB_WRITE_IMM) | VERB_BIT(VERB_SEND))
#define ATOMIC_VERBS    (VERB_BIT(VERB_ATOMIC_FA) | VERB_BIT(VERB_ATOMIC_CS))

/* One work request of an iteration. */
struct spec_op {
	uint32_t verb;
	uint64_t size;
};

/* An offered load: so many bits of payload, or messages, per second; 0 = none asked for. */
struct load {
	uint64_t per_second;
	uint64_t in_messages; /* 1: messages, 0: bits */
};

/* One test. Every field has its row in options.c (with default, range and unit); numbers may be SPEC_AUTO where the row says so. */
struct spec {
	uint32_t driver, transport, verb, metric; /* the enums above */
	uint32_t lat_mode; /* enum lat_mode */
	uint32_t mem; /* enum mem_kind; in a running test this side's */
	uint64_t gpu; /* CUDA's number of it */
	uint32_t hugepages; /* index into the names of its row: off, on, a size */
	char device[SPEC_NAME]; /* RDMA device, libfabric provider or network interface; empty = the driver chooses */

	uint64_t size; /* bytes a message; with a list of operations the largest of them */
	struct spec_op op[SPEC_OPS]; /* of an iteration, VERB_AUTO behind the last; none: the verb and size above */
	bool bidirectional; /* both sides send and receive, on the same QPs */
	int64_t duration_ns; /* length of the measured window; ignored when iterations > 0 */
	uint64_t iterations; /* messages per QP; 0 = by duration */
	int64_t warmup_ns; /* before the window */
	uint64_t warmup_iterations; /* messages per QP before the window instead of warmup_ns; 0 = by time */
	int64_t end_margin_ns; /* traffic goes on that long after the window, not counted */

	uint64_t workers; /* threads a side, each with its own port (device context, CQ) */
	char cores[SPEC_TEXT], exclude_cores[SPEC_TEXT];
	uint64_t qps; /* per worker */
	uint64_t tx_depth, rx_depth; /* messages outstanding / receives posted per QP */
	uint64_t cq_mod; /* every n-th work request is signalled */
	uint64_t post_batch; /* messages a post (doorbell, system call) */
	uint64_t inline_size; /* bytes up to which payload travels in the work request */
	uint64_t max_rd_atomic;
	uint64_t working_set; /* bytes of data buffers a worker */
	uint32_t events; /* enum choice: sleep for completions instead of polling */
	uint32_t rdma_cm; /* enum choice */
	uint32_t post_api; /* enum choice: on = ibv_wr_*, off = ibv_post_send */

	uint64_t port; /* RDMA device's physical port */
	uint64_t gid_index, mtu, service_level, traffic_class, flow_label, hop_limit, pkey_index;
	uint64_t qp_timeout, retry_count, rnr_retry, min_rnr_timer;
	uint64_t start_psn; /* first packet sequence number of all QPs; "auto" with rdma_cm, which chooses */
	uint32_t ph; /* 0 = no processing hint, else hint + 1 */
	uint64_t tph_core; /* "auto" = none */
	uint32_t tph_mem; /* enum tph_mem */
	bool use_ece; /* enhanced connection establishment */
	char cc_group_hints[SPEC_TEXT]; /* -r dv: path,size,vendorId,formatId (doca.h) */
	uint32_t engine; /* enum engine_kind: who posts and polls */

	uint32_t gso, zerocopy; /* enum choice */
	uint64_t sock_buf; /* bytes, SO_SNDBUF and SO_RCVBUF */
	uint64_t data_port; /* passive side's first data port; 0 = ephemeral */

	struct load
		load; /* of all workers and queue pairs: messages are sent when they are due; none = as fast as they go */
	uint32_t arrivals; /* enum arrivals: how the instants lie at which they are due */

	uint32_t burst_profile; /* enum burst_profile */
	uint64_t burst_size; /* storage, sync_burst: messages of a burst per queue pair */
	int64_t burst_pause_ns; /* sync_burst: from burst to burst, behind what the link takes for one */
	uint64_t rate_limit; /* storage: bit/s of each queue pair, */
	uint32_t rate_limit_type; /* and who keeps it: enum limiter */
	int64_t burst_ns; /* training: length of a burst, */
	int64_t pause_min_ns, pause_max_ns; /* and of the pause behind it, drawn by lot */
	uint64_t burst_count; /* bursts to measure; 0 = by duration */
	uint64_t link_rate; /* bit/s of the links; 0 = not known */
	uint64_t sender_rate; /* bit/s of the senders' links; 0 = as link_rate */
	uint64_t buffer, buffer_limit; /* of a switch, bytes; 0 = not known */
	double alpha; /* dynamic threshold of the buffer; 0 = not known */
	int64_t start_skew_ns; /* of the senders' starts, as expected */
	uint64_t ecn_kmin, ecn_kmax; /* bytes of a queue; 0 = no marks */
	double ecn_pmax;
	uint64_t pfc_xoff; /* bytes of a port in a queue; 0 = no PFC */
	double cable; /* m; 0 = not known */

	int64_t null_latency_ns; /* -r null: from post to completion, one way */
	uint64_t null_rate; /* -r null: bit/s of the whole link, shared by all workers; 0 = infinite */
	int64_t null_jitter_ns; /* -r null: mean of an exponential time that a message takes longer on the link */
	int64_t null_delay_ns; /* -r null: the first sender is held up that long in every */
	uint64_t null_delay_every; /* so many-th of its posts */
	double null_loss; /* -r null: probability 0 ... 1 that a message is lost */
	uint64_t seed;

	double percentiles[SPEC_MAX_PERCENTILES]; /* to report, ascending, 0-terminated when fewer */
	bool validate; /* every message is filled before it is sent and compared when it has arrived */
	double bw_threshold, lat_threshold; /* Gb/s, us; 0 = none */
	bool qp_histogram; /* the rate of each queue pair is reported */
	int64_t report_interval_ns; /* live lines; 0 = none */
	uint64_t control_class; /* traffic class of the control connection */
	uint32_t counters; /* enum choice: the NICs' counters are read before and after the traffic */
};

/* A command line: the test and everything that concerns this host only. */
struct request {
	struct spec spec;
	char size_list[SPEC_TEXT], qps_list[SPEC_TEXT], depth_list[SPEC_TEXT],
		burst_list[SPEC_TEXT]; /* as written; empty: one value, in spec */
	bool all; /* all powers of two as sizes */
	uint64_t given[4]; /* bit i: row i of the option table was set by the user */
	uint64_t inherited[4]; /* bit i: row i was set by the defaults of a file's tests, not by the test */
	uint64_t spelled[4]; /* bit i: ... with its long name, so that sentences can name it as it was written */

	const char *host; /* server, or the list of a scenario's hosts; empty = this process is the server */
	const char *second_incast; /* hosts that knee adds, their receiver first; empty = none */
	const char *input_file; /* of a scenario, or its text; empty = none */
	bool planning; /* the command is plan: nothing runs */
	bool kneeing; /* the command is knee */
	bool in_file; /* the test stands in a file: sentences name options by their JSON keys */
	uint32_t traffic_pattern; /* enum pattern_word; PATTERN_NONE: no scenario, or one by input_file */
	uint32_t traffic_partition; /* index of its words: request_partition() */
	bool dual_unidir, iteration_sync, peer_shifting;
	char ptini_file[SPEC_TEXT]; /* message sizes of each pair; empty = none */
	uint32_t ptini_datatype; /* index into the names of its row */
	bool no_matrix; /* no connection matrix is printed */
	uint32_t results_detail; /* enum results_detail: of the result document */
	char mpirun[SPEC_TEXT]; /* command that starts the ranks */
	char mpi_interfaces[SPEC_TEXT]; /* subnet or interfaces that the ranks reach each other by */
	bool summary; /* plan: the number of connections, not each */
	bool simulate; /* plan: simulate what bursts do to a switch */
	char gpu_list[SPEC_TEXT]; /* GPUs for the devices of a list, as written; empty: one value, in spec */

	uint64_t control_port;
	char bind[SPEC_NAME];
	uint32_t launch_server; /* enum choice: off = never start one */
	int64_t connect_timeout_ns;
	char ssh[SPEC_TEXT];
	char server_device[SPEC_NAME], server_cores[SPEC_TEXT], server_exe[SPEC_TEXT], server_username[SPEC_NAME];
	uint32_t server_mem; /* enum mem_kind */
	uint64_t cuda; /* --cuda: old for mem and gpu */
	char cuda_lib_path[SPEC_TEXT]; /* folder of libcuda.so.1; empty = the loader's */
	char sysfs[SPEC_TEXT]; /* where the kernel shows its devices; tests have another */
	bool once; /* server: end after one client */
	bool launched; /* server: started by a client: port and version on stdout, ends when stdin closes */
	uint64_t memory_limit; /* server: bytes that one client may make it allocate */

	bool json; /* write the result as JSON */
	char json_path[SPEC_TEXT]; /* empty = a default name with the time */
	bool print_json;
	char burst_log[SPEC_TEXT]; /* file for each burst; empty = none */
	char curve[SPEC_TEXT]; /* file for the picture of a knee; empty = none */
	bool non_interactive;
	bool help, version;
};

/* What tests have in common gives way to what one of them says and what excludes it: back to its default. */
void request_drop_inherited(struct request *request);

/* A scenario: many hosts, described by a pattern or in a file; else a test between two hosts, or a server. */
bool request_is_scenario(const struct request *request);
enum pattern request_pattern(const struct request *request);
enum partition request_partition(const struct request *request);
enum traffic_direction request_direction(const struct request *request);

/* Fills every field with its row's default. */
void request_init(struct request *request);

/*
 * Replaces what follows from other options: transport, driver, verb, size, depths, batch ... (rules.c). rdma_device:
 * whether the host that asks has an RDMA device at all / device_is_rdma: whether -d names one (false when no -d).
 * Then checks the whole: every option that was given has an effect, every combination is legal. 0 or -EINVAL and a
 * sentence that names the options as the user wrote them and the legal values. For a server (no host) only what was
 * given is checked; "auto" stays.
 */
struct request_host {
	bool has_rdma; /* this host has an RDMA device */
	bool device_is_rdma; /* -d names one */
	bool device_is_provider; /* -d names a provider of libfabric */
	bool shm; /* the server is this host, and libfabric's shm provider is there */
	uint64_t (*message_max)(
		const struct spec *spec); /* largest message of the test's device, bytes; 0 = not known */
	uint32_t lot; /* a random number, for what is drawn by lot */
};
int request_resolve(struct request *request, const struct request_host *host, struct error *err);

/*
 * The combination rules alone, for a test that came from elsewhere: nothing is open that had to be resolved, legal verb
 * for the transport, size, depths, counts of cores. 0 or -EINVAL and a sentence.
 */
int spec_check(const struct spec *spec, struct error *err);

/*
 * A server decides nothing about a test, but test options given on its command line are conditions: a client's test
 * that differs from one of them is refused. device, cores, exclude_cores and mem_type are no conditions but this
 * host's own values (which the test already has in place of the client's). 0, or -EINVAL and a sentence that names the first difference.
 */
int request_admits(const struct request *server, const struct spec *test, struct error *err);

/* Largest message that the transport takes at all; a device may take less. */
uint64_t spec_max_size(const struct spec *spec);

/* Legal verbs of a transport as a bit mask (1 << enum verb); 0 = the transport has none. */
uint32_t transport_verbs(enum transport transport);
bool transport_is_socket(enum transport transport);
bool transport_is_reliable(enum transport transport); /* what was sent arrives, or the run fails */

/* The operations of an iteration, of which there is at least one: the list, or the verb and size. Their number. */
unsigned spec_ops(const struct spec *spec, struct spec_op ret[SPEC_OPS]);
bool spec_has_list(const struct spec *spec);
/* The verbs among them as a bit mask (VERB_BIT); the largest size; bytes of an iteration. */
uint32_t spec_verbs(const struct spec *spec);
uint64_t spec_largest(const struct spec *spec);
const char *spec_size_option(const struct spec *spec); /* what a sentence says before the largest size */
uint64_t spec_bytes(const struct spec *spec);
double spec_mean_size(const struct spec *spec); /* of the messages of an iteration */

/* Whether the passive side takes part in each message (send, write_imm: it posts receives). */
bool verb_is_two_sided(enum verb verb);
bool verb_is_atomic(enum verb verb);

/* Whether the passive side of a latency test answers each message; else a sample ends with the own completion. */
bool latency_is_ping_pong(const struct spec *spec);
/* Open loop: messages are sent by a schedule (--rate), whether those before are done or not. */
bool spec_is_paced(const struct spec *spec);
/* Messages come in bursts (--burst_profile). */
bool spec_bursts(const struct spec *spec);
/* sync_burst: from the start of a burst to the next one's. */
int64_t spec_burst_period_ns(const struct spec *spec);
/* How long nothing may be due by design: from a burst to the next one; 0 without bursts. */
int64_t spec_silence_ns(const struct spec *spec);
/* Messages per queue pair that end the test: so many iterations' or bursts'; 0 = its duration does. */
uint64_t spec_quota(const struct spec *spec);
/* The asked load of all workers together, messages per second. */
double spec_load_mps(const struct spec *spec);
/* Whether a latency test reports half of what it timed. */
bool latency_is_halved(const struct spec *spec);

/* Whether the CPU can read and write such memory: the engines may fill and watch it, payload may travel inline. */
bool mem_is_visible(uint32_t mem);
bool mem_is_cuda(uint32_t mem);
/* The server's kind of memory: as asked for; else what it was started with (MEM_AUTO: nothing); else as fits to the client's. */
uint32_t mem_of_server(const struct spec *spec, uint32_t asked, uint32_t own);
/* Whether spec->mem of the server serves the test. -EINVAL and a sentence. */
int spec_check_server_mem(const struct spec *spec, struct error *err);

/* Names as they are written on the command line ("RC", "write_imm", "bw", "ibv"). */
const char *transport_name(uint32_t transport);
const char *verb_name(uint32_t verb);
const char *driver_kind_name(uint32_t driver);
const char *mem_name(uint32_t mem);
const char *burst_name(uint32_t profile);

/* The test in its wire form: one "key=value" line per row that differs from its default; read back by the same setter. */
void spec_pack(const struct spec *spec, struct buf *to);
/* -EPROTO / -EINVAL with a sentence: unknown key, bad value, value out of range, line too long, not a test option. */
int spec_unpack(struct spec *ret, struct cursor *from, struct error *err);

#endif
