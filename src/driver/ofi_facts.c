/* Reports what a libfabric connection really uses: provider, endpoint, who makes progress, what a completion means. */
#include "driver/ofi.h"

#include "mem/mem.h"
#include "spec/result.h"

#include <stdio.h>
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

/* The words of one operation's region in all slots. */
static uint64_t sum_words(const struct ofi_ep *ep, uint32_t offset)
{
	const struct ep_conf *conf = &ep->conf;
	uint64_t sum = 0, word;

	for (uint32_t slot = 0; ep->connected && slot < conf->rx_slots; slot++) {
		memcpy(&word, conf->mem->data + conf->rx_offset + (size_t)slot * conf->stride + offset, sizeof(word));
		sum += word;
	}
	return sum;
}

/* What the peer's atomics have added up to here: each operation has its region, one behind the other. */
static void counter_fact(const struct ofi_port *p, struct facts *ret)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(p->spec, op);
	uint32_t offset = 0;
	uint64_t sum = 0;

	if (!(spec_verbs(p->spec) & VERB_BIT(VERB_ATOMIC_FA)) || p->conf.active || p->conf.workers > 1)
		return; /* of this worker only */
	for (unsigned i = 0; i < ops; i++) {
		for (uint64_t qp = 0; op[i].verb == VERB_ATOMIC_FA && qp < p->spec->qps; qp++)
			sum += sum_words(&p->eps[qp], offset);
		offset += ((uint32_t)op[i].size + OFI_ALIGN - 1) / OFI_ALIGN * OFI_ALIGN;
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
	if (p->eps[0].injects)
		facts_add(ret, "injected", "Sends", "injected (fi_inject): no completions, the answers tell");
	if (p->spec->verb == VERB_WRITE && ofi_with_data(p->spec, VERB_WRITE))
		facts_add(ret, "arrival", "Arrival seen by", "completion (the write carries data)");
	if (ofi_goes_alone(p))
		facts_add(ret, "underWay", "Under way per QP", "one at a time: ofi_rxd fails with atomics otherwise");
	mr_fact(p, ret);
	facts_add_number(ret, "txQueue", "Provider's send queue", (long long)info->tx_attr->size);
	facts_add_number(ret, "rxQueue", "Provider's receive queue", (long long)info->rx_attr->size);
	counter_fact(p, ret);
}

/* Providers name their domains after what they use: an interface, or an RDMA device. */
void ofi_port_nic(const struct port *port, struct nic *ret)
{
	const struct fi_info *info = ((const struct ofi_port *)port)->info;
	const bool ip = info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6;
	const bool verbs = strstr(info->fabric_attr->prov_name, "verbs") != NULL;

	*ret = (struct nic){ .port = 1, .sockets = ip && !verbs };
	snprintf(ret->device, sizeof(ret->device), "%s", info->domain_attr->name);
	snprintf(ret->interface, sizeof(ret->interface), "%s", info->domain_attr->name);
}
