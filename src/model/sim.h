/* Two simulations of queues that share a switch's buffer: an exact fluid, from event to event, and packet by packet. */
#ifndef MODEL_SIM_H
#define MODEL_SIM_H

#include "model/burst.h"

struct error;

/* Bytes, seconds, bytes per second. */
struct sim_switch {
	struct buffer buffer;
	struct ecn ecn; /* kmin INFINITY: no marks */
	/*
	 * PFC: a queue of more than xoff bytes (INFINITY: no PFC) pauses all that send to it, delay later; once below xon it lets them go on,
	 * delay later. It asks again only when what it asked last has taken effect. A real switch counts what each port sent;
	 * with equal senders the thresholds here are theirs times the number of senders.
	 */
	double xoff, xon, delay;
};

struct sim_queue {
	double drain;
	uint32_t copies; /* that many queues to which the same happens: a pattern's equal receivers */
};

/* So many senders to one queue, all alike: bursts from `start` on, one every `period`; one that is due before the one before has left follows it. */
struct sim_flow {
	uint32_t queue; /* index */
	uint32_t senders;
	double rate, bytes; /* of each sender; bytes of a burst */
	double packet; /* most bytes of a packet */
	double start, period;
	uint64_t bursts;
};

struct sim {
	struct sim_switch box;
	const struct sim_queue *queue;
	const struct sim_flow *flow;
	uint32_t queues, flows;
	double until; /* the end, s; INFINITY: until all is sent and every queue is empty */
};

/* Of one queue; of one of its copies. */
struct sim_outcome {
	double peak, offered, dropped, marked; /* bytes; marked: expected, of those admitted */
	double left; /* bytes in it at the end */
	double first_drop; /* s; < 0: none */
	double empty; /* s at which it was last left empty; < 0: never filled */
	double paused; /* s that its senders were told to wait */
};

/* Each fills in ret[sim->queues], and how many events (fluid) or packets it took. -EINVAL, -ENOMEM, -ELOOP and a sentence. */
int sim_fluid(const struct sim *sim, struct sim_outcome *ret, uint64_t *ret_events, struct error *err);
int sim_packets(const struct sim *sim, struct sim_outcome *ret, uint64_t *ret_packets, struct error *err);

/* Whether the description makes sense. 0, or -EINVAL and a sentence. */
int sim_check(const struct sim *sim, struct error *err);

#define SIM_INSTANT 1e-12 /* s: what is not further apart happens at once */

/* Asking senders to pause: what both simulations do alike. */
struct sim_pfc {
	bool asked, paused;
	double due; /* when what was asked takes effect; INFINITY: it has */
	double since; /* paused since then */
};
/* The queue has q bytes now: asks if it must. */
void sim_pfc_ask(struct sim_pfc *pfc, const struct sim_switch *box, double q, double now);
/* What was asked takes effect. True when senders stop or go on. */
bool sim_pfc_act(struct sim_pfc *pfc, struct sim_outcome *outcome, double now);

#endif
