/* Data buffers: on the node asked for, on any where binding is forbidden, of each kind, and why there are none. */
#include "mem/huge.h"
#include "mem/mem.h"

#include "base/error.h"
#include "base/topo.h"
#include "spec/result.h"

#include <errno.h>
#include <hwloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE 10000

static int bind_errno; /* why this machine forbids binding; 0 = it does not */
static unsigned binds;

/* In the place of hwloc's: few machines have two nodes, and fewer forbid to use them. */
int hwloc_set_area_membind(hwloc_topology_t topology, const void *data, size_t size, hwloc_const_bitmap_t set,
			   hwloc_membind_policy_t policy, int flags)
{
	(void)topology;
	(void)data;
	(void)set;
	(void)policy;
	(void)flags;
	assert_int_equal(size, SIZE);
	binds++;
	errno = bind_errno;
	return bind_errno ? -1 : 0;
}

static struct topo *two_nodes(void)
{
	struct topo *topo;

	assert_int_equal(setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1), 0);
	assert_int_equal(topo_open(&topo, NULL), 0);
	assert_int_equal(unsetenv("HWLOC_SYNTHETIC"), 0);
	return topo;
}

static int allocate(const struct topo *topo, uint32_t kind, uint32_t hugepages, size_t size, int node, struct mem **ret,
		    struct error *err)
{
	const struct spec spec = { .mem = kind, .hugepages = hugepages };
	const struct mem_host host = { .topo = topo, .node = node, .sysfs = "/sys" };
	const struct mem_conf conf = { .spec = &spec, .host = &host, .size = size };

	return mem_alloc(&conf, ret, err);
}

/* Buffers asked for on node 1 lie on that node, and are usable. */
static void check_node(int code, int node)
{
	struct topo *topo = two_nodes();
	struct error err = { 0 };
	struct mem *mem;

	bind_errno = code;
	binds = 0;
	if (allocate(topo, MEM_HOST, 0, SIZE, 1, &mem, &err))
		fail_msg("%s", err.text);
	assert_int_equal(binds, 1);
	assert_int_equal(mem->node, node);
	assert_int_equal(mem->size, SIZE);
	memset(mem->data, 1, SIZE);
	mem_free(mem);
	topo_close(topo);
}

static void where_binding_is_forbidden_the_node_is_unknown(void **state)
{
	(void)state;
	check_node(0, 1);
	check_node(EPERM, -1);
	check_node(ENOSYS, -1);
}

static void a_failure_says_why(void **state)
{
	struct mem *mem = NULL;
	struct error err = { 0 };
	struct topo *topo = two_nodes();

	(void)state;
	assert_int_equal(allocate(topo, MEM_HOST, 0, SIZE_MAX / 2, -1, &mem, &err), -ENOMEM);
	assert_string_equal(err.text, "cannot allocate 9223372036854775807 bytes of data buffers: give a smaller "
				      "--working_set or -q");
	error_clear(&err);
	assert_int_equal(allocate(topo, MEM_HOST, 0, SIZE, 1000, &mem, &err), -ENODEV);
	assert_string_equal(err.text, "cannot allocate 10000 bytes of data buffers on NUMA node 1000: No such device");
	error_clear(&err);
	bind_errno = EINVAL;
	assert_int_equal(allocate(topo, MEM_HOST, 0, SIZE, 1, &mem, &err), -EINVAL);
	assert_string_equal(err.text, "cannot allocate 10000 bytes of data buffers on NUMA node 1: Invalid argument");
	assert_null(mem);
	mem_free(NULL);
	topo_close(topo);
}

static void huge_pages_that_are_missing_are_counted(void **state)
{
	struct topo *topo = two_nodes();
	struct error err = { 0 };
	struct mem *mem = NULL;

	(void)state;
	assert_int_equal(allocate(topo, MEM_HOST, 7, SIZE, -1, &mem, &err), -EINVAL); /* 16Gi: of other processors */
	assert_string_equal(err.text, "this host has no huge pages of 16GiB (--hugepages): see "
				      "/sys/kernel/mm/hugepages/hugepages-*");
	error_clear(&err);
	if (huge_page_size(1) == 0)
		skip();
	assert_int_equal(allocate(topo, MEM_HOST, 1, (size_t)1 << 46, -1, &mem, &err), -ENOMEM);
	assert_non_null(strstr(err.text, " huge pages of "));
	assert_non_null(strstr(err.text, "are free: reserve them with 'echo "));
	assert_null(mem);
	topo_close(topo);
}

static void memory_that_the_processor_cannot_see_has_no_address(void **state)
{
	static const struct {
		enum mem_kind kind;
		enum mem_way way;
	} rows[] = { { MEM_NULLMR, MEM_BY_NULL }, { MEM_DEVICE, MEM_BY_DEVICE } };
	struct topo *topo = two_nodes();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct facts facts = { 0 };
		struct mem *mem = NULL;

		assert_int_equal(allocate(topo, rows[i].kind, 0, SIZE, 1, &mem, NULL), 0);
		assert_null(mem->data);
		assert_int_equal(mem->base, 0);
		assert_int_equal(mem->size, SIZE);
		assert_int_equal(mem->node, -1);
		assert_int_equal(mem->ways, MEM_WAY(rows[i].way));
		assert_false(mem_is_visible(rows[i].kind));
		mem->way = rows[i].way;
		mem_facts(mem, &facts);
		assert_int_equal(facts.count, 0);
		mem_free(mem);
	}
	topo_close(topo);
}

/* Which way was taken, and why no better one. */
static void the_way_of_registration_is_reported(void **state)
{
	struct topo *topo = two_nodes();
	struct facts facts = { 0 };
	struct mem *mem = NULL;

	(void)state;
	assert_int_equal(allocate(topo, MEM_HOST, 0, SIZE, -1, &mem, NULL), 0);
	mem_note(mem, MEM_BY_DATA_DIRECT, "too %s", "old");
	mem->way = MEM_BY_DMABUF;
	mem_facts(mem, &facts);
	assert_string_equal(facts_get(&facts, "registration"), "dmabuf");
	assert_string_equal(facts_get(&facts, "noDataDirect"), "too old");
	assert_null(facts_get(&facts, "noDmabuf"));
	mem_free(mem);
	topo_close(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_binding_is_forbidden_the_node_is_unknown),
		cmocka_unit_test(a_failure_says_why),
		cmocka_unit_test(huge_pages_that_are_missing_are_counted),
		cmocka_unit_test(memory_that_the_processor_cannot_see_has_no_address),
		cmocka_unit_test(the_way_of_registration_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
