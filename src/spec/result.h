/* What was measured: counts, instants and one histogram per worker and side; every figure is computed from them here. */
#ifndef SPEC_RESULT_H
#define SPEC_RESULT_H

#include "base/error.h"
#include "spec/counter.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct burst_arrivals;
struct burst_stats;
struct cursor;
struct hist;

#define RESULT_INTERVALS 256
#define RESULT_FACTS     40
#define RESULT_WORKERS   1024 /* most workers of one side */
#define RESULT_QPS       16384 /* most QPs of one worker */
#define RESULT_VOLLEYS   16 /* messages of a connection in the volley before bursts */

/* One thing that was used or found, for the report: key for JSON (camelCase), label for people, value as text. */
struct fact {
	char key[32];
	char label[32];
	char value[96];
	bool number; /* value is a JSON number */
};

struct facts {
	unsigned count;
	struct fact fact[RESULT_FACTS];
};
/* A key that is already there is replaced; what does not fit is cut; a full table stays as it is. */
void facts_add(struct facts *facts, const char *key, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void facts_add_number(struct facts *facts, const char *key, const char *label, long long value);
void facts_add_real(struct facts *facts, const char *key, const char *label, double value);
const char *facts_get(const struct facts *facts, const char *key); /* NULL when absent */

/* Messages of one QP that were completed since it was opened, at the window's begin [0] and at its end [1]. */
struct qp_count {
	uint64_t sent[2], received[2];
};

/* How one worker kept the schedule of an open loop, over the messages that were due in its window. */
struct pacing {
	uint64_t due; /* messages */
	uint64_t late; /* of them, posted when the next one was due, too */
	uint64_t late_sum_ns, late_max_ns; /* from due to posted */
	uint64_t behind; /* not yet posted when the window ended */
	uint64_t missed; /* never posted */
};

static inline void pacing_record(struct pacing *pacing, int64_t late_ns, bool late)
{
	pacing->due++;
	pacing->late += late;
	pacing->late_sum_ns += (uint64_t)late_ns;
	if ((uint64_t)late_ns > pacing->late_max_ns)
		pacing->late_max_ns = (uint64_t)late_ns;
}

static inline void pacing_miss(struct pacing *pacing, uint64_t messages)
{
	pacing->due += messages;
	pacing->missed += messages;
}

#define RESULT_INVALIDS 5000 /* most wrong messages that are told one by one */

/* A message whose payload was not what its sender had filled in: where it is wrong first. */
struct invalid {
	uint32_t worker, qp;
	uint64_t message; /* its number on its QP */
	uint32_t byte, bytes; /* first wrong byte, how many are */
	uint8_t expected, found;
};

/* One worker of one side. Instants are ns of this rank's own clock. */
struct worker_result {
	uint32_t core;
	int32_t numa; /* node of its buffers, -1 unknown */
	int32_t gpu; /* CUDA's number of the one that has its buffers, -1 none */
	uint64_t qps;

	int64_t begin_ns, end_ns; /* the measured window as it was taken */
	uint64_t sent, received; /* messages completed inside the window */
	uint64_t op_sent[SPEC_OPS]; /* with a list of operations: of those sent, how many of each; */
	uint64_t received_bytes; /* payload of those received */
	int64_t timed_ns, longest_ns; /* in step: the iterations themselves, without the pauses; the longest. Else 0 */
	uint64_t edge_begin, edge_end; /* messages outstanding at the two edges */
	int64_t edge_error_ns; /* width of the bracket in which an edge was taken, the larger of both */

	uint64_t total_sent, total_received; /* from first to last message, warm-up and drain included */
	bool has_loss; /* lost, duplicated, reordered were measured (by sequence numbers at the receiver) */
	uint64_t lost, duplicated, reordered;
	struct pacing pacing; /* open loop; all 0 without */
	uint64_t timeouts; /* latency: messages given up after the time limit */

	int64_t cpu_user_ns, cpu_system_ns; /* of this thread, in the window; -1 = not known */

	int64_t interval_ns; /* length of one interval; the last may be shorter and is left out */
	uint32_t intervals;
	uint64_t interval_msgs[RESULT_INTERVALS]; /* messages completed (or received) per interval; list: their bytes */
	bool both_ways; /* this worker sent and received: interval_msgs are those sent, and */
	uint64_t interval_received[RESULT_INTERVALS]; /* these those received */

	uint64_t validated, invalid,
		invalid_bytes; /* --validate: messages compared, of them wrong, their wrong bytes */

	uint32_t qp_count; /* entries of qp: qps, or 0 when they were not kept (rank_result_alloc_qps) */
	struct qp_count *qp;

	struct burst_stats *bursts; /* of a sender with --burst_profile, else NULL (burst.h) */
	struct burst_arrivals
		*arrivals; /* of a receiver of them, where slots are on a clock that is followed (arrivals.h) */
	uint32_t volleys; /* entries: 0, or RESULT_VOLLEYS */
	int64_t volley_ns
		[RESULT_VOLLEYS]; /* when each was posted, or came, in rank 0's clock; 0: it was not, or did not */
	struct hist *hist; /* latency samples, ns, as measured (round trip or completion); NULL when none */
	struct error error; /* code != 0: this worker failed */
};

struct rank_result {
	char host[SPEC_TEXT]; /* name of the machine */
	char version[32];
	bool active; /* sends (requests); else it answers. With two directions: sends in the first (result_direction) */
	int64_t clock_offset_ns; /* this rank's clock minus rank 0's */
	int64_t clock_gain_ns; /* by which that has grown at the end of the window, where it was measured again */
	int64_t clock_error_ns; /* half of the best round trip: bound of the offset's error; -1 = not measured */
	uint64_t rss_bytes; /* highest resident memory, data buffers included */
	uint64_t buffer_bytes; /* data buffers */
	uint32_t mem; /* enum mem_kind: where they are */
	bool delivery; /* a completion at the sender means that the message arrived (RC, null) */
	bool counts_received; /* this side counts what it received */
	bool cores_shared; /* two workers, or both sides, share a core */
	struct facts facts;
	uint32_t workers;
	struct worker_result *worker;
	uint32_t invalids; /* at most RESULT_INVALIDS, worker by worker */
	struct invalid *invalid;
	struct port_counters counters; /* of the NICs that its messages used; none: not read, or there are none */
	struct error error;
};

enum run_status { RUN_OK, RUN_FAILED, RUN_THRESHOLD, RUN_INTERRUPTED };

struct result {
	struct request request; /* what was run, everything resolved */
	enum run_status status;
	struct error error; /* why, when status is RUN_FAILED or RUN_INTERRUPTED */
	int64_t started_unix_ns; /* wall clock at the start */
	bool measured; /* traffic ran: the figures below mean something */
	double setup_seconds; /* from the first control message to connected */
	double drain_seconds; /* from the end of the traffic until nothing was outstanding */
	uint32_t ranks; /* 2; rank 0 is the client */
	unsigned
		direction; /* 1 to the server, 2 to the client: one direction of two (result_direction); 0: the whole */
	struct rank_result *rank;
};

/* A run: a result for each of its tests, in the order in which they ran. */
struct results {
	struct request request; /* as it was asked for, its lists included; the rest as the first test has it */
	enum run_status status; /* the worst of the tests'; interrupted, too, when some did not run */
	struct error error; /* why, when status is RUN_FAILED or RUN_INTERRUPTED */
	unsigned worst; /* the test, counted from 0, that decides the status */
	int64_t started_unix_ns; /* wall clock at the start */
	unsigned asked; /* tests: entries of result */
	unsigned begun; /* of them; at least the first, which stands for what went wrong before */
	unsigned setups; /* times that endpoints were opened */
	struct result *result;
};
int results_init(struct results *results, const struct request *request); /* one test; -ENOMEM */
struct sweep;
int results_expect(struct results *results, const struct request *request, const struct sweep *sweep); /* -ENOMEM */
void results_release(struct results *results);
/* What the tests come to: status and error of the whole. */
void results_conclude(struct results *results);

/* Copies the request; status RUN_OK, nothing measured. Without memory for the ranks it has none. */
void result_init(struct result *result, const struct request *request, uint32_t ranks);
void result_release(struct result *result);
int rank_result_alloc(struct rank_result *rank, uint32_t workers, bool hists); /* -ENOMEM */
int rank_result_alloc_qps(struct rank_result *rank, uint32_t qps); /* each worker counts by QP; -ENOMEM */
/* Appends wrong messages, as many as there is room for; -ENOMEM. */
int rank_result_log(struct rank_result *rank, const struct invalid *invalid, uint32_t count);
void rank_result_release(struct rank_result *rank);

void rank_result_pack(const struct rank_result *rank, struct buf *to);
int rank_result_unpack(struct rank_result *ret, struct cursor *from); /* -EPROTO, -ENOMEM; bounded */

/*
 * A test of both directions (spec.bidirectional) is two one-way ones in the same window: each of them as a result of its
 * own, number 0 to the server, 1 to the client. It borrows from the whole and is not released. Of a one-way test number
 * 0 is the test. What follows speaks of one direction but for result_rate and result_bw_threshold.
 */
struct direction {
	struct result result;
	struct rank_result rank[2];
};
unsigned result_directions(const struct result *result); /* 1 or 2 */
void result_direction(const struct result *result, unsigned number, struct direction *ret);
/*
 * By count each side ends with its own last message. Two directions have one window: both sides' workers end with the
 * later of the two. CPU time of the part that was added is not known.
 */
void result_join_windows(struct result *result);

/*
 * Which rank's counts make the figure: the sender's in latency tests and when its completions mean delivery, else the
 * receiver's if it counts and took a window, else the sender's. The sender is the first active rank, the receiver the
 * first that is not; NULL when there is none.
 */
const struct rank_result *result_authority(const struct result *result);
const struct rank_result *result_sender(const struct result *result);
const struct rank_result *result_receiver(const struct result *result);

/* Bandwidth of one side: sum over its workers of (messages in its window) / (its window). bit/s of payload, messages/s. */
struct rate {
	double gbps; /* 10^9 bit/s */
	double mpps; /* 10^6 messages/s */
	double seconds; /* window, averaged over the workers */
	uint64_t messages, bytes; /* in the window */
};
struct rate rank_rate(const struct result *result, const struct rank_result *rank);
/* Nothing was sent, or nothing answered, in the whole window: that is no figure. */
bool result_is_empty(const struct result *result);
/* The figure: the rate of the side that counts; of two directions the sum of both. */
struct rate result_rate(const struct result *result);

/* How even a side's queue pairs were, each in its worker's window (spec.qp_histogram). */
struct qp_rates {
	uint64_t count; /* queue pairs of all workers */
	double mean, largest; /* 10^9 bit/s */
};
bool rank_qp_rates(const struct result *result, const struct rank_result *rank,
		   struct qp_rates *ret); /* false when they were not kept, or no worker took a window */
double rank_qp_gbps(const struct result *result, const struct rank_result *rank, uint32_t worker, uint32_t qp);
double qp_deviation(const struct qp_rates *all, double gbps); /* from the mean, percent; NAN when nothing was counted */
/* One operation of a list over the sender's workers: its number in spec_ops; the position of a message on its QP tells. */
struct rate result_op_rate(const struct result *result, unsigned op);

/* Messages that this side counted inside the window: the active side what it sent, the other what it received. */
uint64_t worker_counted(const struct rank_result *rank, const struct worker_result *worker);
/* Whether this worker took a window; what took none has neither counts nor CPU time. */
bool worker_has_window(const struct worker_result *worker);

/* Length of a worker's window, in step of the iterations in it; s. */
double worker_seconds(const struct worker_result *worker);

/* How this side's window was taken, over its workers. */
struct window {
	double begin_skew, end_skew; /* spread of the workers' begin instants and of their end instants, s */
	double edge_error; /* messages that the edges may have cut / counted; NAN when nothing was, and for latency */
	double edge_bracket; /* widest bracket in which an edge was taken, s */
	double seconds; /* as in struct rate */
	int64_t begin_ns, end_ns; /* earliest begin, latest end, in rank 0's clock */
};
/* False when no worker took one. */
bool rank_window(const struct result *result, const struct rank_result *rank, struct window *ret);

/* CPU time of this side's workers inside their windows, s, and in percent of the windows: 100 = one core busy. */
struct cpu_time {
	double user, system;
	double percent;
};
bool rank_cpu(const struct rank_result *rank,
	      struct cpu_time *ret); /* false when no worker took a window, or one does not know */

/* Per-interval total rate of a side in Gb/s: the number of whole intervals all workers have, at most RESULT_INTERVALS. */
unsigned rank_intervals(const struct result *result, const struct rank_result *rank, double gbps[RESULT_INTERVALS],
			double *interval_seconds);

/* What makes 10^6 messages/s out of 10^9 bit/s of them. */
double rate_mpps_of_gbps(const struct spec *spec);

/* Steadiness: spread of the above, nearest rank. False when fewer than ten whole intervals. */
struct steadiness {
	double min, p1, median, max;
	double interval_seconds;
	unsigned intervals;
};
bool rank_steadiness(const struct result *result, const struct rank_result *rank, struct steadiness *ret);
/* At least 1 s (0.99 s pass: a window asked for as 1 s may come out that much shorter) and 10^4 messages; latency: samples. */
bool result_is_steady(const struct result *result);

/*
 * Latency of the sender's workers merged, in us as reported: half the round trip, or the completion time (halved says
 * which). Percentiles: 99, 99.9 and those asked for, ascending, each once.
 */
#define RESULT_PERCENTILES (SPEC_MAX_PERCENTILES + 2)
struct latency {
	bool halved;
	uint64_t samples;
	double min, max, mean, median, stddev;
	unsigned percentiles;
	struct {
		double p, us;
		uint64_t beyond; /* samples beyond it (below it when p < 50) */
		bool significant; /* ten or more */
	} percentile[RESULT_PERCENTILES];
};
bool latency_of(const struct spec *spec, const struct hist *hist,
		struct latency *ret); /* false when there is no sample */
bool result_latency(const struct result *result, struct latency *ret);
bool worker_latency(const struct spec *spec, const struct worker_result *worker,
		    struct latency *ret); /* of one worker */
/* Whether a completion at the sender told that the peer has the message; else it had only left this host. */
bool result_acknowledged(const struct result *result);
/*
 * The load that was asked for and what came of it, over the sender's workers: false without a schedule or a window. It
 * was sustained when at most a hundredth of what was due in the window (or ten messages) was not done at its end.
 */
struct load_kept {
	double asked_gbps, asked_mpps; /* as struct rate */
	double done_gbps, done_mpps; /* completed, or answered, in the window */
	uint64_t due, late, behind, missed; /* sums of struct pacing */
	double late_mean_us, late_max_us;
	bool sustained;
};
bool result_load(const struct result *result, struct load_kept *ret);
uint64_t result_unanswered(const struct result *result); /* samples that the sender's workers gave up */
/* All samples of the sender, ns as measured, into an initialised histogram; false when there is none. */
bool result_hist(const struct result *result, struct hist *into);

/*
 * Whole-run loss: sent - received from the totals of both sides; false when the receiver does not count. A message that
 * arrives twice is received once (and duplicated once), so sent = received + lost.
 */
struct loss {
	uint64_t sent, received, lost;
	bool sequenced; /* duplicated, reordered come from sequence numbers */
	uint64_t duplicated, reordered;
};
bool result_loss(const struct result *result, struct loss *ret);

/* What --validate found on the receiver's side; false when nothing was compared. */
struct validity {
	uint64_t messages, invalid, invalid_bytes;
	uint32_t logged;
	const struct invalid *log;
};
bool result_validity(const struct result *result, struct validity *ret);

/* Thresholds: 0 none asked (or it concerns the other metric), 1 passed, -1 missed or nothing was measured. */
int result_bw_threshold(const struct result *result);
int result_lat_threshold(const struct result *result);

#endif
