/* Checks lists of cores, the choice of cores on made-up machines, and binding and memory on this one. */
#include "base/error.h"
#include "base/topo.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

/* Two nodes of three cores of two threads: node 0 has 0-5, node 1 has 6-11; siblings are 0,1 2,3 ... */
#define TWO_NODES "node:2 core:3 pu:2"

static struct core_list list_of(const char *text)
{
	struct core_list list;

	assert_int_equal(core_list_parse(text, &list, NULL), 0);
	return list;
}

static void lists_are_parsed_and_written(void **state)
{
	static const struct {
		const char *text, *written;
		unsigned count;
	} row[] = {
		{ "", "", 0 },
		{ "5", "5", 1 },
		{ "5,7", "5,7", 2 },
		{ "5-9", "5-9", 5 },
		{ "0-3,8", "0-3,8", 5 },
		{ "8,0-3", "8,0-3", 5 },
		{ "1,2,3,5", "1-3,5", 4 },
		{ "3,2,1", "3,2,1", 3 },
		{ "4-4", "4", 1 },
		{ "0-1023", "0-1023", 1024 },
		{ "007", "7", 1 },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < LENGTH(row); i++) {
		const struct core_list list = list_of(row[i].text);
		struct core_list back;

		assert_int_equal(list.count, row[i].count);
		assert_string_equal(core_list_format(&list, text, sizeof(text)), row[i].written);
		back = list_of(text);
		assert_int_equal(back.count, list.count);
		assert_memory_equal(back.core, list.core, list.count * sizeof(list.core[0]));
	}
}

static void bad_lists_are_refused(void **state)
{
	static const char *const row[] = {
		",",   "5,",    ",5",    "5,,6", "5-",  "-5",  "9-5", "5--6", "5-6-7",  "a",
		"5a",  "5 ",    " 5",    "5, 6", "+5",  "0x5", "1.5", "1024", "0-1024", "99999999999999999999",
		"5,5", "1-4,2", "2,1-4", "5;6",  "all",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(row); i++) {
		struct core_list list = { .count = 1, .core = { 77 } };
		struct error err = { 0 };

		if (core_list_parse(row[i], &list, &err) != -EINVAL || err.code != -EINVAL)
			fail_msg("'%s' was taken", row[i]);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.core[0], 77);
		assert_non_null(strstr(err.text, row[i]));
	}
}

static void long_lists_are_cut_visibly(void **state)
{
	const struct core_list list = list_of("100,102,104,106");
	char text[32];

	(void)state;
	assert_string_equal(core_list_format(&list, text, 16), "100,102,104,106");
	assert_string_equal(core_list_format(&list, text, 15), "100,102,...");
	assert_string_equal(core_list_format(&list, text, 4), "...");
	assert_string_equal(core_list_format(&list, text, 1), "");
}

static struct topo *made_up(const char *machine)
{
	struct topo *topo;

	assert_int_equal(setenv("HWLOC_SYNTHETIC", machine, 1), 0);
	assert_int_equal(topo_open(&topo, NULL), 0);
	assert_int_equal(unsetenv("HWLOC_SYNTHETIC"), 0);
	return topo;
}

struct choice {
	const char *machine;
	int node;
	unsigned count;
	const char *exclude, *avoid, *chosen;
};

static void check_choice(const struct choice *row)
{
	struct topo *topo = made_up(row->machine);
	const struct core_list exclude = list_of(row->exclude), avoid = list_of(row->avoid);
	struct core_list chosen;
	char text[128];

	assert_int_equal(topo_choose(topo, row->node, row->count, &exclude, &avoid, &chosen, NULL), 0);
	assert_int_equal(chosen.count, row->count);
	assert_string_equal(core_list_format(&chosen, text, sizeof(text)), row->chosen);
	topo_close(topo);
}

