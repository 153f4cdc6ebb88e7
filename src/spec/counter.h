/* Counters of NICs and of the kernel, as they stood before and after the traffic: plain data, and its wire form. */
#ifndef SPEC_COUNTER_H
#define SPEC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cursor;

#define COUNTERS_MAX   1024 /* of one rank */
#define COUNTER_NAME   48
#define COUNTER_SOURCE 88
#define NIC_NAME       64

struct port_counter {
	char source[COUNTER_SOURCE]; /* whose: "mlx5_0 port 1", "eth0", "kernel Tcp" */
	char name[COUNTER_NAME]; /* as there */
	uint64_t before, after; /* as read */
};

struct port_counters {
	uint32_t count;
	struct port_counter *counter;
};

/*
 * By how much it went up; it may have begun anew at 2^32 or 2^64. False when it went down otherwise: no counter but a
 * level, or somebody set it back.
 */
bool counter_moved(const struct port_counter *counter, uint64_t *ret);
bool counter_wrapped(const struct port_counter *counter);

void port_counters_pack(const struct port_counters *counters, struct buf *to);
int port_counters_unpack(struct port_counters *ret,
			 struct cursor *from); /* -EPROTO, -ENOMEM; bounded, texts harmless */
/* Of traffic that follows: counters that are there already end as they do now, others are taken over. */
void port_counters_join(struct port_counters *all, const struct port_counters *next);
void port_counters_release(struct port_counters *counters);

/* Where messages leave this host: names in the kernel's classes, empty where there is none or the driver does not know. */
struct nic {
	char device[NIC_NAME]; /* in /sys/class/infiniband */
	uint32_t port; /* of it, from 1 */
	char interface[NIC_NAME]; /* in /sys/class/net */
	bool sockets; /* the kernel's protocols carry them */
};

#endif
