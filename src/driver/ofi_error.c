/* Turns what a libfabric provider reports into a sentence that says what is likely wrong. */
#include "driver/ofi.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>

static const char *likely_cause(int code)
{
	switch (code) {
	case FI_ENOMEM:
		return " (no memory, or the locked-memory limit: see 'ulimit -l'; shm needs room in /dev/shm)";
	case FI_EACCES:
	case FI_EPERM:
		return " (both sides must run as the same user; shm reads the other process's memory: see "
		       "kernel.yama.ptrace_scope)";
	case FI_ENOSYS:
		return " (is libfabric.so.1 installed? Debian's package is libfabric1)";
	case FI_ENODEV:
	case FI_ENODATA:
		return " (the provider has nothing here that fits)";
	case FI_ECONNREFUSED:
		return " (nobody listens there: the peer has ended, or a firewall rejects the port)";
	case FI_ECONNRESET:
	case FI_ENOTCONN:
	case FI_ECONNABORTED:
	case FI_ESHUTDOWN:
	case EPIPE:
	case FI_EHOSTUNREACH:
	case FI_ETIMEDOUT:
		return " (the peer is gone or cannot be reached)";
	case FI_ETRUNC:
		return " (a message was longer than the receive posted for it)";
	case FI_EOVERRUN:
		return " (a queue is too small: lower --tx_depth or --qps)";
	case FI_EMFILE:
		return " (too many open files: raise the limit with 'ulimit -n' or ask for fewer --qps)";
	default:
		return "";
	}
}

int ofi_error(const struct ofi_port *p, const char *call, int code, struct error *err)
{
	const char *provider = p->info ? p->info->fabric_attr->prov_name : p->spec->device;
	const int positive = code < 0 ? -code : code;

	return error_set(err, positive ? -positive : -EIO, "%s of libfabric's provider %.80s failed: %s%s", call,
			 provider, fi_strerror(positive), likely_cause(positive));
}

int ofi_cq_error(struct ofi_port *p)
{
	struct fi_cq_err_entry entry = { 0 };
	char provider[120] = "";
	const char *what;
	ssize_t rc = fi_cq_readerr(p->cq, &entry, 0);

	if (rc < 0)
		return ofi_error(p, "fi_cq_readerr", (int)rc, &p->port.err);
	what = entry.flags & FI_RECV ? "receive" : verb_name(p->spec->verb);
	if (entry.prov_errno)
		snprintf(provider, sizeof(provider), ", %.100s",
			 fi_cq_strerror(p->cq, entry.prov_errno, entry.err_data, NULL, 0));
	return error_set(&p->port.err, -EIO, "%s %s over libfabric's provider %s failed: %s%s%s",
			 transport_name(p->spec->transport), what, p->info->fabric_attr->prov_name,
			 fi_strerror(entry.err), provider, likely_cause(entry.err));
}