static void cores_near_the_device_come_first(void **state)
{
	static const struct choice row[] = {
		{ TWO_NODES, 1, 1, "", "", "6" },
		{ TWO_NODES, 1, 6, "", "", "6,8,10,7,9,11" },
		{ TWO_NODES, 1, 8, "", "", "6,8,10,7,9,11,2,4" },
		{ TWO_NODES, 0, 5, "", "", "2,4,1,3,5" },
		{ TWO_NODES, 0, 12, "", "", "2,4,1,3,5-6,8,10,7,9,11,0" }, /* core 0 last */
		{ TWO_NODES, -1, 6, "", "", "2,4,6,8,10,1" },
		{ TWO_NODES, 9, 6, "", "", "2,4,6,8,10,1" }, /* no core is on that node */
		{ TWO_NODES, 1, 13, "", "", "6,8,10,7,9,11,2,4,1,3,5,0,6" },
		{ TWO_NODES, 1, 4, "6,8", "", "10,7,9,11" },
		{ TWO_NODES, 1, 4, "0-5", "6", "8,10,7,9" },
		{ TWO_NODES, 1, 6, "0-5", "6", "8,10,7,9,11,6" },
		{ TWO_NODES, 1, 7, "0-5", "6", "8,10,7,9,11,6,8" },
		{ TWO_NODES, 0, 1, "", "2", "4" },
		{ TWO_NODES, 0, 1, "1-11", "", "0" },
		{ TWO_NODES, 0, 2, "1-11", "", "0,0" },
		{ "pu:2", 0, 1, "", "", "1" },
		{ "pu:2", 0, 1, "", "1", "0" },
		{ "pu:2", 0, 1, "", "0-1", "1" },
		{ "pu:2", -1, 0, "", "", "" },
		{ "pu:1", -1, 1, "", "", "0" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(row); i++)
		check_choice(&row[i]);
}

static void lists_may_be_absent(void **state)
{
	struct topo *topo = made_up(TWO_NODES);
	struct core_list chosen;

	(void)state;
	assert_int_equal(topo_choose(topo, 1, 2, NULL, NULL, &chosen, NULL), 0);
	assert_int_equal(chosen.core[0], 6);
	assert_int_equal(chosen.core[1], 8);
	topo_close(topo);
}

static void impossible_choices_are_refused(void **state)
{
	struct topo *topo = made_up("pu:4");
	const struct core_list all = list_of("0-3");
	struct core_list chosen = { .count = 77 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(topo_choose(topo, 0, 1, &all, NULL, &chosen, &err), -EINVAL);
	assert_string_equal(err.text, "no core is left: this process may use 0-3 and all of them are excluded");
	error_clear(&err);
	assert_int_equal(topo_choose(topo, 0, 1025, NULL, NULL, &chosen, &err), -EINVAL);
	assert_string_equal(err.text, "1025 cores are asked for: at most 1024");
	assert_int_equal(chosen.count, 77);
	topo_close(topo);
}

static void nodes_of_cores(void **state)
{
	struct topo *topo = made_up(TWO_NODES);

	(void)state;
	assert_int_equal(topo_core_node(topo, 0), 0);
	assert_int_equal(topo_core_node(topo, 5), 0);
	assert_int_equal(topo_core_node(topo, 6), 1);
	assert_int_equal(topo_core_node(topo, 11), 1);
	assert_int_equal(topo_core_node(topo, 12), -1);
	topo_close(topo);
}

static void cores_are_checked(void **state)
{
	struct topo *topo = made_up("pu:4");
	const struct core_list good = list_of("3,0-2"), bad = list_of("1,4,9");
	struct error err = { 0 };

	(void)state;
	assert_int_equal(topo_check(topo, &good, &err), 0);
	assert_int_equal(topo_check(topo, &bad, &err), -EINVAL);
	assert_string_equal(err.text, "core 4 may not be used by this process: the allowed cores are 0-3");
	topo_close(topo);
}

static void unknown_devices_have_no_node(void **state)
{
	static const char *const name[] = { "no_such_device0", "", "../../../../etc", "lo" };
	struct topo *topo;

	(void)state;
	assert_int_equal(topo_open(&topo, NULL), 0);
	for (size_t i = 0; i < LENGTH(name); i++)
		assert_int_equal(topo_device_node(topo, name[i]), -1);
	topo_close(topo);
}

/* The devices of a machine described in hwloc's own format. */
static void devices_have_the_node_of_their_bus(void **state)
{
	static const char xml[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
		"<topology version=\"2.0\">\n"
		"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" allowed_cpuset=\"0x3\" "
		"nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" gp_index=\"1\">"
		"<object type=\"Package\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"2\">"
		"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"3\" local_memory=\"1000000\"/>"
		"<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"4\"/></object>"
		"<object type=\"Package\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"5\">"
		"<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"6\" local_memory=\"1000000\"/>"
		"<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"7\"/>"
		"<object type=\"OSDev\" name=\"fab_7\" subtype=\"OpenFabrics\" osdev_type=\"3\" "
		"gp_index=\"8\"/></object>"
		"<object type=\"OSDev\" name=\"net_7\" osdev_type=\"2\" gp_index=\"9\"/></object></topology>";
	char path[] = "/tmp/test-topo-XXXXXX";
	const int fd = mkstemp(path);
	struct topo *topo;
	int rc;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml, sizeof(xml) - 1), sizeof(xml) - 1);
	assert_int_equal(close(fd), 0);
	assert_int_equal(setenv("HWLOC_XMLFILE", path, 1), 0);
	rc = topo_open(&topo, NULL);
	unsetenv("HWLOC_XMLFILE");
	unlink(path);
	assert_int_equal(rc, 0);
	assert_int_equal(topo_device_node(topo, "fab_7"), 1);
	assert_int_equal(topo_device_node(topo, "net_7"), -1); /* as near to either node */
	topo_close(topo);
}

/* The first core of the set from this one on. */
static size_t next_core(const cpu_set_t *set, size_t core)
{
	while (core < CPU_SETSIZE && !CPU_ISSET(core, set))
		core++;
	return core;
}

static void affinity_is_respected(void **state)
{
	struct core_list chosen, other = { .count = 1 };
	cpu_set_t all, one;
	struct topo *topo;
	size_t first, second;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	first = next_core(&all, 0);
	second = next_core(&all, first + 1);
	if (second >= TOPO_MAX_CORES)
		skip();
	CPU_ZERO(&one);
	CPU_SET(second, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(topo_open(&topo, NULL), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(topo_choose(topo, -1, 1, NULL, NULL, &chosen, NULL), 0);
	assert_int_equal(chosen.core[0], second);
	assert_int_equal(topo_check(topo, &chosen, NULL), 0);
	other.core[0] = (uint16_t)first;
	assert_int_equal(topo_check(topo, &other, NULL), -EINVAL);
	topo_close(topo);
}

static void a_thread_can_be_bound(void **state)
{
	struct error err = { 0 };
	struct core_list chosen;
	cpu_set_t all, now;
	struct topo *topo;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(topo_open(&topo, NULL), 0);
	assert_int_equal(topo_choose(topo, -1, 1, NULL, NULL, &chosen, NULL), 0);
	assert_int_equal(topo_bind_thread(topo, chosen.core[0], &err), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_ISSET(chosen.core[0], &now));
	assert_int_equal(sched_getcpu(), chosen.core[0]);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_true(topo_bind_thread(topo, 1023, &err) < 0);
	assert_memory_equal(err.text, "cannot bind a thread to core 1023: ", 35);
	topo_close(topo);
}

static void memory_is_aligned_and_zero(void **state)
{
	const size_t size = 100001;
	struct topo *topo;
	int node;

	(void)state;
	assert_int_equal(topo_open(&topo, NULL), 0);
	for (node = -1; node < 1; node++) {
		uint8_t *data = topo_alloc(topo, size, node, true);

		assert_non_null(data);
		assert_int_equal((uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
		for (size_t i = 0; i < size; i++)
			assert_true(data[i] == 0);
		memset(data, 1, size);
		topo_free(topo, data, size);
	}
	errno = 0;
	assert_null(topo_alloc(topo, size, 1000, true));
	assert_int_equal(errno, ENODEV);
	assert_null(topo_alloc(topo, 0, -1, true));
	assert_null(topo_alloc(topo, SIZE_MAX / 2, -1, true));
	topo_free(topo, NULL, 0);
	topo_close(topo);
	topo_close(NULL);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void opening_is_quick(void **state)
{
	int64_t best = INT64_MAX;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		const int64_t start = now_ns();
		struct topo *topo;

		assert_int_equal(topo_open(&topo, NULL), 0);
		best = now_ns() - start < best ? now_ns() - start : best;
		topo_close(topo);
	}
	assert_in_range(best, 0, 250000000); /* some 1 ms natively; generous for emulated machines */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_parsed_and_written),
		cmocka_unit_test(bad_lists_are_refused),
		cmocka_unit_test(long_lists_are_cut_visibly),
		cmocka_unit_test(cores_near_the_device_come_first),
		cmocka_unit_test(lists_may_be_absent),
		cmocka_unit_test(impossible_choices_are_refused),
		cmocka_unit_test(nodes_of_cores),
		cmocka_unit_test(cores_are_checked),
		cmocka_unit_test(unknown_devices_have_no_node),
		cmocka_unit_test(devices_have_the_node_of_their_bus),
		cmocka_unit_test(affinity_is_respected),
		cmocka_unit_test(a_thread_can_be_bound),
		cmocka_unit_test(memory_is_aligned_and_zero),
		cmocka_unit_test(opening_is_quick),
	};

	return cmocka_run_group_tests_name("topo", tests, NULL, NULL);
}
