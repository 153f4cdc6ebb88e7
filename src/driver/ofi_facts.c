/* Reports what a libfabric connection really uses: provider, endpoint, who makes progress, what a completion means. */
#include "driver/ofi.h"

#include "mem/mem.h"
#include "spec/result.h"

#include <string.h>

static void address_fact(const struct ofi_ep *ep, const struct ofi_addr *addr, const char *key, const char *label,
			 struct facts *ret)
{
	char text[200] = "";
	size_t len = sizeof(text);

	if (!ep->av) /* MSG endpoints have no address vector to put it in words */
		return;
	fi_av_straddr(ep->av, addr->name, text, &len);
	text[sizeof(text) - 1] = 0;
	facts_add(ret, key, label, "%s", text);
}

static const char *completion_of(const struct ofi_port *p)
{
	if (!(spec_verbs(p->spec) & ~(VERB_BIT(VERB_READ) | ATOMIC_VERBS)))
		return "the answer is here";
	return p->delivered ? "arrived at the peer (FI_DELIVERY_COMPLETE)" : "handed on (FI_TRANSMIT_COMPLETE or less)";
}

static void mr_fact(const struct ofi_port *p, struct facts *ret)
{
	static const struct {
		int bit;
		const char *name;
	} modes[] = { { FI_MR_LOCAL, "local" },
		      { FI_MR_VIRT_ADDR, "virt_addr" },
		      { FI_MR_ALLOCATED, "allocated" },
		      { FI_MR_PROV_KEY, "prov_key" },
		      { FI_MR_ENDPOINT, "endpoint" } };
	char text[80] = "";

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!(p->info->domain_attr->mr_mode & modes[i].bit))
			continue;
		strcat(text, *text ? " " : "");
		strcat(text, modes[i].name);
	}
	facts_add(ret, "memoryRegistration", "Memory registration", "%s", *text ? text : "scalable (offset, own keys)");
}

/* What the peer's atomics have added up to here. */
static void counter_fact(const struct ofi_port *p, struct facts *ret)
{
	uint64_t sum = 0;

	if (p->spec->verb != VERB_ATOMIC_FA || p->conf.active || p->conf.workers > 1) /* of this worker only */
		return;
	for (uint64_t i = 0; i < p->spec->qps; i++) {
		const struct ep_conf *conf = &p->eps[i].conf;

		for (uint32_t slot = 0; p->eps[i].connected && slot < conf->rx_slots; slot++) {
			uint64_t word;

			memcpy(&word, conf->mem->data + conf->rx_offset + (size_t)slot * conf->stride, sizeof(word));
			sum += word;
		}
	}
	facts_add(ret, "counterSum", "Sum of the counters", "%llu", (unsigned long long)sum);
}

void ofi_port_facts(const struct port *port, struct facts *ret)
{
	const struct ofi_port *p = (const struct ofi_port *)port;
	const struct fi_info *info = p->info;

	facts_add(ret, "device", "Provider", "%s", info->fabric_attr->prov_name);
	facts_add(ret, "libfabric", "libfabric", "%u.%u", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
	facts_add(ret, "domain", "Domain", "%s", info->domain_attr->name);
	facts_add(ret, "transport", "Endpoint", "%s", transport_name(p->spec->transport));
	if (p->eps[0].connected) {
		address_fact(&p->eps[0], &p->eps[0].own, "localAddress", "Local address", ret);
		address_fact(&p->eps[0], &p->eps[0].peer, "peerAddress", "Peer's address", ret);
	}
	facts_add(ret, "progress", "Progress", "%s",
		  info->domain_attr->data_progress == FI_PROGRESS_AUTO ? "the provider's, it says; both sides poll"
								       : "by calls only: both sides poll");
	facts_add(ret, "completion", "A completion means", "%s", completion_of(p));
	if (p->spec->verb == VERB_WRITE && ofi_with_data(p->spec, VERB_WRITE))
		facts_add(ret, "arrival", "Arrival seen by", "completion (the write carries data)");
	mr_fact(p, ret);
	facts_add_number(ret, "txQueue", "Provider's send queue", (long long)info->tx_attr->size);
	facts_add_number(ret, "rxQueue", "Provider's receive queue", (long long)info->rx_attr->size);
	counter_fact(p, ret);
}
