/* Bursts of many senders into one queue of a switch, in closed form: bytes, seconds and bytes per second throughout. */
#ifndef MODEL_BURST_H
#define MODEL_BURST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * N equal senders burst into one queue, which drains at a constant rate: an incast. Every quantity counts the same
 * bytes: all payload, or all with headers and cells, never mixed. What is not bounded is INFINITY.
 */
struct burst {
	uint32_t senders;
	double bytes; /* of one sender's burst */
	double rate; /* of one sender while it bursts */
	double drain; /* of the queue */
	double skew; /* of the starts: the last minus the first */
	double cycle; /* from one start to the next; 0 = a single burst */
	double limit; /* bytes that the queue may hold: buffer_limit() */
};

/* A buffer that queues share: by a dynamic threshold, or each with a limit of its own. */
struct buffer {
	double pool; /* bytes shared, where alpha counts */
	double alpha; /* a queue may hold alpha times what is free; 0 = by limit */
	double limit; /* bytes of each queue; INFINITY = no limit */
};
/* What each of so many full queues holds: alpha / (1 + queues * alpha) of the pool (Choudhury and Hahne 1998). */
double buffer_limit(const struct buffer *buffer, uint32_t queues);
/* The alpha with which one full queue of the pool holds that much; < 0 when it can't (limit >= pool). */
double buffer_alpha(double pool, double limit);
/*
 * What a switch is when one full queue holds `one` bytes, and each of two full at a time `two`: 1 / two - 1 / one = 1 / pool. False where no
 * alpha explains it: two hold no less than one, as with a static limit (infinite pool), or no more than half. For a knee measured twice.
 */
bool buffer_infer(double one, double two, double *ret_pool, double *ret_alpha);

/* Payload of an Ethernet link that carries RoCEv2 packets of so many bytes, each with 82 bytes of headers, preamble and gap. */
double link_payload(double link, double packet);
double payload_least(double packet); /* payload's share of a packet with the most headers: IPv6, the first of a write */

double burst_length(const struct burst *burst); /* of one sender */
double burst_net(const struct burst *burst); /* bytes/s by which the queue grows while all send; <= 0: it doesn't */
/*
 * s of all sending until the limit is reached; where a burst doesn't come to it and cycles bring more than they drain, by the excess
 * of the mean; INFINITY: never.
 */
double burst_fill(const struct burst *burst);
bool burst_overloads(const struct burst *burst); /* each cycle brings more than it drains */
/* Most bytes in the queue when nothing limits it. Exact while some sender is active from the first start to the last end. */
double burst_unlimited(const struct burst *burst);
double burst_peak(
	const struct burst *burst); /* the same within the limit, which cycles that overload come to in the end */
double burst_drop(const struct burst *burst); /* bytes lost of all senders' bursts */
double burst_knee(const struct burst *burst); /* bytes of one sender's burst at which loss begins; INFINITY: never */
/* s during which at least so many senders are active, their starts evenly apart. */
double burst_overlap(const struct burst *burst, uint32_t senders);
/* What a graph of seconds shows of a port: bytes/s over a cycle; 0 without cycles. */
double burst_sender_average(const struct burst *burst);
/* Whether all closed forms above hold: each sender alone fills the drain, and no gap opens between evenly spread starts. */
bool burst_is_exact(const struct burst *burst);

/* Bytes in flight that reliable senders can't exceed: each waits for its outstanding messages. */
double burst_in_flight(uint32_t senders, uint64_t queue_pairs, uint64_t outstanding, double message);
/* How fast marking makes senders react (DCQCN): from the first byte in the queue. */
double ecn_time(const struct burst *burst, double kmin); /* s until the queue passes kmin; INFINITY: never */
/* Bytes that all send before the first sender hears of it, a round trip behind the mark. */
double ecn_uncontrolled(const struct burst *burst, double kmin, double round_trip);
/* The share of packets that is marked at a queue of q bytes. */
struct ecn {
	double kmin, kmax; /* bytes */
	double pmax; /* just below kmax; 1 from there on */
};
double ecn_share(const struct ecn *ecn, double q);
/* The mean share while the queue goes evenly from one length to another. */
double ecn_mean(const struct ecn *ecn, double from, double to);

/* What a port of such a rate needs beyond its threshold to lose nothing while PFC stops the sender. */
struct pfc_port {
	double link; /* bytes/s of the line */
	double cable; /* m */
	double mtu; /* largest frame, bytes */
};
double pfc_delay(const struct pfc_port *port); /* s from the crossing of the threshold to the last byte that arrives */
double pfc_headroom(const struct pfc_port *port); /* bytes of the port and a priority */

#endif
