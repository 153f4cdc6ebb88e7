/* What a test of bursts will do to the port that most send to: every figure of the plan, from a description in numbers. */
#ifndef MODEL_PREDICT_H
#define MODEL_PREDICT_H

#include "model/sim.h"

/* Bytes, seconds, bytes per second. */
struct predict_case {
	uint32_t senders; /* into the port */
	uint32_t ports; /* that receive as much at the same time */
	uint32_t sent; /* connections of a sender's port, which share its rate */
	double link; /* payload of a receiver's port */
	double sender; /* and of a sender's */
	double message;
	uint64_t queues; /* of a connection, whose messages are under way side by side; 0 = 1 */
	double messages; /* of a connection's burst; with `time`, what it has time for */
	double time; /* training: s of a burst; 0 = by messages */
	double cycle; /* mean, from burst to burst */
	bool free_phases; /* storage: each connection in a rhythm of its own */
	double skew;
	double in_flight; /* bytes of each connection that wait for an acknowledgement; 0 = no such bound */
	uint32_t packet; /* payload of a packet at most */
	struct buffer buffer; /* neither alpha nor limit: no limit is known (INFINITY) */
	struct ecn ecn; /* kmin INFINITY: none */
	double xoff; /* of PFC, of a port; INFINITY: none */
	double cable; /* m; < 0: not known */
	double line; /* bytes/s of a port, headers included */
	uint64_t seed;
};

/* What is not bounded or does not happen is INFINITY; what is not known NAN. */
struct prediction {
	struct predict_case of;
	struct burst burst; /* the closed forms' */
	double length, node_length; /* s of a connection's burst alone; of all that a sender's port sends */
	double fill_rate, fill, peak, drop, share; /* share: of what is offered */
	double hit; /* share of all messages that lose a packet, at most */
	double knee; /* messages of a connection's burst at which loss begins */
	double drain, overlap;
	double sender_average, receiver_average;
	double in_flight; /* all connections together */
	double mark, uncontrolled; /* s until marking begins; bytes before a sender can hear of it */
	double headroom; /* bytes of each port for PFC */
	double usual; /* peak of simulated free phases, where `peak` is that of all bursts at once; else NAN */
	bool exact; /* the closed forms hold as they are; else the fluid simulation gave loss, and but for free phases the peak */
	bool unfollowed; /* that simulation was too long: the closed forms stand as they are */
	bool overload; /* each cycle brings more than drains: peak and loss are those of the long run */
};
/* -ENOMEM and a sentence. */
int predict(const struct predict_case *of, struct prediction *ret, struct error *err);

uint32_t predict_ports(const struct predict_case *of); /* that are as full at the same time */
struct burst predict_burst(const struct predict_case *of); /* the closed forms' part of it */

/* Bursts are followed for some cycles: fewer where that would take long. Starts are evenly apart, or drawn from the seed. */
struct simulation {
	uint64_t bursts; /* of each sender */
	struct sim_outcome fluid, packet; /* of one port, and all bursts */
	uint64_t events, packets; /* packets 0: too many to follow one by one */
};
/* brief: as a fluid only, and without free phases the first burst only. -ENOMEM, -ELOOP and a sentence. */
int predict_simulate(const struct predict_case *of, bool brief, struct simulation *ret, struct error *err);

#endif
