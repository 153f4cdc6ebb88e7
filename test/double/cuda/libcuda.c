/*
 * Stands in for CUDA's driver library: GPUs whose memory is the host's behind addresses that the CPU cannot touch. FABPERF_CUDA has words
 * joined by commas: gpus=N, bus=ADDRESS+ADDRESS..., memory=BYTES, version=N, no_dmabuf, integrated, fail=CALL:CODE[:N] (the
 * N-th call, 0: each). What is still alive at the end is told on stderr.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The prototypes are those of NVIDIA's header, which nothing here needs. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT     __attribute__((visibility("default")))
#define GPUS       16
#define FAULTS     16
#define AREAS      4096
#define PAGE       4096u
#define OFFSET     512u /* what is allocated begins in the middle of a page */
#define INVALID    1
#define NO_MEMORY  2
#define NOT_INIT   3
#define NO_GPU     100
#define BAD_GPU    101
#define BAD_CTX    201
#define NO_SUPPORT 801

static struct {
	int gpus, version;
	char bus[GPUS][16];
	size_t memory;
	bool no_dmabuf, integrated;
	struct {
		char call[40];
		int code;
		unsigned nth;
	} fault[FAULTS];
	unsigned faults;
} config = { .gpus = 1, .version = 12080, .memory = 1u << 30 };

static struct area {
	uint64_t at; /* what cuMemAlloc gave */
	uint8_t *guard; /* mapped there without any access */
	size_t size, mapped;
	int fd;
} areas[AREAS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned retained[GPUS];
static size_t used;
static bool started;
static _Thread_local void *current;

static void set_buses(char *value)
{
	char *save = NULL;
	unsigned n = 0;

	for (char *one = strtok_r(value, "+", &save); one && n < GPUS; one = strtok_r(NULL, "+", &save))
		snprintf(config.bus[n++], sizeof(config.bus[0]), "%s", one);
	config.gpus = (int)n;
}

static bool add_fault(const char *value)
{
	if (config.faults == FAULTS)
		return false;
	config.fault[config.faults].nth = 1;
	return sscanf(value, "%39[^:]:%d:%u", config.fault[config.faults].call, &config.fault[config.faults].code,
		      &config.fault[config.faults].nth) >= 2 &&
	       ++config.faults;
}

static void set(char *word)
{
	char *value = strchr(word, '=');

	value = value ? value + 1 : word + strlen(word);
	if (strncmp(word, "gpus=", 5) == 0) {
		config.gpus = atoi(value);
	} else if (strncmp(word, "version=", 8) == 0) {
		config.version = atoi(value);
	} else if (strncmp(word, "memory=", 7) == 0) {
		config.memory = strtoul(value, NULL, 10);
	} else if (strcmp(word, "no_dmabuf") == 0) {
		config.no_dmabuf = true;
	} else if (strcmp(word, "integrated") == 0) {
		config.integrated = true;
	} else if (strncmp(word, "bus=", 4) == 0) {
		set_buses(value);
	} else if (strncmp(word, "fail=", 5) == 0 && add_fault(value)) {
		return;
	} else {
		dprintf(STDERR_FILENO, "FABPERF_CUDA: '%s' is wrong\n", word);
		_exit(125);
	}
}

static __attribute__((constructor)) void read_config(void)
{
	char *text = strdup(getenv("FABPERF_CUDA") ? getenv("FABPERF_CUDA") : ""), *save = NULL;

	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save))
		set(word);
	free(text);
}

static __attribute__((destructor)) void tell_leaks(void)
{
	unsigned alive = 0;

	for (unsigned i = 0; i < AREAS; i++)
		alive += areas[i].at != 0;
	for (unsigned i = 0; i < GPUS; i++)
		alive += retained[i];
	if (alive)
		dprintf(STDERR_FILENO, "libcuda: %u objects are still alive\n", alive);
}

