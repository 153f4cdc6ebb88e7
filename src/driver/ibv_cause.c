/* Likely causes of a verbs call that failed, by call and errno: what to look at or to change, for the end of its sentence. */
#include "driver/ibv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define ANY NULL

/* The first row that fits: those of one call before those of any. A call ends in * where all that begin so are meant. */
static const struct cause {
	const char *call;
	int code;
	const char *text;
} causes[] = {
	{ "ibv_get_device_list", EACCES, "this user may not read /sys/class/infiniband_verbs" },
	{ "ibv_get_device_list", EPERM, "this user may not read /sys/class/infiniband_verbs" },
	{ "ibv_open_device", EACCES, "this user may not open /dev/infiniband/uverbs*: see its group and mode" },
	{ "ibv_open_device", EPERM, "this user or container may not open /dev/infiniband/uverbs*" },
	{ "ibv_open_device", ENOENT, "/dev/infiniband/uverbs* is missing: load ib_uverbs, pass it to the container" },
	{ "ibv_alloc_pd", ENOMEM, "the device has no protection domain left: other programs use them" },
	{ "ibv_create_cq*", EINVAL, "more entries than it takes: lower --tx_depth, --rx_depth or --qps" },
	{ "ibv_create_qp*", EINVAL, "beyond its limits: lower --tx_depth, --rx_depth or --inline_size" },
	{ "ibv_create_qp*", ENOSPC, "it has no queue pair left, other programs' included: lower --qps" },
	{ "mlx5dv_create_qp", EOPNOTSUPP, "its firmware, port or kernel has no DC: use -c RC" },
	{ "mlx5dv_create_qp", EINVAL, "beyond its limits: lower --tx_depth or --inline_size; or it has no DC" },
	{ "mlx5dv_create_qp", ENOSPC, "it has no queue pair left, other programs' included: lower --qps" },
	{ "ibv_create_ah", EINVAL, "no path from this GID to the peer's: see --gid_index" },
	{ "ibv_alloc_null_mr", EOPNOTSUPP, "the device has no null memory regions: use -M host" },
	{ "ibv_alloc_dm", ENOMEM, "other programs use the device's own memory, too: give a smaller --working_set" },
	{ "ibv_reg_*", EINVAL, "it does not take this memory with this access: see --verb" },
	{ "ibv_reg_*", EFAULT, "the memory is not mapped, or may only be read" },
	{ "ibv_alloc_dmah", EOPNOTSUPP, "it needs a device and a kernel with TPH (ConnectX-6 on): leave out --ph" },
	{ "ibv_alloc_dmah", EINVAL, "not this --tph_core_id, or not with this device: see --ph" },
	{ "ibv_query_ece", EOPNOTSUPP, "leave out --use_ece" },
	{ "ibv_set_ece", EINVAL, "another vendor's, or not known to its firmware: leave out --use_ece" },
	{ "ibv_modify_qp", EINVAL, "it does not take a value: see --mtu, --gid_index, --pkey_index, --max_rd_atomic" },
	{ "ibv_modify_qp_rate_limit", EINVAL,
	  "not this rate, or no bursts: give --burst_size 1, or --rate_limit_type sw" },
	{ "ibv_modify_qp_rate_limit", ENOSPC,
	  "its table of rates is full, by other programs, too: --rate_limit_type sw" },
	{ "doca_verbs_cq_create*", EINVAL, "more entries than it takes: lower --tx_depth, --rx_depth or --qps" },
	{ "doca_verbs_qp_create*", EINVAL, "beyond its limits: lower --tx_depth, --rx_depth or --inline_size" },
	{ "doca_verbs_qp_modify*", EINVAL, "it does not take a value: see --mtu, --gid_index, --pkey_index" },
	{ "doca_verbs_cc_group_attr_set_hint*", EINVAL, "the block is longer than it takes, or malformed" },
	{ "doca_verbs_bridge_post_*", EINVAL, "the queue pair is not ready, or the message is larger than it takes" },
	{ "ibv_post_*", EINVAL, "the queue pair is not ready, or the message is larger than it takes" },
	{ "ibv_post_*", ENOMEM, "its empty queue has no room: lower --tx_depth, --rx_depth or --post_batch" },
	{ "ibv_wr_complete", EINVAL, "the queue pair is not ready, or the message is larger than it takes" },
	{ "ibv_wr_complete", ENOMEM, "its empty queue has no room: lower --tx_depth or --post_batch" },
	{ "rdma_create_event_channel", ENOENT, "the kernel's rdma_ucm is not loaded: modprobe rdma_ucm" },
	{ "rdma_create_event_channel", ENODEV, "the kernel's rdma_ucm is not loaded: modprobe rdma_ucm" },
	{ "rdma_*", ENODEV, "no RDMA device has this address: see 'rdma link' and its interface's addresses" },
	{ "rdma_*", EADDRNOTAVAIL, "no interface here has this address: see --gid_index" },
	{ "rdma_*", EADDRINUSE, "another program listens there" },
	{ "rdma_*", ECONNREFUSED, "nobody listens there: has the peer ended?" },
	{ ANY, ETIMEDOUT, "likely no route from this GID to the peer's: see --gid_index" },
	{ ANY, EHOSTUNREACH, "likely no route from this GID to the peer's: see --gid_index" },
	{ ANY, ENETUNREACH, "likely no route from this GID to the peer's: see --gid_index" },
	{ ANY, EPERM, "the user, the container or the device's own settings do not permit it" },
	{ ANY, EACCES, "the user, the container or the device's own settings do not permit it" },
	{ ANY, ENOMEM, "the device or this host has no memory for it: lower --qps or the depths" },
	{ ANY, ENOSPC, "the device has none left, other programs' included" },
	{ ANY, EINVAL, "the device does not take what was asked of it" },
	{ ANY, EAGAIN, "the device has no resources for it now: other programs may use them" },
	{ ANY, EBUSY, "another object or program still uses it" },
	{ ANY, EIO, "the device was removed or reset, or failed: see the kernel's log" },
	{ ANY, ENODEV, "the device was removed or reset, or failed: see the kernel's log" },
	{ ANY, EOPNOTSUPP, "the device or its driver does not know it" },
	{ ANY, ENOSYS, "the device or its driver does not know it" },
	{ ANY, EPROTONOSUPPORT, "the device or its driver does not know it" },
	{ ANY, EINTR, "a signal came in between: try again" },
};

