/* Chooses the entry of an RDMA port's GID table: RoCE v2 before v1, IPv4 before global IPv6 before link-local. */
#include "driver/ibv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ib_gid_type_name(uint32_t type)
{
	static const char *const name[] = {
		[IBV_GID_TYPE_IB] = "InfiniBand",
		[IBV_GID_TYPE_ROCE_V1] = "RoCE v1",
		[IBV_GID_TYPE_ROCE_V2] = "RoCE v2",
	};

	return type <= IBV_GID_TYPE_ROCE_V2 ? name[type] : "unknown type";
}

static bool is_zero(const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return memcmp(gid, zero, 16) == 0;
}

bool ib_gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

static bool is_link_local(const uint8_t gid[16])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

char *ib_gid_format(const uint8_t gid[16], char *text)
{
	if (ib_gid_is_ipv4(gid))
		inet_ntop(AF_INET, gid + 12, text, IB_GID_TEXT);
	else
		inet_ntop(AF_INET6, gid, text, IB_GID_TEXT);
	return text;
}

/* Higher is better, 0 is unusable. The control connection's own address only decides among entries of the same kind. */
static unsigned score(const struct ibv_gid_entry *e, const uint8_t *local)
{
	const uint8_t *gid = e->gid.raw;
	unsigned scope = ib_gid_is_ipv4(gid) ? 3 : is_link_local(gid) ? 1 : 2;
	unsigned version = e->gid_type == IBV_GID_TYPE_ROCE_V2 ? 2 : 1;

	if (is_zero(gid) || (e->gid_type != IBV_GID_TYPE_ROCE_V2 && e->gid_type != IBV_GID_TYPE_ROCE_V1))
		return 0;
	return version * 8 + scope * 2 + (local && memcmp(gid, local, 16) == 0);
}

/* "1 (10.1.0.1, RoCE v2), ..." of the usable entries, as many as fit. */
static void list(const struct ibv_gid_entry *table, unsigned count, char *text, size_t size)
{
	char gid[IB_GID_TEXT];
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count && len + 80 < size; i++) {
		if (is_zero(table[i].gid.raw))
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%u (%s, %s)", len ? ", " : "", table[i].gid_index,
					ib_gid_format(table[i].gid.raw, gid), ib_gid_type_name(table[i].gid_type));
	}
	if (!len)
		snprintf(text, size, "none");
}

static int choose_asked(const struct ibv_gid_entry *table, unsigned count, uint64_t asked, const char *device,
			unsigned *ret, struct error *err)
{
	char text[400];

	for (unsigned i = 0; i < count; i++) {
		if (table[i].gid_index == asked && !is_zero(table[i].gid.raw)) {
			*ret = i;
			return 0;
		}
	}
	list(table, count, text, sizeof(text));
	return error_set(err, -EINVAL, "--gid_index %llu of %s is empty; it has: %s", (unsigned long long)asked, device,
			 text);
}

int ib_gid_choose(const struct ibv_gid_entry *table, unsigned count, bool ethernet, uint64_t asked,
		  const uint8_t local[16], const char *device, unsigned *ret, struct error *err)
{
	unsigned best = 0, best_score = 0;

	if (asked != SPEC_AUTO)
		return choose_asked(table, count, asked, device, ret, err);
	if (!ethernet)
		return choose_asked(table, count, 0, device, ret, err);
	for (unsigned i = 0; i < count; i++) {
		unsigned s = score(&table[i], local);

		if (s > best_score) {
			best_score = s;
			best = i;
		}
	}
	if (!best_score)
		return error_set(err, -EADDRNOTAVAIL,
				 "%s has no RoCE GID: give its network interface an IP address and set it up", device);
	*ret = best;
	return 0;
}

bool ib_gid_of_sockaddr(const struct sockaddr_storage *local, uint8_t ret[16])
{
	if (local && local->ss_family == AF_INET) {
		memset(ret, 0, 10);
		memset(ret + 10, 0xff, 2);
		memcpy(ret + 12, &((const struct sockaddr_in *)local)->sin_addr, 4);
		return true;
	}
	if (local && local->ss_family == AF_INET6) {
		memcpy(ret, &((const struct sockaddr_in6 *)local)->sin6_addr, 16);
		return true;
	}
	return false;
}

int ib_gid_setup(struct ib_port *p, struct error *err)
{
	size_t room = (size_t)(p->attr.gid_tbl_len > 0 ? p->attr.gid_tbl_len : 1) * p->dev.phys_port_cnt;
	struct ibv_gid_entry *table = calloc(room, sizeof(*table));
	bool ethernet = p->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	unsigned count = 0, chosen;
	uint8_t local[16];
	ssize_t n;
	int rc;

	if (!table)
		return error_set(err, -ENOMEM, "no memory for the GID table of %s", p->name);
	n = ibv_query_gid_table(p->context, table, room, 0);
	if (n < 0) {
		free(table);
		return ib_fail(err, (int)n, "ibv_query_gid_table", "cannot read the GID table of %s", p->name);
	}
	for (ssize_t i = 0; i < n; i++)
		if (table[i].port_num == p->num)
			table[count++] = table[i];
	rc = ib_gid_choose(table, count, ethernet, p->spec->gid_index,
			   ib_gid_of_sockaddr(p->conf.local, local) ? local : NULL, p->name, &chosen, err);
	if (!rc)
		p->gid = table[chosen];
	free(table);
	p->grh = ethernet || p->spec->gid_index != SPEC_AUTO || !p->attr.lid;
	return rc;
}
