/* The words that values of options may be, in the order of the enums of spec.h. */
#include "spec/words.h"

#include "spec/spec.h"

#include <stddef.h>

const char *const driver_names[] = { "auto", "ibv", "sock", "null", "ofi", "dv", NULL };
const char *const transport_names[] = {
	"auto", "RC", "UC", "UD", "TCP", "UDP", "RDM", "MSG", "DGRAM", "XRC", "DC", NULL,
};
const char *const verb_names[] = {
	"auto", "write", "write_imm", "read", "send", "atomic_fa", "atomic_cs", NULL,
};
const char *const engine_names[] = { "cpu", "gpunetio", NULL };
const char *const metric_names[] = { "bw", "lat", NULL };
const char *const lat_mode_names[] = { "full_round_trip", "one_way", NULL };
const char *const arrivals_names[] = { "periodic", "poisson", NULL };
const char *const burst_names[] = { "none", "training", "storage", "sync_burst", NULL };
const char *const limiter_names[] = { "sw", "hw", "auto", NULL };
#define MEM_NAMES                                                                                                      \
	"host", "nullmr", "device", "cuda", "cuda_auto_detect", "cuda_peermem", "cuda_dmabuf", "cuda_data_direct", NULL
const char *const mem_names[] = { "", MEM_NAMES };
const char *const server_mem_names[] = { "auto", MEM_NAMES };
const char *const hugepage_names[] = { "off", "on", "64K", "2M", "32M", "512M", "1G", "16G", NULL };
const char *const direction_names[] = { "UNIDIR", "BIDIR", NULL };
/* Patterns, then what else may be written for them: enum pattern_word. */
const char *const pattern_words[] = {
	"none", "one_to_one", "one_to_many", "many_to_one", "all_to_all", "bisection", "ring",      "o2o",       "o2m",
	"m2o",  "a2a",        "b",           "r",           "incast",     "all2all",   "all_2_all", "allreduce", NULL,
};
const char *const partition_words[] = { "none", "railed", "local", "remote", "all", NULL };
const char *const ucc_type_names[] = {
	"int8",   "uint8",   "int16",    "uint16",           "float16", "bfloat16",        "int32",
	"uint32", "float32", "int64",    "uint64",           "float64", "float32_complex", "float64_complex",
	"int128", "uint128", "float128", "float128_complex", NULL,
};
const char *const detail_names[] = { "summary", "connections", "processes", NULL };
const char *const ph_names[] = { "off", "0", "1", "2", "3", NULL };
const char *const tph_mem_names[] = { "none", "vm", "pm", NULL };
const char *const mtu_names[] = { "256", "512", "1024", "2048", "4096", NULL };

const char *driver_kind_name(uint32_t driver)
{
	return driver < DRIVERS ? driver_names[driver] : "?";
}

const char *transport_name(uint32_t transport)
{
	return transport < TRANSPORTS ? transport_names[transport] : "?";
}

const char *verb_name(uint32_t verb)
{
	return verb <= VERB_ATOMIC_CS ? verb_names[verb] : "?";
}

const char *mem_name(uint32_t mem)
{
	return mem <= MEM_CUDA_DATA_DIRECT ? server_mem_names[mem] : "?";
}

const char *burst_name(uint32_t profile)
{
	return profile <= BURST_SYNC ? burst_names[profile] : "?";
}
