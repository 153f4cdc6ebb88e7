/* The latency engine's row. */
#ifndef ENGINE_LATENCY_H
#define ENGINE_LATENCY_H

extern const struct engine engine_latency;

#endif
