/* What comes of each burst, slot by slot, at a receiver whose rank follows rank 0's clock. */
#ifndef ENGINE_ARRIVALS_H
#define ENGINE_ARRIVALS_H

struct flow;

int arrivals_make(
	struct flow *flow); /* -ENOMEM with flow->error; nothing where slots are not common, or nothing shows */
void arrivals_free(struct flow *flow);
void arrivals_start(struct flow *flow); /* at phase.start_ns */
void arrivals_take(struct flow *flow); /* what has come since is booked */

#endif
