/* Counters of NICs: found in a tree like the kernel's, differences, units, kinds, and what is said of those that moved. */
#include "base/buf.h"
#include "base/clock.h"
#include "counters/counters.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MLX  "class/infiniband/mlx5_0/ports/1/"
#define ETH  "class/net/eth7/"
#define WRAP UINT64_C(4294967290)

/* A RoCE NIC with two ports, and what its files held before and after. */
static const struct {
	const char *path;
	uint64_t before, after;
} files[] = {
	{ MLX "counters/port_xmit_data", 1000, 3500 },
	{ MLX "counters/port_xmit_wait", 5, 5 },
	{ MLX "hw_counters/lifespan", 10, 10 },
	{ MLX "hw_counters/out_of_buffer", 7, 7 },
	{ MLX "hw_counters/packet_seq_err", WRAP, 4 },
	{ MLX "hw_counters/np_ecn_marked_roce_packets", 0, 12 },
	{ "class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", 1, 9 },
	{ "class/infiniband/mlx5_0/device/net/eth7/dev_port", 0, 0 },
	{ "class/infiniband/mlx5_0/device/net/eth8/dev_port", 1, 1 },
	{ ETH "dev_port", 0, 0 },
	{ "class/net/eth8/dev_port", 1, 1 },
	{ ETH "statistics/rx_packets", 50, 70 },
	{ ETH "statistics/rx_dropped", 3, 1 },
	{ "class/net/eth8/statistics/rx_packets", 1, 2 },
};

static char root[PATH_MAX / 2];

static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX], *slash = path + strlen(root) + 1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	while ((slash = strchr(slash, '/'))) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash++ = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void write_tree(bool after)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char text[32];

		snprintf(text, sizeof(text), "%llu\n", (unsigned long long)(after ? files[i].after : files[i].before));
		write_file(files[i].path, text);
	}
	write_file(MLX "hw_counters/unreadable", "what\n");
	write_file(ETH "ethtool", after ? "NIC statistics:\n     rx_discards_phy: 21\n     rx3_packets: 9\n     "
					  "rx_prio3_pause_duration: 44\n"
					: "NIC statistics:\n     rx_discards_phy: 1\n     rx3_packets: 1\n     "
					  "rx_prio3_pause_duration: 4\n"
					  "     gone: 1\n");
	write_file("proc/net/snmp", after ? "Tcp: RtoMin RetransSegs\nTcp: 200 9\nIcmp: InMsgs\nIcmp: 4\n"
					  : "Tcp: RtoMin RetransSegs\nTcp: 200 6\nIcmp: InMsgs\nIcmp: 1\n");
}

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "%s/fabperf-counters-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	return mkdtemp(root) ? 0 : -1;
}

static int clear(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command); /* NOLINT(cert-env33-c) */
}

static void read_both(struct port_counters *ret)
{
	struct nic nic = { .device = "mlx5_0", .port = 1 };
	struct nics nics = { 0 };
	struct clock clock;

	clock_init(&clock, true);
	nics_add(&nics, &nic);
	nics_add(&nics, &nic);
	assert_int_equal(nics.count, 1);
	nics_add(&nics, &(struct nic){ .sockets = true });
	nics_add(&nics, &(struct nic){ 0 });
	assert_int_equal(nics.count, 2);
	write_tree(false);
	counters_before(root, &nics, ret);
	write_tree(true);
	counters_after(root, &nics, &clock, ret);
}

static const struct port_counter *find(const struct port_counters *counters, const char *name)
{
	const struct port_counter *found = NULL;

	for (uint32_t i = 0; i < counters->count; i++) {
		if (strcmp(counters->counter[i].name, name) != 0)
			continue;
		assert_null(found);
		found = &counters->counter[i];
	}
	return found;
}

static uint64_t moved(const struct port_counters *counters, const char *name, const char *source)
{
	const struct port_counter *counter = find(counters, name);
	uint64_t difference;

	assert_non_null(counter);
	assert_string_equal(counter->source, source);
	assert_true(counter_moved(counter, &difference));
	return difference;
}

static void test_found(void **state)
{
	struct port_counters counters;
	uint64_t difference;

	(void)state;
	read_both(&counters);
	assert_int_equal(moved(&counters, "port_xmit_data", "mlx5_0 port 1"), 2500);
	assert_int_equal(moved(&counters, "port_xmit_wait", "mlx5_0 port 1"), 0);
	assert_int_equal(moved(&counters, "packet_seq_err", "mlx5_0 port 1"), 10);
	assert_true(counter_wrapped(find(&counters, "packet_seq_err")));
	assert_int_equal(moved(&counters, "rx_packets", "eth7"), 20);
	assert_int_equal(moved(&counters, "rx_discards_phy", "eth7 ethtool"), 20);
	assert_int_equal(moved(&counters, "RetransSegs", "kernel Tcp"), 3);
	assert_false(counter_moved(find(&counters, "rx_dropped"), &difference));
	assert_false(counter_wrapped(find(&counters, "rx_dropped")));
	assert_null(find(&counters, "lifespan"));
	assert_null(find(&counters, "unreadable"));
	assert_null(find(&counters, "rx3_packets"));
	assert_null(find(&counters, "gone"));
	assert_null(find(&counters, "RtoMin"));
	assert_null(find(&counters, "InMsgs"));
	assert_int_equal(counters.count, 10);
	port_counters_release(&counters);
}

