/* Data buffers: on the node asked for, on any where binding is forbidden, and why there are none. */
#include "mem/mem.h"

#include "base/error.h"
#include "base/topo.h"

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

/* Buffers asked for on node 1 lie on that node, and are usable. */
static void check_node(int code, int node)
{
	struct topo *topo = two_nodes();
	struct error err = { 0 };
	struct mem *mem;

	bind_errno = code;
	binds = 0;
	if (mem_alloc(topo, SIZE, 1, &mem, &err))
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
	assert_int_equal(mem_alloc(topo, SIZE_MAX / 2, -1, &mem, &err), -ENOMEM);
	assert_string_equal(err.text, "cannot allocate 9223372036854775807 bytes of data buffers: give a smaller "
				      "--working_set or -q");
	error_clear(&err);
	assert_int_equal(mem_alloc(topo, SIZE, 1000, &mem, &err), -ENODEV);
	assert_string_equal(err.text, "cannot allocate 10000 bytes of data buffers on NUMA node 1000: No such device");
	error_clear(&err);
	bind_errno = EINVAL;
	assert_int_equal(mem_alloc(topo, SIZE, 1, &mem, &err), -EINVAL);
	assert_string_equal(err.text, "cannot allocate 10000 bytes of data buffers on NUMA node 1: Invalid argument");
	assert_null(mem);
	mem_free(NULL);
	topo_close(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_binding_is_forbidden_the_node_is_unknown),
		cmocka_unit_test(a_failure_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
