/* The words that values of options may be; each list ends with NULL. */
#ifndef SPEC_WORDS_H
#define SPEC_WORDS_H

extern const char *const driver_names[];
extern const char *const transport_names[];
extern const char *const verb_names[];
extern const char *const engine_names[];
extern const char *const metric_names[];
extern const char *const lat_mode_names[];
extern const char *const arrivals_names[];
extern const char *const burst_names[];
extern const char *const limiter_names[];
extern const char *const mem_names[];
extern const char *const server_mem_names[];
extern const char *const hugepage_names[];
extern const char *const direction_names[];
extern const char *const pattern_words[];
extern const char *const partition_words[];
extern const char *const ucc_type_names[];
extern const char *const detail_names[];
extern const char *const ph_names[];
extern const char *const tph_mem_names[];
extern const char *const mtu_names[];

#endif
