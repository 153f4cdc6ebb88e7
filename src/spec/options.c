/* The option table: every option there is, with its names, field, range, default, unit, scope and help. */
#include "spec/option.h"
#include "spec/spec.h"
#include "spec/words.h"

#define WIRE     OPTION_WIRE
#define AUTO     OPTION_AUTO
#define TEST     OPTION_TEST
#define FIELD(f) .offset = offsetof(struct request, f), .size = sizeof(((struct request *)0)->f)

#define KI 1024.0
#define MI (1024.0 * KI)
#define GI (1024.0 * MI)
#define MS 1e6 /* ns */
#define S  1e9

#define BIT(n)    (1u << (n))
#define IBV       .scope.drivers = VERBS, .scope.transports = RDMA_TRANSPORTS
#define IBV_ONLY  .scope.drivers = BIT(DRIVER_IBV), .scope.transports = RDMA_TRANSPORTS
#define DV        .scope.drivers = BIT(DRIVER_DV)
#define NULL_ONLY .scope.drivers = BIT(DRIVER_NULL)
#define SOCKETS   .scope.transports = BIT(TRANSPORT_TCP) | BIT(TRANSPORT_UDP)
#define RDMA      .scope.transports = RDMA_TRANSPORTS
#define QUEUES    .scope.transports = RDMA_TRANSPORTS | OFI_TRANSPORTS
#define DEVICES   .scope.drivers = VERBS | BIT(DRIVER_SOCK) | BIT(DRIVER_OFI)
#define RELIABLE  .scope.drivers = VERBS, .scope.transports = RELIABLE_TRANSPORTS
#define RC_ONLY   .scope.drivers = BIT(DRIVER_IBV), .scope.transports = BIT(TRANSPORT_RC)
#define BW        .scope.metrics = BIT(METRIC_BW)
#define LAT       .scope.metrics = BIT(METRIC_LAT)
#define CLIENT    .scope.sides = SIDE_CLIENT
#define SERVER    .scope.sides = SIDE_SERVER
#define ASKER     .scope.sides = SIDE_CLIENT | SIDE_MANY
#define TWO_HOSTS .scope.sides = SIDE_CLIENT | SIDE_SERVER
#define MANY      .scope.sides = SIDE_MANY

#define VERBS               (BIT(DRIVER_IBV) | BIT(DRIVER_DV))
#define RELIABLE_TRANSPORTS (BIT(TRANSPORT_RC) | BIT(TRANSPORT_XRC) | BIT(TRANSPORT_DC))
#define RDMA_TRANSPORTS     (RELIABLE_TRANSPORTS | BIT(TRANSPORT_UC) | BIT(TRANSPORT_UD))
#define OFI_TRANSPORTS      (BIT(TRANSPORT_RDM) | BIT(TRANSPORT_MSG) | BIT(TRANSPORT_DGRAM))
#define TWO_SIDED           (BIT(VERB_WRITE_IMM) | BIT(VERB_SEND))
#define ATOMICS             (BIT(VERB_ATOMIC_FA) | BIT(VERB_ATOMIC_CS))

static const char test[] = "Test";
static const char course[] = "Course of the test";
static const char placing[] = "Threads, cores and memory";
static const char posting[] = "Messages in flight";
static const char rdma[] = "RDMA (-r ibv)";
static const char sockets[] = "Sockets (-c TCP, -c UDP)";
static const char null[] = "Programmed link (-r null)";
static const char report[] = "Report";
static const char launch[] = "Reaching the server (with -n)";
static const char server[] = "Server (without -n) and control connection";
static const char many[] = "Many hosts (fabperf plan)";
static const char other[] = "Other";

