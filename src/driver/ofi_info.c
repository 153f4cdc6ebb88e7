/* Asks libfabric for the provider, fabric and domain that fit a test, and says which there are when none does. */
#include "driver/ofi.h"

#include "base/net.h"
#include "driver/sock.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API      FI_VERSION(1, 17)
#define MR_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

void ofi_device_split(const char *device, char *ret_provider, char *ret_domain)
{
	const char *colon = strchr(device, ':');
	size_t len = colon ? (size_t)(colon - device) : strlen(device);

	snprintf(ret_provider, SPEC_NAME, "%.*s", (int)len, device);
	snprintf(ret_domain, SPEC_NAME, "%s", colon ? colon + 1 : "");
}

static enum fi_ep_type type_of(uint32_t transport)
{
	switch (transport) {
	case TRANSPORT_MSG:
		return FI_EP_MSG;
	case TRANSPORT_DGRAM:
		return FI_EP_DGRAM;
	default:
		return FI_EP_RDM;
	}
}

static uint64_t capabilities(const struct spec *spec)
{
	const uint32_t verbs = spec_verbs(spec);
	uint64_t caps = FI_MSG; /* for sends, for ofi_hello(), and where a write with data takes a receive */

	if (verbs & ATOMIC_VERBS)
		caps |= FI_ATOMIC;
	if (verbs & ~(VERB_BIT(VERB_SEND) | ATOMIC_VERBS))
		caps |= FI_RMA;
	return caps;
}

/* Names in a device: hints own their texts. */
static int set_names(struct fi_info *hints, const char *device)
{
	char provider[SPEC_NAME], domain[SPEC_NAME];

	ofi_device_split(device, provider, domain);
	if (*provider && !(hints->fabric_attr->prov_name = strdup(provider)))
		return -ENOMEM;
	if (*domain && !(hints->domain_attr->name = strdup(domain)))
		return -ENOMEM;
	return 0;
}

#define ASKS_BACK (VERB_BIT(VERB_READ) | ATOMIC_VERBS) /* such a completion comes with the answer */

/* It is told of every message. */
static bool receiver_counts(const struct spec *spec)
{
	const uint32_t told = TWO_SIDED_VERBS | (ofi_with_data(spec, VERB_WRITE) ? VERB_BIT(VERB_WRITE) : 0);

	return !(spec_verbs(spec) & ~told);
}

static void set_wishes(struct fi_info *hints, const struct spec *spec)
{
	hints->caps = capabilities(spec);
	if (ofi_carries_data(spec))
		hints->domain_attr->cq_data_size = sizeof(uint32_t);
	hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	hints->ep_attr->type = type_of(spec->transport);
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode = spec->transport == TRANSPORT_MSG ? MR_MODES & ~FI_MR_ENDPOINT : MR_MODES;
	/* The sender counts only where the receiver cannot: there a completion has to mean that the message has arrived. */
	if (!receiver_counts(spec) && spec_verbs(spec) & ~ASKS_BACK)
		hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
}

static int set_source(struct fi_info *hints, const struct sockaddr_storage *source)
{
	const size_t len = net_len(source);

	hints->addr_format = source->ss_family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	hints->src_addr = malloc(len);
	if (!hints->src_addr)
		return -ENOMEM;
	memcpy(hints->src_addr, source, len);
	hints->src_addrlen = len;
	return 0;
}

/* What fi_getinfo says; source may be NULL. */
static int ask(const struct spec *spec, const struct sockaddr_storage *source, struct fi_info **ret)
{
	struct fi_info *hints = fi_allocinfo();
	int rc = hints ? set_names(hints, spec->device) : -ENOMEM;

	if (!rc)
		set_wishes(hints, spec);
	if (!rc && source)
		rc = set_source(hints, source);
	if (!rc)
		rc = fi_getinfo(API, NULL, NULL, 0, hints, ret);
	if (rc == -FI_ENODATA && hints->tx_attr->op_flags) { /* arrival cannot be told: then caps say so */
		hints->tx_attr->op_flags = 0;
		rc = fi_getinfo(API, NULL, NULL, 0, hints, ret);
	}
	fi_freeinfo(hints);
	return rc;
}

static bool is_ip(const struct fi_info *info)
{
	return info->addr_format == FI_SOCKADDR || info->addr_format == FI_SOCKADDR_IN ||
	       info->addr_format == FI_SOCKADDR_IN6;
}

