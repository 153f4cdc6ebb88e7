/* Checks which entry of a GID table is chosen, and that two verbs addresses that cannot talk are told apart. */
#include "driver/ibv.h"

#include "base/buf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static struct ibv_gid_entry entry(uint32_t index, uint32_t type, const char *address)
{
	struct ibv_gid_entry e = { .gid_index = index, .port_num = 1, .gid_type = type };

	assert_int_equal(inet_pton(AF_INET6, address, e.gid.raw), 1);
	return e;
}

static unsigned chosen(const struct ibv_gid_entry *table, unsigned count, const uint8_t *local)
{
	struct error err = { 0 };
	unsigned ret = 99;

	assert_int_equal(ib_gid_choose(table, count, true, SPEC_AUTO, local, "dev0", &ret, &err), 0);
	assert_int_equal(err.code, 0);
	return table[ret].gid_index;
}

static void roce_v2_comes_before_everything(void **state)
{
	const struct ibv_gid_entry table[] = {
		entry(0, IBV_GID_TYPE_ROCE_V1, "::ffff:10.0.0.1"),
		entry(1, IBV_GID_TYPE_ROCE_V1, "2001:db8::1"),
		entry(2, IBV_GID_TYPE_ROCE_V2, "fe80::1"),
	};

	(void)state;
	assert_int_equal(chosen(table, 3, NULL), 2);
	assert_int_equal(chosen(table, 2, NULL), 0); /* v1 only when there is nothing else */
}

