/* Counters of the NICs that a test uses, read before its traffic and after it, and what those that moved mean. */
#ifndef COUNTERS_COUNTERS_H
#define COUNTERS_COUNTERS_H

#include "spec/counter.h"

struct clock;

#define COUNTERS_NICS 64 /* most NICs of a rank */

/* NICs, each once. */
struct nics {
	unsigned count;
	struct nic nic[COUNTERS_NICS];
};
void nics_add(struct nics *nics, const struct nic *nic);

/*
 * Reads all counters that there are of these NICs; what cannot be read is absent. sysfs: "/sys", or a folder like it, in
 * which class/net/INTERFACE/ethtool has what 'ethtool -S' prints, and proc/ what is in /proc.
 */
void counters_before(const char *sysfs, const struct nics *nics, struct port_counters *ret);
/*
 * The same again: those that are still there. Devices of the kernel's answer from a copy for some milliseconds: waits
 * until that is younger than this call.
 */
void counters_after(const char *sysfs, const struct nics *nics, const struct clock *clock, struct port_counters *ret);

enum counter_kind {
	COUNTER_OTHER,
	COUNTER_TRAFFIC,
	COUNTER_SENDER_LOSS,
	COUNTER_RECEIVER_LOSS,
	COUNTER_PAUSE,
	COUNTER_ECN,
	COUNTER_RETRANSMISSION,
	COUNTER_TIMEOUT,
	COUNTER_NOT_READY,
	COUNTER_LINK,
	COUNTER_KINDS
};
/* What a counter is, by its name. */
struct meaning {
	enum counter_kind kind;
	const char *unit; /* of the difference */
	unsigned scale; /* units a step of it */
};
struct meaning counter_meaning(const char *name);
const char *counter_kind_name(enum counter_kind kind); /* camelCase */

/* The counters of one rank, and its name for a sentence: "client", "node3". */
struct counted {
	const char *name;
	const struct port_counters *counters;
};

/* One sentence for each kind of event that counters of any rank tell of, with those that moved most. */
void counters_tell(const struct counted *rank, unsigned ranks,
		   void (*say)(void *context, const char *id, const char *text), void *context);
/* Whether a counter tells of packets that a host or its NIC lost. */
bool counters_tell_loss(const struct port_counters *counters);

/* Private to the folder: what one source has, appended with its value as before; full or without memory: no more. */
struct reading {
	struct port_counters counters;
	uint32_t cap;
};
void reading_add(struct reading *reading, const char *source, const char *name, uint64_t value);
void read_device(const char *sysfs, const struct nic *nic, struct reading *ret); /* sysfs.c */
void read_interface(const char *sysfs, const char *interface, struct reading *ret);
void read_ethtool(const char *sysfs, const char *interface, struct reading *ret); /* ethtool.c */
void read_kernel(const char *sysfs, struct reading *ret); /* kernel.c */
uint64_t sysfs_lifespan_ms(const char *sysfs, const struct nic *nic);
/* Interfaces of a port of an RDMA device: calls back with each. */
void sysfs_interfaces(const char *sysfs, const struct nic *nic, void (*found)(void *context, const char *interface),
		      void *context);

#endif