static bool fits(const char *pattern, const char *call)
{
	size_t len = pattern ? strlen(pattern) : 0;

	if (!len)
		return true;
	if (pattern[len - 1] == '*')
		return strncmp(pattern, call, len - 1) == 0;
	return strcmp(pattern, call) == 0;
}

/* Queues and regions are pinned memory, which counts against the limit. */
static bool pins(const char *call)
{
	static const char *const calls[] = { "ibv_reg_mr",           "ibv_create_cq*",   "ibv_create_qp*",
					     "ibv_create_srq*",      "mlx5dv_create_qp", "doca_verbs_cq_create*",
					     "doca_verbs_qp_create*" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (fits(calls[i], call))
			return true;
	return false;
}

/* A limit of this process when it is the likely cause; false when there is none. */
static bool of_limit(const char *call, int code, char *ret, size_t size)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	bool large;

	if (code == EMFILE)
		getrlimit(RLIMIT_NOFILE, &limit);
	else if (code == ENOMEM && pins(call))
		getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
		return false;
	large = limit.rlim_cur >= 1u << 20;
	if (code == EMFILE)
		snprintf(ret, size, "limit of open files %llu: raise it with 'ulimit -n'",
			 (unsigned long long)limit.rlim_cur);
	else
		snprintf(ret, size,
			 "memlock limit %llu %s: raise it with 'ulimit -l unlimited' or in /etc/security/limits.conf",
			 (unsigned long long)limit.rlim_cur >> (large ? 20 : 10), large ? "MiB" : "KiB");
	return true;
}

static const char *likely(const char *call, int code, char *room, size_t size)
{
	if (of_limit(call, code, room, size))
		return room;
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i].code == code && fits(causes[i].call, call))
			return causes[i].text;
	return "see the kernel's log";
}

int ib_fail(struct error *err, int code, const char *call, const char *format, ...)
{
	char what[sizeof(err->text)], reason[128], room[160];
	va_list args;

	code = code > 0 ? -code : code ? code : -EIO;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return error_set(err, code, "%.380s (%s): %s; %s", what, call, strerror_r(-code, reason, sizeof(reason)),
			 likely(call, -code, room, sizeof(room)));
}

void ib_kept(const struct ib_port *p, int code, const char *call, const char *what)
{
	if (code)
		ib_fail(p->conf.closing, code, call, "RDMA device %s does not take back %s", p->name, what);
}
