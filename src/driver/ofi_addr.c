/* The address that one end of a libfabric connection sends to the other, and the check whether the two can talk. */
#include "driver/ofi.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

#define ADDR_VERSION 2

void ofi_addr_pack(const struct ofi_addr *addr, struct buf *to)
{
	buf_put_u8(to, ADDR_VERSION);
	buf_put_u8(to, addr->type);
	buf_put_string(to, addr->provider);
	buf_put_u32(to, addr->index);
	buf_put_u64(to, addr->offset);
	buf_put_u32(to, addr->slots);
	buf_put_u64(to, addr->key);
	buf_put_u64(to, addr->base);
	buf_put_u64(to, addr->token);
	buf_put_block(to, addr->name, addr->name_len);
}

int ofi_addr_unpack(struct ofi_addr *ret, struct cursor *from, struct error *err)
{
	struct ofi_addr a = { 0 };
	struct cursor name;
	uint8_t version = cursor_u8(from);

	if (!from->failed && version != ADDR_VERSION)
		return error_set(err, -EPROTO,
				 "the peer's libfabric address has version %u, this program knows version %u", version,
				 ADDR_VERSION);
	a.type = cursor_u8(from);
	cursor_string(from, a.provider, sizeof(a.provider));
	a.index = cursor_u32(from);
	a.offset = cursor_u64(from);
	a.slots = cursor_u32(from);
	a.key = cursor_u64(from);
	a.base = cursor_u64(from);
	a.token = cursor_u64(from);
	cursor_block(from, &name);
	a.name_len = (uint32_t)name.left;
	if (from->failed || !name.left || name.left > sizeof(a.name))
		return error_set(err, -EPROTO, "the peer's libfabric address is malformed");
	cursor_get(&name, a.name, name.left);
	*ret = a;
	return 0;
}

int ofi_addr_check(const struct ofi_addr *own, const struct ofi_addr *peer, struct error *err)
{
	if (strcmp(own->provider, peer->provider) != 0)
		return error_set(err, -EINVAL,
				 "libfabric's provider here is %s, the peer's is %.63s: choose one for both with -d",
				 own->provider, peer->provider);
	if (own->type != peer->type)
		return error_set(err, -EPROTO,
				 "the peer's endpoint has another type: both sides must be the same fabperf");
	return 0;
}