/* The code with which this call of that name must fail; 0. */
static int fails(const char *call)
{
	static struct {
		char call[40];
		unsigned count;
	} calls[32];
	unsigned i = 0;
	int code = 0;

	pthread_mutex_lock(&lock);
	while (i < 31 && calls[i].call[0] && strcmp(calls[i].call, call) != 0)
		i++;
	snprintf(calls[i].call, sizeof(calls[i].call), "%s", call);
	calls[i].count++;
	for (unsigned f = 0; f < config.faults; f++)
		if (strcmp(config.fault[f].call, call) == 0 &&
		    (!config.fault[f].nth || config.fault[f].nth == calls[i].count))
			code = config.fault[f].code;
	pthread_mutex_unlock(&lock);
	return code;
}

/* As fails; also what is done before cuInit, or without a context, is refused. */
static int begin(const char *call, bool context)
{
	int code = fails(call);

	if (!code && !started)
		code = NOT_INIT;
	if (!code && context && !current)
		code = BAD_CTX;
	return code;
}

EXPORT int cuInit(unsigned flags)
{
	int code = flags ? INVALID : fails("cuInit");

	if (!code && !config.gpus)
		code = NO_GPU;
	started = !code;
	return code;
}

EXPORT int cuGetErrorName(int code, const char **ret)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{ 1, "CUDA_ERROR_INVALID_VALUE" },     { 2, "CUDA_ERROR_OUT_OF_MEMORY" },
		{ 3, "CUDA_ERROR_NOT_INITIALIZED" },   { 46, "CUDA_ERROR_DEVICE_UNAVAILABLE" },
		{ 100, "CUDA_ERROR_NO_DEVICE" },       { 101, "CUDA_ERROR_INVALID_DEVICE" },
		{ 201, "CUDA_ERROR_INVALID_CONTEXT" }, { 800, "CUDA_ERROR_NOT_PERMITTED" },
		{ 801, "CUDA_ERROR_NOT_SUPPORTED" },   { 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" },
		{ 999, "CUDA_ERROR_UNKNOWN" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == code) {
			*ret = names[i].name;
			return 0;
		}
	}
	*ret = NULL;
	return INVALID;
}

EXPORT int cuDriverGetVersion(int *ret)
{
	*ret = config.version;
	return fails("cuDriverGetVersion");
}

EXPORT int cuDeviceGetCount(int *ret)
{
	*ret = config.gpus;
	return begin("cuDeviceGetCount", false);
}

EXPORT int cuDeviceGet(int *ret, int number)
{
	int code = begin("cuDeviceGet", false);

	*ret = 40 + number; /* a device is no number */
	return code ? code : number < 0 || number >= config.gpus ? BAD_GPU : 0;
}

EXPORT int cuDeviceGetName(char *ret, int size, int device)
{
	snprintf(ret, (size_t)size, "stand-in GPU %c", 'A' + device - 40);
	return begin("cuDeviceGetName", false);
}

EXPORT int cuDeviceGetAttribute(int *ret, int attribute, int device)
{
	unsigned domain = 0, bus = 1, slot = 0;
	int code = begin("cuDeviceGetAttribute", false);

	if (code || device < 40 || device >= 40 + config.gpus)
		return code ? code : BAD_GPU;
	bus += (unsigned)device - 40;
	if (config.bus[device - 40][0] && sscanf(config.bus[device - 40], "%x:%x:%x", &domain, &bus, &slot) != 3)
		return INVALID;
	switch (attribute) {
	case 18:
		*ret = config.integrated;
		return 0;
	case 33:
		*ret = (int)bus;
		return 0;
	case 34:
		*ret = (int)slot;
		return 0;
	case 50:
		*ret = (int)domain;
		return 0;
	case 124:
		*ret = !config.no_dmabuf;
		return 0;
	default:
		return INVALID;
	}
}

EXPORT int cuDevicePrimaryCtxRetain(void **ret, int device)
{
	int code = begin("cuDevicePrimaryCtxRetain", false);

	if (code)
		return code;
	*ret = &retained[device - 40];
	retained[device - 40]++;
	return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	int code = begin("cuDevicePrimaryCtxRelease", false);

	if (retained[device - 40] == 0)
		return BAD_CTX;
	retained[device - 40]--; /* also when it must fail: the process is to end without a word of the rest */
	return code;
}

