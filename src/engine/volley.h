/* A volley: each connection sends one message after another at instants that all senders have in common. */
#ifndef ENGINE_VOLLEY_H
#define ENGINE_VOLLEY_H

struct flow;

int volley_make(struct flow *flow); /* it takes part from now on; -ENOMEM with flow->error */
void volley_free(struct flow *flow);
int volley_run(struct flow *flow); /* the phase: negative errno with flow->error */

#endif
