/* How far GPUs are from RDMA devices in trees of PCIe devices built after test/sysfs, and which GPU is taken. */
#include "mem/gpu.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define GPUS 16

struct tree {
	char root[64];
	char pci[GPUS][24]; /* of GPU0 ... */
	unsigned compared;
};

/* Makes a folder with all above it, below the root. */
static char *folder(const struct tree *tree, const char *path, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s", tree->root, path);
	for (char *slash = strchr(ret + strlen(tree->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(ret, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	assert_true(mkdir(ret, 0755) == 0 || errno == EEXIST);
	return ret;
}

static void add_device(struct tree *tree, const char *node, const char *path, const char *name)
{
	char below[PATH_MAX], at[PATH_MAX], link[PATH_MAX], text[PATH_MAX];
	const char *address = strrchr(path, '/') + 1;
	FILE *file;

	snprintf(below, sizeof(below), "devices/%s", path);
	folder(tree, below, at);
	snprintf(text, sizeof(text), "%.200s/numa_node", at);
	file = fopen(text, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", node);
	fclose(file);
	if (strncmp(name, "GPU", 3) == 0) {
		snprintf(tree->pci[atoi(name + 3)], sizeof(tree->pci[0]), "%s", address);
		folder(tree, "bus/pci/devices", below);
		snprintf(link, sizeof(link), "%.200s/%s", below, address);
	} else {
		snprintf(text, sizeof(text), "class/infiniband/%s", name);
		folder(tree, text, below);
		snprintf(link, sizeof(link), "%.200s/device", below);
	}
	assert_int_equal(symlink(at, link), 0);
}

static void compare(struct tree *tree, const char *nic, const char *gpu, const char *wanted)
{
	const enum gpu_distance got =
		gpu_distance(tree->root, strcmp(nic, "none") ? nic : NULL, tree->pci[atoi(gpu + 3)]);

	if (strcmp(gpu_distance_name(got), wanted) != 0)
		fail_msg("%s to %s is %s, not %s", nic, gpu, gpu_distance_name(got), wanted);
	tree->compared++;
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/* Builds the tree of a file and compares what the file says of it. */
static unsigned check_tree(const char *name)
{
	struct tree tree = { .root = "/tmp/fabperf-sysfs-XXXXXX" };
	char path[PATH_MAX], line[512], a[40], b[300], c[40];
	const char *slash = strrchr(__FILE__, '/');
	FILE *file;

	snprintf(path, sizeof(path), "%.*s/../sysfs/%s.tree", (int)(slash - __FILE__), __FILE__, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(mkdtemp(tree.root));
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (line[0] == '=') {
			assert_int_equal(sscanf(line, "= %39s %299s %39s", a, b, c), 3);
			compare(&tree, a, b, c);
		} else {
			assert_int_equal(sscanf(line, "%39s %299s %39s", a, b, c), 3);
			add_device(&tree, a, b, c);
		}
	}
	fclose(file);
	assert_int_equal(nftw(tree.root, unlink_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	return tree.compared;
}

static void distances_are_as_nvidia_smi_calls_them(void **state)
{
	(void)state;
	assert_int_equal(check_tree("eight-gpus"), 7);
	assert_int_equal(check_tree("cascade"), 7);
	assert_int_equal(check_tree("virtual"), 5);
}

static void what_is_not_there_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(gpu_distance("/nonexistent", "mlx5_0", "0000:18:00.0"), GPU_UNKNOWN);
	assert_int_equal(gpu_distance("/sys", "../..", "0000:18:00.0"), GPU_UNKNOWN);
}

static void classes_are_ordered(void **state)
{
	static const char *const order[] = { "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "unknown" };

	(void)state;
	for (unsigned i = 0; i <= GPU_UNKNOWN; i++)
		assert_string_equal(gpu_distance_name((enum gpu_distance)i), order[i]);
}

static void the_nearest_is_taken_in_turn(void **state)
{
	static const enum gpu_distance near[] = { GPU_SYS, GPU_PIX, GPU_NODE, GPU_PIX }, one[] = { GPU_UNKNOWN },
				       linked[] = { GPU_PIX, GPU_NV },
				       far[] = { GPU_UNKNOWN, GPU_UNKNOWN, GPU_UNKNOWN };
	static const unsigned wanted[] = { 1, 3, 1, 3, 1 };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(gpu_pick(near, 4, i), wanted[i]);
		assert_int_equal(gpu_pick(one, 1, i), 0);
		assert_int_equal(gpu_pick(far, 3, i), i % 3);
		assert_int_equal(gpu_pick(linked, 2, i), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_as_nvidia_smi_calls_them),
		cmocka_unit_test(what_is_not_there_is_unknown),
		cmocka_unit_test(classes_are_ordered),
		cmocka_unit_test(the_nearest_is_taken_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