EXPORT int cuCtxSetCurrent(void *context)
{
	int code = begin("cuCtxSetCurrent", false);

	if (!code)
		current = context;
	return code;
}

EXPORT int cuCtxSynchronize(void)
{
	return begin("cuCtxSynchronize", true);
}

static int map_area(struct area *area, size_t size)
{
	area->size = size;
	area->mapped = (size + OFFSET + PAGE - 1) / PAGE * PAGE;
	area->fd = memfd_create("fabperf-cuda", MFD_CLOEXEC);
	if (area->fd < 0 || ftruncate(area->fd, (off_t)area->mapped))
		return NO_MEMORY;
	area->guard = mmap(NULL, area->mapped, PROT_NONE, MAP_SHARED, area->fd, 0);
	if (area->guard == MAP_FAILED)
		return NO_MEMORY;
	area->at = (uintptr_t)area->guard + OFFSET;
	return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t *ret, size_t size)
{
	int code = begin("cuMemAlloc", true);
	unsigned i = 0;

	if (!code && (!size || used + size > config.memory))
		code = NO_MEMORY;
	if (code)
		return code;
	pthread_mutex_lock(&lock);
	while (i < AREAS && areas[i].at)
		i++;
	code = i < AREAS ? map_area(&areas[i], size) : NO_MEMORY;
	used += size;
	pthread_mutex_unlock(&lock);
	if (!code)
		*ret = areas[i].at;
	return code;
}

static struct area *find(uint64_t at, size_t size)
{
	for (unsigned i = 0; i < AREAS; i++)
		if (areas[i].at && at >= areas[i].at && at + size <= areas[i].at + areas[i].size)
			return &areas[i];
	return NULL;
}

EXPORT int cuMemFree_v2(uint64_t at)
{
	int code = begin("cuMemFree", true);
	struct area *area = find(at, 0);

	if (!area || area->at != at)
		return INVALID;
	munmap(area->guard, area->mapped);
	close(area->fd);
	used -= area->size;
	area->at = 0;
	return code;
}

/* What a GPU sees at an address, for the stand-in GPUNetIO plug-in; the mapping stays. */
EXPORT uint8_t *double_cuda_view(uint64_t at)
{
	const struct area *area = find(at, 1);
	uint8_t *there = area ? mmap(NULL, area->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, area->fd, 0) : MAP_FAILED;

	return there == MAP_FAILED ? NULL : there + (at - (uintptr_t)area->guard);
}

EXPORT int cuMemsetD8_v2(uint64_t at, unsigned char byte, size_t size)
{
	int code = begin("cuMemsetD8", true);
	const struct area *area = find(at, size);
	uint8_t *there;

	if (code || !area)
		return code ? code : INVALID;
	there = mmap(NULL, area->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, area->fd, 0);
	if (there == MAP_FAILED)
		return NO_MEMORY;
	memset(there + (at - (uintptr_t)area->guard), byte, size);
	munmap(there, area->mapped);
	return 0;
}

/* A descriptor of its own, whose position is where the range begins; O_APPEND marks a mapping over PCIe. */
EXPORT int cuMemGetHandleForAddressRange(void *ret, uint64_t at, size_t size, int type, unsigned long long flags)
{
	int code = begin("cuMemGetHandleForAddressRange", true), fd;
	const struct area *area = find(at, size);
	char path[40];

	if (code)
		return code;
	if (config.no_dmabuf)
		return NO_SUPPORT;
	if (!area || type != 1 || flags > 1 || at % PAGE || size % PAGE)
		return INVALID;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", area->fd);
	fd = open(path, O_RDWR | O_CLOEXEC | (flags ? O_APPEND : 0));
	if (fd < 0 || lseek(fd, (off_t)(at - (uintptr_t)area->guard), SEEK_SET) < 0)
		return INVALID;
	*(int *)ret = fd;
	return 0;
}
