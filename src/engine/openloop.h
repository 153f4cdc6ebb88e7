/* The rows of the open loop, for both metrics. */
#ifndef ENGINE_OPENLOOP_H
#define ENGINE_OPENLOOP_H

struct flow;

extern const struct engine engine_openloop_bandwidth, engine_openloop_latency;

/* The passive side of a ping-pong, until FLOW_FINISH (answer.c). */
int openloop_answer(struct flow *flow);
/* What prepare made. */
void openloop_free(struct flow *flow);

#endif
