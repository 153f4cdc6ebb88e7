/* Packet pacing of a queue pair of the stand-in device. */
#ifndef DOUBLE_PACER_H
#define DOUBLE_PACER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct d_qp;

/* Bursts of so many bytes leave at instants that lie apart as the rate says. */
struct pacer {
	uint32_t kbits; /* a second; 0 = not paced */
	uint32_t burst; /* bytes; 0 = each message alone */
	bool idle; /* the queue was empty: the next message may begin anew */
	int64_t base; /* ns: when byte 0 was due */
	uint64_t bytes; /* that have left since */
};

struct ibv_packet_pacing_caps pacer_caps(void);
int pacer_set(struct ibv_qp *base, struct ibv_qp_rate_limit_attr *attr);
bool pacer_holds(struct d_qp *qp); /* the next message has to wait */
void pacer_left(struct d_qp *qp, uint32_t bytes); /* and now it was carried out */

#pragma GCC visibility pop

#endif