static void test_nothing_there(void **state)
{
	struct nic nic = { .device = "nothing", .port = 1, .interface = "none" };
	struct port_counters counters;
	struct nics nics = { 0 };

	(void)state;
	nics_add(&nics, &nic);
	counters_before(root, &nics, &counters);
	assert_int_equal(counters.count, 0);
	assert_null(counters.counter);
}

static void test_wrap(void **state)
{
	static const struct {
		uint64_t before, after, moved;
		bool known, wrapped;
	} cases[] = {
		{ 5, 5, 0, true, false },
		{ 0, UINT64_MAX, UINT64_MAX, true, false },
		{ UINT32_MAX, 0, 1, true, true },
		{ UINT32_MAX, 7, 8, true, true },
		{ (UINT64_C(1) << 31) + 1, 0, (UINT64_C(1) << 31) - 1, true, true },
		{ UINT64_C(1) << 31, 0, 0, false, false },
		{ 100, 99, 0, false, false },
		{ UINT64_MAX, 1, 2, true, true },
		{ UINT64_C(1) << 40, 3, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct port_counter counter = { .before = cases[i].before, .after = cases[i].after };
		uint64_t difference;

		assert_int_equal(counter_moved(&counter, &difference), cases[i].known);
		if (cases[i].known)
			assert_int_equal(difference, cases[i].moved);
		assert_int_equal(counter_wrapped(&counter), cases[i].wrapped);
	}
}

static void test_meanings(void **state)
{
	static const struct {
		const char *name, *unit;
		enum counter_kind kind;
		unsigned scale;
	} cases[] = {
		{ "port_rcv_data", "bytes", COUNTER_TRAFFIC, 4 },
		{ "port_xmit_wait", "ticks", COUNTER_PAUSE, 1 },
		{ "port_xmit_discards", "packets", COUNTER_SENDER_LOSS, 1 },
		{ "rx_discards_phy", "packets", COUNTER_RECEIVER_LOSS, 1 },
		{ "rx_prio3_buf_discard", "packets", COUNTER_RECEIVER_LOSS, 1 },
		{ "rx_prio3_discards", "packets", COUNTER_RECEIVER_LOSS, 1 },
		{ "tx_prio3_discards", "packets", COUNTER_SENDER_LOSS, 1 },
		{ "rx_prio3_pause", "packets", COUNTER_PAUSE, 1 },
		{ "rx_prio3_pause_duration", "usec", COUNTER_PAUSE, 1 },
		{ "rx_global_pause_transition", "events", COUNTER_PAUSE, 1 },
		{ "tx_pause_storm_warning_events", "events", COUNTER_PAUSE, 1 },
		{ "rx_prio3_marked", "packets", COUNTER_ECN, 1 },
		{ "rp_cnp_handled", "packets", COUNTER_ECN, 1 },
		{ "roce_adp_retrans", "events", COUNTER_RETRANSMISSION, 1 },
		{ "roce_adp_retrans_to", "events", COUNTER_TIMEOUT, 1 },
		{ "req_rnr_retries_exceeded", "events", COUNTER_NOT_READY, 1 },
		{ "req_transport_retries_exceeded", "events", COUNTER_TIMEOUT, 1 },
		{ "rx_icrc_encapsulated", "packets", COUNTER_LINK, 1 },
		{ "tx_prio0_bytes", "bytes", COUNTER_TRAFFIC, 1 },
		{ "unicast_rcv_packets", "packets", COUNTER_TRAFFIC, 1 },
		{ "sent_pkts", "packets", COUNTER_TRAFFIC, 1 },
		{ "rx_write_requests", "events", COUNTER_TRAFFIC, 1 },
		{ "resp_cqe_error", "events", COUNTER_OTHER, 1 },
		{ "whatever", "events", COUNTER_OTHER, 1 },
		{ "", "events", COUNTER_OTHER, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct meaning meaning = counter_meaning(cases[i].name);

		assert_string_equal(meaning.unit, cases[i].unit);
		assert_int_equal(meaning.kind, cases[i].kind);
		assert_int_equal(meaning.scale, cases[i].scale);
	}
}

struct heard {
	unsigned count;
	char id[16][40], text[16][700];
};

static void hear(void *context, const char *id, const char *text)
{
	struct heard *heard = context;

	snprintf(heard->id[heard->count], sizeof(heard->id[0]), "%s", id);
	snprintf(heard->text[heard->count++], sizeof(heard->text[0]), "%s", text);
}

static void test_told(void **state)
{
	struct port_counters counters, none = { 0 };
	struct counted ranks[] = { { "the client", &none }, { "the server", &counters } };
	struct heard heard = { 0 };

	(void)state;
	read_both(&counters);
	counters_tell(ranks, 2, hear, &heard);
	assert_int_equal(heard.count, 4);
	assert_string_equal(heard.id[0], "countersReceiverLoss");
	assert_non_null(strstr(heard.text[0], "rx_discards_phy 20 packets (eth7 ethtool of the server)"));
	assert_string_equal(heard.id[1], "countersPause");
	assert_non_null(strstr(heard.text[1], "rx_prio3_pause_duration 40 usec"));
	assert_string_equal(heard.id[2], "countersEcn");
	assert_string_equal(heard.id[3], "countersRetransmission");
	assert_non_null(strstr(heard.text[3], "packet_seq_err 10 events (mlx5_0 port 1 of the server), RetransSegs 3"));
	assert_true(counters_tell_loss(&counters));
	assert_false(counters_tell_loss(&none));
	port_counters_release(&counters);
}

/* The four that moved most are named, wherever they stand. */
static void test_told_most(void **state)
{
	static const char *const names[] = { "rx_drops",       "out_of_buffer", "rx_missed_errors",
					     "rx_over_errors", "RcvbufErrors",  "rx_fifo_errors" };
	static const uint64_t values[] = { 3, 60, 5, 10, 40, 70 };
	struct port_counter counter[6] = { 0 };
	const struct port_counters counters = { 6, counter };
	const struct counted rank = { "node1", &counters };
	struct heard heard = { 0 };

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		snprintf(counter[i].name, sizeof(counter[i].name), "%s", names[i]);
		snprintf(counter[i].source, sizeof(counter[i].source), "e");
		counter[i].after = values[i];
	}
	counters_tell(&rank, 1, hear, &heard);
	assert_int_equal(heard.count, 1);
	assert_non_null(strstr(heard.text[0],
			       ": rx_fifo_errors 70 packets (e of node1), out_of_buffer 60 packets (e of "
			       "node1), RcvbufErrors 40 packets (e of node1), rx_over_errors 10 packets "
			       "(e of node1) and others"));
}

/* Two stages: what was there before ends later, what is new is taken over. */
static void test_join(void **state)
{
	struct port_counter first[] = { { "a", "x", 1, 3 }, { "a", "y", 10, 11 } };
	struct port_counter second[] = { { "b", "x", 7, 8 }, { "a", "x", 4, 9 } };
	struct port_counters all = { 0 };

	(void)state;
	port_counters_join(&all, &(struct port_counters){ 2, first });
	port_counters_join(&all, &(struct port_counters){ 2, second });
	port_counters_join(&all, &(struct port_counters){ 0 });
	assert_int_equal(all.count, 3);
	assert_int_equal(all.counter[0].before, 1);
	assert_int_equal(all.counter[0].after, 9);
	assert_int_equal(all.counter[1].after, 11);
	assert_string_equal(all.counter[2].source, "b");
	port_counters_release(&all);
}

static void test_wire(void **state)
{
	struct port_counters counters, back;
	struct buf buf = BUF_INIT;
	struct cursor from;

	(void)state;
	read_both(&counters);
	strcpy(counters.counter[0].name, "\033[2J");
	port_counters_pack(&counters, &buf);
	cursor_init(&from, buf.data, buf.len);
	assert_int_equal(port_counters_unpack(&back, &from), 0);
	assert_int_equal(back.count, counters.count);
	assert_string_equal(back.counter[0].name, "?[2J");
	assert_int_equal(back.counter[9].after, counters.counter[9].after);
	port_counters_release(&back);
	for (size_t len = 0; len < buf.len; len++) {
		cursor_init(&from, buf.data, len);
		assert_int_equal(port_counters_unpack(&back, &from), -EPROTO);
		port_counters_release(&back);
	}
	memset(buf.data, 0xff, 4);
	cursor_init(&from, buf.data, buf.len);
	assert_int_equal(port_counters_unpack(&back, &from), -EPROTO);
	port_counters_release(&counters);
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),    cmocka_unit_test(test_nothing_there), cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_meanings), cmocka_unit_test(test_told),          cmocka_unit_test(test_told_most),
		cmocka_unit_test(test_wire),     cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, set_up, clear);
}
