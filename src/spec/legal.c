/* What goes together: verbs by transport, transports by driver; and what kind of verb or transport one is. */
#include "spec/legal.h"

#define BIT(n) (1u << (n))
#define ALL_VERBS                                                                                                      \
	(BIT(VERB_WRITE) | BIT(VERB_WRITE_IMM) | BIT(VERB_READ) | BIT(VERB_SEND) | BIT(VERB_ATOMIC_FA) |               \
	 BIT(VERB_ATOMIC_CS))

static const uint32_t verbs_of[] = {
	[TRANSPORT_AUTO] = 0,
	[TRANSPORT_RC] = ALL_VERBS,
	[TRANSPORT_UC] = BIT(VERB_WRITE) | BIT(VERB_WRITE_IMM) | BIT(VERB_SEND),
	[TRANSPORT_UD] = BIT(VERB_SEND),
	[TRANSPORT_TCP] = BIT(VERB_SEND),
	[TRANSPORT_UDP] = BIT(VERB_SEND),
	[TRANSPORT_RDM] = ALL_VERBS,
	[TRANSPORT_MSG] = ALL_VERBS,
	[TRANSPORT_DGRAM] = BIT(VERB_SEND),
	[TRANSPORT_XRC] = ALL_VERBS,
	[TRANSPORT_DC] = ALL_VERBS,
};

static const uint32_t transports_of[] = {
	[DRIVER_AUTO] = 0,
	[DRIVER_IBV] =
		BIT(TRANSPORT_RC) | BIT(TRANSPORT_UC) | BIT(TRANSPORT_UD) | BIT(TRANSPORT_XRC) | BIT(TRANSPORT_DC),
	[DRIVER_SOCK] = BIT(TRANSPORT_TCP) | BIT(TRANSPORT_UDP),
	[DRIVER_NULL] = BIT(TRANSPORT_RC) | BIT(TRANSPORT_UC) | BIT(TRANSPORT_UD),
	[DRIVER_DV] = BIT(TRANSPORT_RC) | BIT(TRANSPORT_UC),
	[DRIVER_OFI] = BIT(TRANSPORT_RDM) | BIT(TRANSPORT_MSG) | BIT(TRANSPORT_DGRAM),
};

/* Both metrics are measured for every verb: see docs/measures.md for what latency means for each. */
uint32_t transport_verbs(enum transport transport)
{
	return transport < TRANSPORTS ? verbs_of[transport] : 0;
}

uint32_t driver_transports(enum driver_kind driver)
{
	return driver < DRIVERS ? transports_of[driver] : 0;
}

bool transport_is_socket(enum transport transport)
{
	return transport == TRANSPORT_TCP || transport == TRANSPORT_UDP;
}

bool transport_is_reliable(enum transport transport)
{
	return transport == TRANSPORT_RC || transport == TRANSPORT_TCP || transport == TRANSPORT_RDM ||
	       transport == TRANSPORT_MSG || transport == TRANSPORT_XRC || transport == TRANSPORT_DC;
}

bool verb_is_two_sided(enum verb verb)
{
	return verb == VERB_WRITE_IMM || verb == VERB_SEND;
}

bool verb_is_atomic(enum verb verb)
{
	return verb == VERB_ATOMIC_FA || verb == VERB_ATOMIC_CS;
}
