/* The wire form of a scenario, written and read back with every count bounded. */
#include "plan/wire.h"

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODE_MIN 3 /* bytes a packed node takes at least */
#define TEST_MIN 16 /* and a test */

/* A text that may be missing: whether it is there, then its bytes. */
static void pack_text(const char *text, struct buf *to)
{
	buf_put_u8(to, text != NULL);
	if (text)
		buf_put_block(to, text, strlen(text));
}

static int unpack_text(char **ret, struct cursor *from, struct error *err)
{
	struct cursor block;

	*ret = NULL;
	if (!cursor_u8(from))
		return 0;
	cursor_block(from, &block);
	if (from->failed)
		return error_set(err, -EPROTO, "the scenario is cut off in a list of hosts");
	*ret = calloc(1, block.left + 1);
	if (!*ret)
		return error_set(err, -ENOMEM, "no memory for a list of hosts");
	memcpy(*ret, block.data, block.left);
	return 0;
}

static void pack_test(const struct scenario_test *test, struct buf *to)
{
	buf_put_string(to, test->name);
	buf_put_u32(to, test->role);
	buf_put_u32(to, test->pattern);
	buf_put_u32(to, test->direction);
	buf_put_u32(to, test->partition);
	buf_put_u8(to, test->peer_shifting);
	buf_put_u8(to, test->iteration_sync);
	buf_put_u8(to, test->no_matrix);
	buf_put_u32(to, test->nodes);
	for (uint32_t i = 0; i < test->nodes; i++) {
		pack_text(test->node[i].hosts, to);
		pack_text(test->node[i].devices, to);
		pack_text(test->node[i].gpus, to);
	}
	sweep_pack(&test->sweep, to);
	pack_text(test->ptini.name, to);
	pack_text(test->ptini.text, to);
	buf_put_u32(to, test->ptini.datatype);
}

static int unpack_nodes(struct scenario_test *test, uint32_t nodes, struct cursor *from, struct error *err)
{
	int rc = 0;

	if (nodes > SCENARIO_MAX_NODES || nodes > from->left / NODE_MIN)
		return error_set(err, -EPROTO, "a test of the scenario announces %u lists of hosts", nodes);
	test->node = calloc(nodes + 1, sizeof(*test->node));
	if (!test->node)
		return error_set(err, -ENOMEM, "no memory for %u lists of hosts", nodes);
	for (; rc == 0 && test->nodes < nodes; test->nodes++) {
		struct scenario_node *node = &test->node[test->nodes];

		rc = unpack_text(&node->hosts, from, err);
		if (rc == 0)
			rc = unpack_text(&node->devices, from, err);
		if (rc == 0)
			rc = unpack_text(&node->gpus, from, err);
		if (rc == 0 && !node->hosts)
			rc = error_set(err, -EPROTO, "a test of the scenario has a list without hosts");
	}
	return rc;
}

/* The file of sizes, which each rank reads for itself. */
static int unpack_sizes(struct scenario_test *test, struct cursor *from, struct error *err)
{
	int rc = unpack_text(&test->ptini.name, from, err);

	if (rc == 0)
		rc = unpack_text(&test->ptini.text, from, err);
	test->ptini.datatype = cursor_u32(from);
	if (rc == 0 &&
	    ((test->ptini.name == NULL) != (test->ptini.text == NULL) || !ptini_element_bytes(test->ptini.datatype)))
		rc = error_set(err, -EPROTO, "a test of the scenario has half a file of sizes");
	return rc;
}

static int unpack_test(struct scenario_test *test, struct cursor *from, struct error *err)
{
	uint32_t role, pattern, direction, partition;
	int rc;

	cursor_string(from, test->name, sizeof(test->name));
	role = cursor_u32(from);
	pattern = cursor_u32(from);
	direction = cursor_u32(from);
	partition = cursor_u32(from);
	test->peer_shifting = cursor_u8(from) != 0;
	test->iteration_sync = cursor_u8(from) != 0;
	test->no_matrix = cursor_u8(from) != 0;
	if (role > ROLE_AGGRESSOR || pattern >= PATTERNS || direction > DIRECTION_DUAL_UNIDIR ||
	    partition > PARTITION_REMOTE)
		return error_set(err, -EPROTO,
				 "a test of the scenario has no such role, pattern, direction or partition");
	test->role = (enum role)role;
	test->pattern = (enum pattern)pattern;
	test->direction = direction;
	test->partition = (enum partition)partition;
	rc = unpack_nodes(test, cursor_u32(from), from, err);
	if (rc == 0)
		rc = sweep_unpack(&test->sweep, from, err);
	return rc == 0 ? unpack_sizes(test, from, err) : rc;
}

void scenario_pack(const struct scenario *scenario, struct buf *to)
{
	buf_put_u32(to, scenario->tests);
	for (uint32_t i = 0; i < scenario->tests; i++)
		pack_test(&scenario->test[i], to);
}

int scenario_unpack(struct scenario *ret, struct cursor *from, struct error *err)
{
	const uint32_t tests = cursor_u32(from);
	int rc = 0;

	if (!tests || tests > SCENARIO_MAX_TESTS || tests > from->left / TEST_MIN)
		return error_set(err, -EPROTO, "the scenario announces %u tests", tests);
	ret->test = calloc(tests, sizeof(*ret->test));
	if (!ret->test)
		return error_set(err, -ENOMEM, "no memory for %u tests", tests);
	for (; rc == 0 && ret->tests < tests; ret->tests++) {
		rc = unpack_test(&ret->test[ret->tests], from, err);
		if (rc == 0 && ret->test[ret->tests].sweep.count != ret->test[0].sweep.count)
			rc = error_set(err, -EPROTO, "the tests of the scenario have unlike numbers of points");
	}
	if (rc == 0 && from->failed)
		rc = error_set(err, -EPROTO, "the scenario is cut off");
	return rc;
}