/* One paragraph a row. */
/* clang-format off */
const struct option_row option_rows[] = {
	{ .key = "host", .letter = 'n', .json = "hostName", .type = OPTION_WORD, FIELD(host), .def = "", .unit = "",
	  .metavar = "HOST", .group = test, .help = "Server's name or address, with --traffic_pattern all hosts; without it this process is a server" },
	{ .key = "device", .letter = 'd', .json = "deviceName", .type = OPTION_TEXT, .flags = WIRE,
	  FIELD(spec.device), .def = "", .unit = "", .metavar = "DEVICE",
	  DEVICES, .group = test,
	  .help = "RDMA device, libfabric provider (tcp, shm, tcp:eth0) or interface, many hosts: or a list; else one is chosen" },
	{ .key = "rdma_driver", .letter = 'r', .json = "rdmaDriver", .type = OPTION_ENUM, .flags = WIRE | AUTO,
	  FIELD(spec.driver), .names = driver_names, .def = "auto", .unit = "", .metavar = "DRIVER", .group = test,
	  .help = "RDMA verbs, libfabric, sockets, or a programmed link; auto: as -c and -d ask, ofi where there is no RDMA device" },
	{ .key = "connection", .letter = 'c', .json = "connectionType", .type = OPTION_ENUM, .flags = WIRE | AUTO,
	  FIELD(spec.transport), .names = transport_names, .def = "auto", .unit = "", .metavar = "TYPE",
	  .group = test, .help = "Transport; auto: RC, TCP with -r sock, RDM with -r ofi" },
	{ .key = "verb", .letter = 'v', .json = "verb", .type = OPTION_ENUM, .flags = WIRE | AUTO, FIELD(spec.verb),
	  .names = verb_names, .def = "auto", .unit = "", .metavar = "VERB", .group = test,
	  .help = "Operation; RC, XRC, DC, RDM and MSG take all, UC write, write_imm and send, the others send; auto: write where possible" },
	{ .key = "metric", .letter = 'm', .json = "metric", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.metric),
	  .names = metric_names, .def = "bw", .unit = "", .metavar = "METRIC", .group = test,
	  .help = "Bandwidth with message rate, or latency" },
	{ .key = "lat_mode", .json = "latencyMode", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.lat_mode),
	  .names = lat_mode_names, .def = "full_round_trip", .unit = "", .metavar = "MODE", LAT, .group = test,
	  .help = "Latency is half of a round trip, or the time from post to own completion, as it always is for read and atomics" },
	{ .key = "msg_size", .letter = 's', .json = "msgSize", .type = OPTION_SIZE, .flags = WIRE | AUTO,
	  FIELD(spec.size), .min = 1, .max = GI, .def = "auto", .unit = "bytes", .metavar = "SIZE", .group = test,
	  .list = offsetof(struct request, size_list),
	  .help = "Size of a message, or a list of them; auto: 64Ki (UD, UDP and DGRAM 1Ki) for bandwidth, 8 for latency and atomics" },
	{ .key = "all", .letter = 'a', .json = "allSizes", .type = OPTION_FLAG, FIELD(all), .def = "off", .unit = "",
	  .metavar = "", ASKER, .group = test,
	  .help = "All powers of two from 2 bytes to 8 MiB as sizes, datagrams as far as one goes" },
	{ .key = "bidirectional", .letter = 'b', .json = "trafficDirection", .type = OPTION_FLAG, .flags = WIRE,
	  FIELD(spec.bidirectional), .names = direction_names, .def = "off", .unit = "", .metavar = "", BW,
	  .group = test, .help = "Both sides send and receive on the same queue pairs; the figure is the sum" },
	{ .key = "operations", .json = "operations", .type = OPTION_OPERATIONS, .flags = WIRE, FIELD(spec.op), .min = 1,
	  .max = GI, .def = "", .unit = "", .metavar = "LIST", IBV, .group = test,
	  .help = "Several operations an iteration instead of -v and -s, as write:64Ki,send:4Ki,atomic_fa:8; for bandwidth" },
	{ .key = "qps", .letter = 'q', .json = "numQps", .type = OPTION_INT, .flags = WIRE, FIELD(spec.qps),
	  .min = 1, .max = 16384, .def = "1", .unit = "queue pairs", .metavar = "N", .group = test,
	  .list = offsetof(struct request, qps_list), .help = "Queue pairs (sockets) of each worker, or a list" },

	{ .key = "duration", .letter = 'D', .json = "duration", .type = OPTION_TIME, .flags = WIRE,
	  FIELD(spec.duration_ns), .min = 100 * MS, .max = 1e6 * S, .def = "10", .unit = "s", .metavar = "TIME",
	  .group = course, .help = "Length of the measured window" },
	{ .key = "iterations", .letter = 'i', .json = "iterations", .type = OPTION_INT, .flags = WIRE,
	  FIELD(spec.iterations), .min = 0, .max = 1e12, .def = "0", .unit = "messages", .metavar = "N",
	  .group = course, .help = "Messages (of --operations: iterations) per queue pair to measure instead of a duration; 0: by duration" },
	{ .key = "warmup", .letter = 'w', .json = "warmupTime", .type = OPTION_TIME, .flags = WIRE,
	  FIELD(spec.warmup_ns), .min = 0, .max = 1e6 * S, .def = "2", .unit = "s", .metavar = "TIME",
	  .group = course, .help = "Traffic before the window, not counted; 0: none" },
	{ .key = "warmup_iterations", .json = "warmupIterations", .type = OPTION_INT, .flags = WIRE,
	  FIELD(spec.warmup_iterations), .min = 0, .max = 1e12, .def = "0", .unit = "messages", .metavar = "N", BW,
	  .group = course, .help = "Messages (iterations) per queue pair before the window instead of a time; 0: by time" },
	{ .key = "end_margin", .json = "endMargin", .type = OPTION_TIME, .flags = WIRE, FIELD(spec.end_margin_ns),
	  .min = 0, .max = 1e6 * S, .def = "0", .unit = "s", .metavar = "TIME", BW, .group = course,
	  .help = "Traffic after the window, not counted" },
	{ .key = "validate", .json = "dataValidation", .type = OPTION_FLAG, .flags = WIRE, FIELD(spec.validate),
	  .def = "off", .unit = "", .metavar = "", .group = course,
	  .help = "Fill each message and compare every byte that arrives (send, write_imm; with -w 0): slower, and said so" },
	{ .key = "report_interval", .letter = 'R', .json = "reportInterval", .type = OPTION_TIME, .flags = WIRE,
	  FIELD(spec.report_interval_ns), .min = 0, .max = 1e6 * S, .def = "0", .unit = "s", .metavar = "TIME", BW,
	  ASKER, .group = course, .help = "Print a live line that often; 0: none" },

	{ .key = "num_processes", .letter = 'N', .json = "numProcesses", .type = OPTION_INT, .flags = WIRE,
	  FIELD(spec.workers), .min = 1, .max = 1024, .def = "1", .unit = "workers", .metavar = "N",
	  .group = placing,
	  .help = "Workers on each side, each with a core, a device context and queue pairs of its own" },
	{ .key = "cores", .letter = 'C', .json = "cores", .type = OPTION_CORES, .flags = WIRE, FIELD(spec.cores),
	  .def = "", .unit = "", .metavar = "CORES", .group = placing,
	  .help = "Cores for the workers, as 5 or 5,7 or 5-9; without it cores near the device are chosen" },
	{ .key = "exclude_cores", .json = "excludeCores", .type = OPTION_CORES, .flags = WIRE,
	  FIELD(spec.exclude_cores), .def = "", .unit = "", .metavar = "CORES", .group = placing,
	  .help = "Cores that are not chosen" },
	{ .key = "mem_type", .letter = 'M', .json = "memoryType", .type = OPTION_ENUM, .flags = WIRE,
	  FIELD(spec.mem), .names = mem_names, .def = "host", .unit = "", .metavar = "TYPE", .group = placing,
	  .help = "Memory that holds the messages: the host's, none (nullmr), the RDMA device's, a GPU's (in the best way, or one way)" },
	{ .key = "gpu", .letter = 'G', .json = "cudaDeviceId", .type = OPTION_INT, .flags = WIRE | AUTO | OPTION_ZIPPED,
	  FIELD(spec.gpu), .min = 0, .max = 255, .def = "auto", .unit = "", .metavar = "ID", IBV, .list = offsetof(struct request, gpu_list),
	  .group = placing,
	  .help = "GPU by CUDA's number, many hosts: or a list; auto: the nearest to the RDMA device by PCIe, more workers take turns" },
	{ .key = "cuda", .type = OPTION_INT, .flags = AUTO, FIELD(cuda), .min = 0, .max = 255, .def = "auto",
	  .unit = "", .metavar = "ID", IBV, TWO_HOSTS, .group = placing,
	  .help = "Deprecated: as -M cuda_auto_detect -G ID; auto: not given" },
	{ .key = "cuda_lib_path", .type = OPTION_TEXT, FIELD(cuda_lib_path), .def = "", .unit = "", .metavar = "DIR",
	  IBV, .group = placing,
	  .help = "Folder of libcuda.so.1, also for a server that is started; without it where the loader looks" },
	{ .key = "hugepages", .json = "hugePages", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.hugepages),
	  .names = hugepage_names, .def = "off", .unit = "", .metavar = "SIZE", .group = placing,
	  .help = "Pages of that size for messages in host memory; on: the system's usual size of huge pages" },
	{ .key = "working_set", .json = "workingSet", .type = OPTION_SIZE, .flags = WIRE | AUTO,
	  FIELD(spec.working_set), .min = 1, .max = 1024 * GI, .def = "auto", .unit = "bytes", .metavar = "SIZE",
	  .group = placing, .help = "Data buffers of each worker; auto: more than one slot per message in flight" },
	{ .key = "events", .json = "events", .type = OPTION_CHOICE, .flags = WIRE | AUTO, FIELD(spec.events),
	  .def = "auto", .unit = "", .metavar = "on|off", DEVICES,
	  .group = placing,
	  .help = "Sleep until something happens instead of polling; auto: on for bandwidth over sockets" },

	{ .key = "tx_depth", .letter = 't', .json = "txDepth", .type = OPTION_INT, .flags = WIRE | AUTO,
	  FIELD(spec.tx_depth), .min = 1, .max = 32768, .def = "auto", .unit = "messages", .metavar = "N", QUEUES,
	  .group = posting, .list = offsetof(struct request, depth_list),
	  .help = "Messages outstanding per queue pair, or a list; auto: 128, fewer from 129 pairs on; latency without --rate: one" },
	{ .key = "rx_depth", .json = "rxDepth", .type = OPTION_INT, .flags = WIRE | AUTO, FIELD(spec.rx_depth),
	  .min = 1, .max = 32768, .def = "auto", .unit = "messages", .metavar = "N", QUEUES, .scope.verbs = TWO_SIDED,
	  .group = posting, .help = "Receives posted per queue pair; auto: 512, fewer from 33 queue pairs on" },
	{ .key = "post_batch", .json = "postBatch", .type = OPTION_INT, .flags = WIRE | AUTO,
	  FIELD(spec.post_batch), .min = 1, .max = 1024, .def = "auto", .unit = "messages", .metavar = "N", BW,
	  .group = posting,
	  .help = "Messages a doorbell or system call, 1: each has its own; auto: at most 16 and 256Ki, TCP as many as fit 768Ki, UDP 256Ki" },
	{ .key = "cq_mod", .json = "cqMod", .type = OPTION_INT, .flags = WIRE | AUTO, FIELD(spec.cq_mod), .min = 1,
	  .max = 32768, .def = "auto", .unit = "messages", .metavar = "N", RDMA, BW, .group = posting,
	  .help = "One completion for that many messages; auto: --post_batch" },
	{ .key = "rate", .json = "rate", .type = OPTION_LOAD, .flags = WIRE, FIELD(spec.load), .min = 0, .max = 1e15,
	  .def = "0", .unit = "bit/s", .metavar = "LOAD", .group = posting,
	  .help = "Send by a schedule: payload of all workers, or messages/s (50kpps); latency counts from when due; 0: no schedule" },
	{ .key = "arrivals", .json = "arrivals", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.arrivals),
	  .names = arrivals_names, .def = "periodic", .unit = "", .metavar = "KIND", .group = posting,
	  .help = "Instants of --rate: evenly spaced, or at random with exponential gaps" },
	{ .key = "seed", .json = "seed", .type = OPTION_INT, .flags = WIRE, FIELD(spec.seed), .min = 0, .max = 1e15,
	  .def = "1", .unit = "", .metavar = "N", .group = posting,
	  .help = "Start of the random numbers of --arrivals, --null_loss and --null_jitter: the same seed draws the same" },
	{ .key = "inline_size", .json = "inlineSize", .type = OPTION_SIZE, .flags = WIRE | AUTO,
	  FIELD(spec.inline_size), .min = 0, .max = 1024, .def = "auto", .unit = "bytes", .metavar = "SIZE", IBV,
	  .scope.verbs = BIT(VERB_WRITE) | TWO_SIDED, .group = posting,
	  .help = "Messages up to that size travel inside the work request; auto: as the device allows, 0: never" },
	{ .key = "max_rd_atomic", .json = "maxRdAtomic", .type = OPTION_INT, .flags = WIRE | AUTO,
	  FIELD(spec.max_rd_atomic), .min = 1, .max = 255, .def = "auto", .unit = "operations", .metavar = "N",
	  RELIABLE, .scope.verbs = BIT(VERB_READ) | ATOMICS, .group = posting,
	  .help = "Reads or atomics on the wire per queue pair; auto: as many as both devices allow" },

	{ .key = "ib_port", .json = "ibPort", .type = OPTION_INT, .flags = WIRE, FIELD(spec.port), .min = 1,
	  .max = 255, .def = "1", .unit = "", .metavar = "N", IBV, .group = rdma,
	  .help = "Physical port of the device" },
	{ .key = "gid_index", .letter = 'g', .json = "gidIndex", .type = OPTION_INT, .flags = WIRE | AUTO,
	  FIELD(spec.gid_index), .min = 0, .max = 255, .def = "auto", .unit = "", .metavar = "N", IBV,
	  .group = rdma, .help = "Entry of the GID table; auto: RoCE v2, IPv4-mapped first, link-local last" },
	{ .key = "mtu", .json = "mtu", .type = OPTION_INT, .flags = WIRE | AUTO, FIELD(spec.mtu), .min = 256,
	  .max = 4096, .names = mtu_names, .def = "auto", .unit = "bytes", .metavar = "SIZE", IBV, .group = rdma,
	  .help = "Path MTU; auto: the port's" },
	{ .key = "service_level", .letter = 'S', .json = "serviceLevel", .type = OPTION_INT, .flags = WIRE,
	  FIELD(spec.service_level), .min = 0, .max = 15, .def = "0", .unit = "", .metavar = "N", IBV,
	  .group = rdma, .help = "Service level (priority)" },
	{ .key = "traffic_class", .json = "trafficClass", .type = OPTION_INT, .flags = WIRE,
	  FIELD(spec.traffic_class), .min = 0, .max = 255, .def = "0", .unit = "", .metavar = "N", IBV,
	  .group = rdma, .help = "Traffic class: four times the DSCP plus the ECN bits" },
	{ .key = "flow_label", .json = "flowLabel", .type = OPTION_INT, .flags = WIRE | AUTO,
	  FIELD(spec.flow_label), .min = 0, .max = 1048575, .def = "auto", .unit = "", .metavar = "N", IBV_ONLY,
	  .group = rdma, .help = "Flow label; auto: the driver's choice" },
	{ .key = "hop_limit", .json = "hopLimit", .type = OPTION_INT, .flags = WIRE, FIELD(spec.hop_limit),
	  .min = 1, .max = 255, .def = "64", .unit = "hops", .metavar = "N", IBV, .group = rdma, .help = "Hop limit" },
	{ .key = "pkey_index", .json = "pkeyIndex", .type = OPTION_INT, .flags = WIRE, FIELD(spec.pkey_index),
	  .min = 0, .max = 65535, .def = "0", .unit = "", .metavar = "N", IBV, .group = rdma,
	  .help = "Entry of the partition key table" },
	{ .key = "qp_timeout", .json = "qpTimeOut", .type = OPTION_INT, .flags = WIRE, FIELD(spec.qp_timeout),
	  .min = 0, .max = 31, .def = "14", .unit = "", .metavar = "N", RELIABLE, .group = rdma,
	  .help = "Wait 4.096 us * 2^N for an acknowledgement before sending again; 0: for ever" },
	{ .key = "retry_count", .json = "retryCount", .type = OPTION_INT, .flags = WIRE, FIELD(spec.retry_count),
	  .min = 0, .max = 7, .def = "7", .unit = "times", .metavar = "N", RELIABLE, .group = rdma,
	  .help = "Send again that often before the queue pair fails" },
	{ .key = "rnr_retry", .json = "rnrRetry", .type = OPTION_INT, .flags = WIRE, FIELD(spec.rnr_retry),
	  .min = 0, .max = 7, .def = "7", .unit = "times", .metavar = "N", RELIABLE, .group = rdma,
	  .help = "Try again that often when the receiver is not ready; 7: for ever" },
	{ .key = "min_rnr_timer", .json = "minRnrTimer", .type = OPTION_INT, .flags = WIRE,
	  FIELD(spec.min_rnr_timer), .min = 0, .max = 31, .def = "12", .unit = "", .metavar = "N", RELIABLE,
	  .group = rdma, .help = "Code of the pause that a receiver that is not ready asks for; 12: 0.64 ms" },
	{ .key = "start_psn", .json = "startPsn", .type = OPTION_INT, .flags = WIRE | AUTO, FIELD(spec.start_psn),
	  .min = 0, .max = 0xffffff, .def = "auto", .unit = "", .metavar = "N", IBV, .group = rdma,
	  .help = "First packet sequence number of every queue pair, also as 0x...; auto: drawn by lot" },
	{ .key = "use_ece", .json = "useEce", .type = OPTION_FLAG, .flags = WIRE, FIELD(spec.use_ece), .def = "off",
	  .unit = "", .metavar = "", RC_ONLY, .group = rdma,
	  .help = "Let the devices agree on options of their vendor's before the queue pairs connect (enhanced connection establishment)" },
	{ .key = "ph", .json = "ph", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.ph), .names = ph_names,
	  .def = "off", .unit = "", .metavar = "N", IBV, .group = rdma,
	  .help = "PCIe processing hint of the data buffers (TPH): 0 bidirectional, 1 requester, 2 completer, 3 the same with priority" },
	{ .key = "tph_core_id", .json = "tphCoreId", .type = OPTION_INT, .flags = WIRE | AUTO,
	  FIELD(spec.tph_core), .min = 0, .max = 65535, .def = "auto", .unit = "", .metavar = "CORE", IBV,
	  .group = rdma, .help = "Core that --ph steers to, with --tph_mem; auto: none" },
	{ .key = "tph_mem", .json = "tphMem", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.tph_mem),
	  .names = tph_mem_names, .def = "none", .unit = "", .metavar = "TYPE", IBV, .group = rdma,
	  .help = "Memory that --ph steers to, with --tph_core_id: volatile or persistent" },
	{ .key = "cc_group_hints", .json = "ccGroupHints", .type = OPTION_TEXT, .flags = WIRE,
	  FIELD(spec.cc_group_hints), .def = "", .unit = "", .metavar = "HINTS", DV, .group = rdma,
	  .help = "Congestion control hints for the queue pairs' group, as path,size,vendorId,formatId" },
	{ .key = "engine", .json = "engine", .type = OPTION_ENUM, .flags = WIRE, FIELD(spec.engine),
	  .names = engine_names, .def = "cpu", .unit = "", .metavar = "ENGINE", .group = rdma,
	  .help = "Who posts and polls: this host's processor, or with -r dv and CUDA memory a GPU" },
	{ .key = "rdma_cm", .json = "rdmaCm", .type = OPTION_CHOICE, .flags = WIRE, FIELD(spec.rdma_cm),
	  .def = "off", .unit = "", .metavar = "on|off", IBV_ONLY, .group = rdma,
	  .help = "Connect the queue pairs by the RDMA connection manager" },
	{ .key = "wr_api", .json = "wrApi", .type = OPTION_CHOICE, .flags = WIRE | AUTO, FIELD(spec.post_api),
	  .def = "auto", .unit = "", .metavar = "on|off", IBV_ONLY, .group = rdma,
	  .help = "Post by ibv_wr_* calls, off: by ibv_post_send; auto: as the device offers" },

	{ .key = "gso", .json = "gso", .type = OPTION_CHOICE, .flags = WIRE | AUTO, FIELD(spec.gso), .def = "auto",
	  .unit = "", .metavar = "on|off", .scope.transports = BIT(TRANSPORT_UDP), .group = sockets,
	  .help = "Let the kernel cut and join datagrams; auto: where it can" },
	{ .key = "zerocopy", .json = "zeroCopy", .type = OPTION_CHOICE, .flags = WIRE, FIELD(spec.zerocopy),
	  .def = "off", .unit = "", .metavar = "on|off", .scope.transports = BIT(TRANSPORT_TCP), .group = sockets,
	  .help = "Send without copying into the kernel (MSG_ZEROCOPY)" },
	{ .key = "sock_buf", .json = "sockBuf", .type = OPTION_SIZE, .flags = WIRE | AUTO, FIELD(spec.sock_buf),
	  .min = 1 * KI, .max = 512 * MI, .def = "auto", .unit = "bytes", .metavar = "SIZE", SOCKETS,
	  .group = sockets, .help = "Send and receive buffer of a socket; auto: the kernel's, UDP receives more" },
	{ .key = "data_port", .json = "dataPort", .type = OPTION_INT, .flags = WIRE, FIELD(spec.data_port),
	  .min = 0, .max = 65535, .def = "0", .unit = "", .metavar = "PORT", SOCKETS, .group = sockets,
	  .help = "Server's first port for data, counted up from there; 0: free ports" },

	{ .key = "null_latency", .json = "nullLatency", .type = OPTION_TIME, .flags = WIRE,
	  FIELD(spec.null_latency_ns), .min = 0, .max = 1 * S, .def = "0", .unit = "s", .metavar = "TIME",
	  NULL_ONLY, .group = null, .help = "One way, from post to completion" },
	{ .key = "null_rate", .json = "nullRate", .type = OPTION_RATE, .flags = WIRE, FIELD(spec.null_rate),
	  .min = 0, .max = 1e15, .def = "0", .unit = "bit/s", .metavar = "RATE", NULL_ONLY, .group = null,
	  .help = "Rate of the link that all workers share; 0: without limit" },
	{ .key = "null_jitter", .json = "nullJitter", .type = OPTION_TIME, .flags = WIRE, FIELD(spec.null_jitter_ns),
	  .min = 0, .max = 1 * S, .def = "0", .unit = "s", .metavar = "TIME", NULL_ONLY, .group = null,
	  .help = "Each message takes longer on the link, by an exponential time of this mean" },
	{ .key = "null_loss", .json = "nullLoss", .type = OPTION_REAL, .flags = WIRE, FIELD(spec.null_loss),
	  .min = 0, .max = 1, .def = "0", .unit = "", .metavar = "P", NULL_ONLY, BW, .group = null,
	  .help = "Probability that a message is lost" },

	{ .key = "percentiles", .json = "percentiles", .type = OPTION_PERCENTILES, .flags = WIRE,
	  FIELD(spec.percentiles), .min = 0, .max = 100, .def = "50,90,99,99.9,99.99", .unit = "%",
	  .metavar = "LIST", LAT, ASKER, .group = report,
	  .help = "Latencies to print besides minimum, maximum, mean, median, deviation, 99 % and 99.9 %" },
	{ .key = "bw_threshold", .json = "bwThreshold", .type = OPTION_REAL, .flags = WIRE,
	  FIELD(spec.bw_threshold), .min = 0, .max = 1e6, .def = "0", .unit = "Gb/s", .metavar = "GBPS", BW,
	  ASKER, .group = report,
	  .help = "Exit with status 2 when the bandwidth is lower than that many Gb/s (a bare number); 0: none" },
	{ .key = "lat_threshold", .json = "latThreshold", .type = OPTION_REAL, .flags = WIRE,
	  FIELD(spec.lat_threshold), .min = 0, .max = 1e9, .def = "0", .unit = "us", .metavar = "USEC", LAT,
	  ASKER, .group = report,
	  .help = "Exit with status 2 when the median latency is higher than that many us (a bare number); 0: none" },
	{ .key = "qp_histogram", .letter = 'H', .json = "printQpHistogram", .type = OPTION_FLAG, .flags = WIRE,
	  FIELD(spec.qp_histogram), .def = "off", .unit = "", .metavar = "", BW, ASKER,
	  .group = report, .help = "Bandwidth of each queue pair, and how far it is from the mean of all" },
	{ .key = "json", .letter = 'j', .json = "outputFile", .type = OPTION_TEXT, .flags = OPTION_VALUE_OPTIONAL,
	  FIELD(json_path), .present = offsetof(struct request, json), .def = "", .unit = "", .metavar = "PATH",
	  ASKER, .group = report, .help = "Write the result as JSON; without PATH ./fabperf_results_TIME.json" },
	{ .key = "print_json_results", .json = "printJsonOutput", .type = OPTION_FLAG, FIELD(print_json),
	  .def = "off", .unit = "", .metavar = "", ASKER, .group = report,
	  .help = "Print the result as JSON on stdout" },
	{ .key = "non_interactive", .type = OPTION_FLAG, FIELD(non_interactive), .def = "off", .unit = "",
	  .metavar = "", .group = report, .help = "No progress bar; also when stdout is no terminal" },

	{ .key = "launch_server", .json = "launchServer", .type = OPTION_CHOICE, FIELD(launch_server), .def = "on",
	  .unit = "", .metavar = "on|off", CLIENT, .group = launch,
	  .help = "Start a server when none listens: here directly, elsewhere by ssh; off (or disable): never" },
	{ .key = "server_device", .json = "serverDevice", .type = OPTION_TEXT, FIELD(server_device), .def = "",
	  .unit = "", .metavar = "DEVICE", CLIENT, DEVICES,
	  .group = launch, .help = "Device of the server; without it as -d" },
	{ .key = "server_mem_type", .json = "serverMemoryType", .type = OPTION_ENUM, .flags = AUTO,
	  FIELD(server_mem), .names = server_mem_names, .def = "auto", .unit = "", .metavar = "TYPE", CLIENT,
	  .group = launch, .help = "Memory of the server; auto: as -M, or the host's where that cannot be a target" },
	{ .key = "server_cores", .json = "serverCores", .type = OPTION_CORES, FIELD(server_cores), .def = "",
	  .unit = "", .metavar = "CORES", CLIENT, .group = launch, .help = "Cores of the server; without it the server chooses" },
	{ .key = "server_exe", .json = "serverExe", .type = OPTION_TEXT, FIELD(server_exe), .def = "", .unit = "",
	  .metavar = "PATH", CLIENT, .group = launch,
	  .help = "Executable to start there; without it this one's path" },
	{ .key = "server_username", .json = "serverUsername", .type = OPTION_TEXT, FIELD(server_username),
	  .def = "", .unit = "", .metavar = "NAME", CLIENT, .group = launch, .help = "Name to log in with" },
	{ .key = "ssh", .json = "ssh", .type = OPTION_TEXT, FIELD(ssh), .def = "ssh", .unit = "",
	  .metavar = "COMMAND", ASKER, .group = launch, .help = "Command that reaches the host, with its options" },
	{ .key = "connect_timeout", .json = "connectTimeout", .type = OPTION_TIME, FIELD(connect_timeout_ns),
	  .min = 100 * MS, .max = 3600 * S, .def = "10", .unit = "s", .metavar = "TIME", ASKER, .group = launch,
	  .help = "Give up when the server cannot be reached or started in that time" },

	{ .key = "port", .json = "port", .type = OPTION_INT, FIELD(control_port), .min = 0, .max = 65535,
	  .def = "18720", .unit = "", .metavar = "PORT", TWO_HOSTS, .group = server,
	  .help = "TCP port of the control connection; 0: a server takes a free one" },
	{ .key = "bind", .json = "bind", .type = OPTION_TEXT, FIELD(bind), .def = "", .unit = "",
	  .metavar = "ADDRESS", SERVER, .group = server, .help = "Address to listen at; without it at all" },
	{ .key = "once", .type = OPTION_FLAG, FIELD(once), .def = "off", .unit = "", .metavar = "", SERVER,
	  .group = server, .help = "End after one client" },
	{ .key = "memory_limit", .type = OPTION_SIZE, .flags = AUTO, FIELD(memory_limit), .min = 1 * MI, .max = 1024
	  * 1024 * GI, .def = "auto", .unit = "bytes", .metavar = "SIZE", SERVER, .group = server,
	  .help = "Most data buffers that one client may ask for; auto: half of this host's memory" },
	{ .key = "sysfs", .type = OPTION_TEXT, .flags = OPTION_HIDDEN, FIELD(sysfs), .def = "/sys", .unit = "",
	  .metavar = "DIR", .group = server, .help = "Where the kernel shows its devices; tests have another" },
	{ .key = "launched", .type = OPTION_FLAG, .flags = OPTION_HIDDEN, FIELD(launched), .def = "off", .unit = "",
	  .metavar = "", SERVER, .group = server,
	  .help = "Started by a client: tell port and version on stdout, end when stdin closes" },

	{ .key = "traffic_pattern", .json = "trafficPattern", .type = OPTION_ENUM, .flags = TEST,
	  FIELD(traffic_pattern), .names = pattern_words, .def = "none", .unit = "", .metavar = "PATTERN", MANY,
	  .group = many, .help = "Which of the hosts (-n a[1-8],b; each with all devices of -d) send to which" },
	{ .key = "traffic_partition", .json = "trafficPartition", .type = OPTION_ENUM, .flags = TEST,
	  FIELD(traffic_partition), .names = partition_words, .def = "none", .unit = "", .metavar = "PART", MANY,
	  .group = many, .help = "Of the pattern only: same devices of different hosts, within a host, between hosts" },
	{ .key = "dual_unidir", .type = OPTION_FLAG, .flags = TEST, FIELD(dual_unidir), .def = "off", .unit = "",
	  .metavar = "", MANY, .group = many, .help = "Both directions, each on queue pairs of its own" },
	{ .key = "input_file", .letter = 'f', .type = OPTION_WORD, FIELD(input_file), .def = "", .unit = "",
	  .metavar = "FILE", MANY, .group = many, .help = "Scenario of one or several tests as JSON, in a file or as '{...}'" },
	{ .key = "iteration_sync", .json = "iterationSync", .type = OPTION_FLAG, .flags = TEST, FIELD(iteration_sync),
	  .def = "off", .unit = "", .metavar = "", MANY, BW, .group = many,
	  .help = "Everybody waits for everybody behind each iteration (all_to_all, with -i)" },
	{ .key = "peer_shifting", .json = "peerShifting", .type = OPTION_FLAG, .flags = TEST, FIELD(peer_shifting),
	  .def = "off", .unit = "", .metavar = "", MANY, .group = many,
	  .help = "Round by round: in round p endpoint i sends to i + p only (all_to_all)" },
	{ .key = "ptini_file", .json = "ptiniFile", .type = OPTION_TEXT, .flags = TEST, FIELD(ptini_file), .def = "",
	  .unit = "", .metavar = "FILE", MANY, .group = many,
	  .help = "A size for each pair (all_to_all): counts of UCC's ALLTOALLV pattern file" },
	{ .key = "ptini_datatype", .json = "ptiniDatatype", .type = OPTION_ENUM, .flags = TEST, FIELD(ptini_datatype),
	  .names = ucc_type_names, .def = "float32", .unit = "", .metavar = "TYPE", MANY, .group = many,
	  .help = "What --ptini_file counts" },
	{ .key = "disable_connection_matrix", .type = OPTION_FLAG, .flags = TEST, FIELD(no_matrix), .def = "off",
	  .unit = "", .metavar = "", MANY, .group = many, .help = "Print no matrix of connections" },
	{ .key = "mpi_tcp_network_interfaces", .json = "mpiTcpNetworkInterfaces", .type = OPTION_TEXT,
	  FIELD(mpi_interfaces), .def = "", .unit = "", .metavar = "SUBNET", MANY, .group = many,
	  .help = "Subnet or interfaces by which the hosts reach each other for control, as 10.7.8.0/24" },
	{ .key = "summary", .type = OPTION_FLAG, FIELD(summary), .def = "off", .unit = "", .metavar = "",
	  .scope.sides = SIDE_PLAN, .group = many, .help = "Of 'fabperf plan': the number of connections, not each" },

	{ .key = "help", .letter = 'h', .type = OPTION_FLAG, FIELD(help), .def = "off", .unit = "", .metavar = "",
	  .group = other, .help = "Print this" },
	{ .key = "version", .letter = 'V', .type = OPTION_FLAG, FIELD(version), .def = "off", .unit = "",
	  .metavar = "", .group = other, .help = "Print the version" },
};
/* clang-format on */

const size_t option_count = sizeof(option_rows) / sizeof(option_rows[0]);