/* The first with an address of the family, else the first; of the named domain only. Providers do not heed the hint. */
static const struct fi_info *choose(const struct fi_info *list, const char *domain, sa_family_t family)
{
	const struct fi_info *first = NULL;

	for (const struct fi_info *i = list; i; i = i->next) {
		const struct sockaddr *address = i->src_addr;

		if (*domain && strcmp(i->domain_attr->name, domain) != 0)
			continue;
		if (is_ip(i) && address && address->sa_family == family)
			return i;
		first = first ? first : i;
	}
	return first;
}

/* Names of all providers, each once, layered ones by what they are layered over. */
static void list_providers(char *text, size_t size)
{
	struct fi_info *list = NULL;
	size_t len = 0;

	text[0] = 0;
	if (fi_getinfo(API, NULL, NULL, 0, NULL, &list))
		return;
	for (const struct fi_info *i = list; i; i = i->next) {
		char name[SPEC_NAME + 2];
		const char *seen;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(i->fabric_attr->prov_name, ";"),
			 i->fabric_attr->prov_name);
		seen = strstr(text, name);
		if (seen && (seen == text || seen[-1] == ' ') && strchr(", ", seen[strlen(name)]))
			continue;
		if (len + strlen(name) + 3 < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "", name);
	}
	fi_freeinfo(list);
}

bool ofi_has_provider(const char *name)
{
	struct fi_info *hints = fi_allocinfo(), *list = NULL;
	bool found = hints && !set_names(hints, name) && !fi_getinfo(API, NULL, NULL, 0, hints, &list);

	fi_freeinfo(list);
	if (hints)
		fi_freeinfo(hints);
	return found;
}

static int none(const struct spec *spec, struct error *err)
{
	const char *filter = getenv("FI_PROVIDER");
	const bool list = spec_has_list(spec);
	char names[OFI_PROVIDERS];

	if (ofi_shm_missing(spec->device, err))
		return -ENOSPC;
	if (ofi_has_provider(spec->device))
		return error_set(err, -ENODATA,
				 "libfabric's provider %s does not offer %s over %s endpoints on this host: choose "
				 "another -d, --%s or -c",
				 spec->device, list ? "all of these operations" : verb_name(spec->verb),
				 transport_name(spec->transport), list ? "operations" : "verb");
	list_providers(names, sizeof(names));
	return error_set(err, -ENODEV, "libfabric offers no provider %s on this host; it offers: %s%s%s%s",
			 spec->device, *names ? names : "none", filter ? " (FI_PROVIDER=" : "", filter ? filter : "",
			 filter ? ")" : "");
}

static void take(struct ofi_port *p)
{
	const struct fi_info *info = p->info;
	const bool asks_back = !(spec_verbs(p->spec) & ~ASKS_BACK);

	p->write_consumes = (info->mode | info->rx_attr->mode) & FI_RX_CQ_DATA;
	p->delivered = asks_back || (info->tx_attr->op_flags & FI_DELIVERY_COMPLETE);
}

/*
 * Providers that speak IP are bound to the address at which the control connection arrived, so that the peer can reach
 * them, unless a domain (interface) was named.
 */
int ofi_info_find(struct ofi_port *p, struct error *err)
{
	struct fi_info *list = NULL, *bound = NULL;
	char provider[SPEC_NAME], domain[SPEC_NAME];
	struct sockaddr_storage here;
	const struct fi_info *best;
	int rc = sock_find_here(p->conf.local, "", &here, err);

	if (rc)
		return rc;
	rc = ask(p->spec, NULL, &list);
	if (rc == -FI_ENODATA)
		return none(p->spec, err);
	if (rc)
		return ofi_error(p, "fi_getinfo", rc, err);
	ofi_device_split(p->spec->device, provider, domain);
	best = choose(list, domain, here.ss_family);
	if (best && is_ip(best) && !*domain && ask(p->spec, &here, &bound) == 0)
		best = bound;
	p->info = best ? fi_dupinfo(best) : NULL;
	fi_freeinfo(list);
	fi_freeinfo(bound);
	if (!best)
		return error_set(err, -ENODEV,
				 "libfabric's provider %s has no domain %s on this host: 'fi_info -p %s' lists "
				 "them",
				 provider, domain, provider);
	if (!p->info)
		return error_set(err, -ENOMEM, "no memory for libfabric's description of a provider");
	take(p);
	return 0;
}

uint64_t ofi_message_max(const struct spec *spec)
{
	struct fi_info *list = NULL;
	uint64_t most = 0;

	if (!ask(spec, NULL, &list))
		most = list->ep_attr->max_msg_size;
	fi_freeinfo(list);
	return most;
}
