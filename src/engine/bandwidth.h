/* The bandwidth engine's row. */
#ifndef ENGINE_BANDWIDTH_H
#define ENGINE_BANDWIDTH_H

extern const struct engine engine_bandwidth;

#endif