static void ipv4_comes_first_and_link_local_last(void **state)
{
	const struct ibv_gid_entry table[] = {
		entry(0, IBV_GID_TYPE_ROCE_V2, "fe80::1"),
		entry(1, IBV_GID_TYPE_ROCE_V2, "2001:db8::1"),
		entry(5, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.1"),
		entry(7, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.2"),
	};

	(void)state;
	assert_int_equal(chosen(table, 4, NULL), 5);
	assert_int_equal(chosen(table, 2, NULL), 1);
	assert_int_equal(chosen(table, 1, NULL), 0);
}

static void control_address_decides_among_equals_only(void **state)
{
	const struct ibv_gid_entry table[] = {
		entry(1, IBV_GID_TYPE_ROCE_V2, "2001:db8::1"),
		entry(3, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.1"),
		entry(4, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.2"),
	};

	(void)state;
	assert_int_equal(chosen(table, 3, table[2].gid.raw), 4);
	assert_int_equal(chosen(table, 3, table[0].gid.raw), 3);
}

static void empty_entries_are_never_used(void **state)
{
	const struct ibv_gid_entry table[] = {
		entry(0, IBV_GID_TYPE_ROCE_V2, "::"),
		entry(1, IBV_GID_TYPE_IB, "fe80::2"),
	};
	struct error err = { 0 };
	unsigned ret = 99;

	(void)state;
	assert_int_equal(ib_gid_choose(table, 2, true, SPEC_AUTO, NULL, "dev0", &ret, &err), -EADDRNOTAVAIL);
	assert_non_null(strstr(err.text, "dev0 has no RoCE GID"));
	assert_int_equal(ret, 99);
	error_clear(&err);
	assert_int_equal(ib_gid_choose(table, 2, true, 0, NULL, "dev0", &ret, &err), -EINVAL);
	assert_int_equal(ret, 99);
}

static void an_asked_index_is_used_or_refused(void **state)
{
	const struct ibv_gid_entry table[] = {
		entry(0, IBV_GID_TYPE_ROCE_V1, "fe80::1"),
		entry(3, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.1"),
	};
	struct error err = { 0 };
	unsigned ret = 99;

	(void)state;
	assert_int_equal(ib_gid_choose(table, 2, true, 0, NULL, "dev0", &ret, &err), 0);
	assert_int_equal(ret, 0);
	ret = 99;
	assert_int_equal(ib_gid_choose(table, 2, true, 2, NULL, "dev0", &ret, &err), -EINVAL);
	assert_int_equal(ret, 99);
	assert_string_equal(err.text, "--gid_index 2 of dev0 is empty; it has: 0 (fe80::1, RoCE v1), "
				      "3 (10.0.0.1, RoCE v2)");
}

static void infiniband_uses_the_first_entry(void **state)
{
	const struct ibv_gid_entry table[] = {
		entry(1, IBV_GID_TYPE_IB, "fec0::2"),
		entry(0, IBV_GID_TYPE_IB, "fe80::2"),
	};
	struct error err = { 0 };
	unsigned ret = 99;

	(void)state;
	assert_int_equal(ib_gid_choose(table, 2, false, SPEC_AUTO, NULL, "dev0", &ret, &err), 0);
	assert_int_equal(table[ret].gid_index, 0);
}

static void long_tables_fit_in_the_sentence(void **state)
{
	struct ibv_gid_entry table[255];
	struct error err = { 0 };
	unsigned ret = 99;

	(void)state;
	for (uint32_t i = 0; i < 255; i++)
		table[i] = entry(i, IBV_GID_TYPE_ROCE_V2, "2001:db8:1111:2222:3333:4444:5555:6666");
	assert_int_equal(ib_gid_choose(table, 255, true, 255, NULL, "dev0", &ret, &err), -EINVAL);
	assert_true(strlen(err.text) < sizeof(err.text) - 1);
}

static struct ib_addr address(const char *gid)
{
	struct ib_addr a = {
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.mtu = IBV_MTU_1024,
		.rd_init = 16,
		.rd_resp = 8,
		.lid = 0x1234,
		.gid_index = 3,
		.qpn = 0xabcdef,
		.psn = 0x123456,
		.ece = { .vendor = 0xfedcba98, .options = 0x80000001 },
		.qkey = IB_QKEY,
		.rkey = 0xdeadbeef,
		.rx_slots = 128,
		.stride = 64,
		.rx_addr = 0x0123456789abcdef,
		.device = "dev0",
		.cm_port = 4791,
	};

	assert_int_equal(inet_pton(AF_INET6, gid, a.gid), 1);
	memcpy(a.cm_addr, a.gid, sizeof(a.gid));
	return a;
}

static void addresses_survive_the_wire(void **state)
{
	struct ib_addr sent = address("::ffff:10.0.0.1"), got;
	struct error err = { 0 };
	struct buf b = BUF_INIT;
	struct cursor c;

	(void)state;
	ib_addr_pack(&sent, &b);
	assert_int_equal(b.failed, 0);
	assert_true(b.len <= EP_ADDR_MAX - (SPEC_NAME - sizeof("dev0"))); /* with the longest device name, too */
	cursor_init(&c, b.data, b.len);
	memset(&got, 0, sizeof(got));
	assert_int_equal(ib_addr_unpack(&got, &c, &err), 0);
	assert_int_equal(c.left, 0);
	assert_memory_equal(got.gid, sent.gid, 16);
	assert_memory_equal(got.cm_addr, sent.cm_addr, 16);
	assert_string_equal(got.device, "dev0");
	assert_int_equal(got.qpn, sent.qpn);
	assert_int_equal(got.psn, sent.psn);
	assert_int_equal(got.ece.vendor, sent.ece.vendor);
	assert_int_equal(got.ece.options, sent.ece.options);
	assert_int_equal(got.rkey, sent.rkey);
	assert_int_equal(got.rx_addr, sent.rx_addr);
	assert_int_equal(got.rx_slots, sent.rx_slots);
	assert_int_equal(got.rd_init, sent.rd_init);
	assert_int_equal(got.rd_resp, sent.rd_resp);
	assert_int_equal(got.cm_port, sent.cm_port);
	buf_release(&b);
}

/* Every cut of a good address and every foreign version is refused, and leaves the result alone. */
static void broken_addresses_are_refused(void **state)
{
	struct ib_addr sent = address("::ffff:10.0.0.1"), got = { .qpn = 7 };
	struct buf b = BUF_INIT;
	struct cursor c;

	(void)state;
	ib_addr_pack(&sent, &b);
	for (size_t len = 0; len < b.len; len++) {
		struct error err = { 0 };

		cursor_init(&c, b.data, len);
		assert_int_equal(ib_addr_unpack(&got, &c, &err), -EPROTO);
		assert_int_equal(got.qpn, 7);
		assert_true(err.text[0] != '\0');
	}
	for (size_t at = 0; at < 4; at++) { /* version, link layer, GID type, MTU */
		struct error err = { 0 };
		uint8_t good = b.data[at];

		b.data[at] = 0x7f;
		cursor_init(&c, b.data, b.len);
		assert_int_equal(ib_addr_unpack(&got, &c, &err), -EPROTO);
		b.data[at] = good;
	}
	buf_release(&b);
}

static void check_refused(const struct ib_addr *own, const struct ib_addr *peer, const char *advice)
{
	struct error err = { 0 };

	assert_int_equal(ib_addr_check(own, peer, &err), -EINVAL);
	assert_non_null(strstr(err.text, advice));
}

static void ends_that_cannot_talk_are_told_apart(void **state)
{
	const struct ib_addr own = address("::ffff:10.0.0.1");
	struct ib_addr peer = address("::ffff:10.0.0.2");
	struct error err = { 0 };

	(void)state;
	assert_int_equal(ib_addr_check(&own, &peer, &err), 0);
	peer.gid_type = IBV_GID_TYPE_ROCE_V1;
	check_refused(&own, &peer, "--gid_index");
	peer = address("2001:db8::1");
	check_refused(&own, &peer, "IPv4");
	peer.link_layer = IBV_LINK_LAYER_INFINIBAND;
	check_refused(&own, &peer, "--server_device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roce_v2_comes_before_everything),
		cmocka_unit_test(ipv4_comes_first_and_link_local_last),
		cmocka_unit_test(control_address_decides_among_equals_only),
		cmocka_unit_test(empty_entries_are_never_used),
		cmocka_unit_test(an_asked_index_is_used_or_refused),
		cmocka_unit_test(infiniband_uses_the_first_entry),
		cmocka_unit_test(long_tables_fit_in_the_sentence),
		cmocka_unit_test(addresses_survive_the_wire),
		cmocka_unit_test(broken_addresses_are_refused),
		cmocka_unit_test(ends_that_cannot_talk_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
