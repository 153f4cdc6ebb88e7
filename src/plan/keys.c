/* Finds keys of a scenario file among the options' JSON names and the few that are no options. */
#include "plan/keys.h"

#include "base/near.h"
#include "spec/legal.h"

#include <errno.h>

struct named_key {
	const char *name;
	struct key key;
};

static const struct named_key specials[] = {
	{ "tests", { KEY_TESTS, -1, KEY_OF_SCENARIO } },
	{ "testNodes", { KEY_TEST_NODES, -1, KEY_OF_TEST } },
	{ "testName", { KEY_TEST_NAME, -1, KEY_OF_TEST } },
	{ "role", { KEY_ROLE, -1, KEY_OF_TEST } },
	{ "trafficDirection", { KEY_DIRECTION, -1, KEY_OF_TEST } },
	{ "printConnectionMatrix", { KEY_MATRIX, -1, KEY_OF_TEST } },
	{ "cudaDeviceId", { KEY_GPU, -1, KEY_OF_NODE } },
	{ "hostName", { KEY_HOST, -1, KEY_OF_NODE } },
	{ "deviceName", { KEY_DEVICE, -1, KEY_OF_NODE } },
	{ "comment", { KEY_COMMENT, -1, KEY_OF_SCENARIO } },
};
#define SPECIALS (sizeof(specials) / sizeof(specials[0]))

/* Which level an option belongs to; false: it does not stand in files. */
static bool level_of(int row, enum key_level *ret)
{
	const struct option_row *const option = &option_rows[row];
	const uint32_t sides = option->scope.sides;

	if (!option->json || (sides && !(sides & SIDE_MANY)))
		return false;
	if (row == ROW(host) || row == ROW(spec.device) || row == ROW(spec.gpu) || row == ROW(spec.bidirectional))
		return false; /* special ones */
	*ret = KEY_OF_TEST;
	if (row == ROW(spec.report_interval_ns) || !(option->flags & (OPTION_WIRE | OPTION_TEST) || row == ROW(all)))
		*ret = KEY_OF_SCENARIO;
	return true;
}

static bool search(const char *name, struct key *ret)
{
	for (size_t i = 0; i < SPECIALS; i++) {
		if (near_same(specials[i].name, name)) {
			*ret = specials[i].key;
			return true;
		}
	}
	for (int row = 0; row < (int)option_count; row++) {
		*ret = (struct key){ .row = row };
		if (level_of(row, &ret->level) && near_same(option_rows[row].json, name))
			return true;
	}
	return false;
}

/* A test's keys may stand for all tests; comments and GPUs stand at several levels. */
static bool may_stand(const struct key *key, enum key_level level)
{
	if (key->special == KEY_COMMENT)
		return true;
	if (key->special == KEY_GPU || key->level == KEY_OF_TEST)
		return level != KEY_OF_NODE || key->special == KEY_GPU;
	return key->level == level;
}

static const char *nearest(const char *name, enum key_level level)
{
	unsigned best = NEAR_NOT;
	const char *ret = NULL;

	for (size_t i = 0; i < SPECIALS; i++) {
		const unsigned off = near_miss(specials[i].name, name);

		if (off < best && may_stand(&specials[i].key, level)) {
			best = off;
			ret = specials[i].name;
		}
	}
	for (int row = 0; row < (int)option_count; row++) {
		struct key key = { .row = row };

		if (level_of(row, &key.level) && may_stand(&key, level) &&
		    near_miss(option_rows[row].json, name) < best) {
			best = near_miss(option_rows[row].json, name);
			ret = option_rows[row].json;
		}
	}
	return ret;
}

/* What may stand at a level; of a test's many keys the first. */
static const char *allowed(enum key_level level)
{
	switch (level) {
	case KEY_OF_NODE:
		return "an entry of testNodes takes hostName, deviceName, cudaDeviceId and comment";
	case KEY_OF_TEST:
		return "a test takes testName, testNodes, trafficPattern, trafficDirection, trafficPartition, verb, "
		       "metric, "
		       "msgSize, duration and others (docs/scenarios.md)";
	case KEY_OF_SCENARIO:
		break;
	}
	return "a scenario takes tests, outputFile, printJsonOutput, resultsDetail, printConnectionMatrix, "
	       "mpiTcpNetworkInterfaces, comment, and a test's keys: testNodes, trafficPattern, verb, msgSize, "
	       "duration and others "
	       "(docs/scenarios.md)";
}

static const char *home(enum key_level level)
{
	static const char *const homes[] = { "the scenario itself", "a test", "an entry of testNodes" };

	return homes[level];
}

int key_find(const struct document *document, const struct place *place, enum key_level level, struct key *ret,
	     struct error *err)
{
	const char *near;

	if (search(place->key, ret)) {
		if (may_stand(ret, level))
			return 0;
		return place_error(document, place, true, err, "%.60s belongs to %s, not to %s", place->key,
				   home(ret->level), home(level));
	}
	near = nearest(place->key, level);
	if (near)
		return place_error(document, place, true, err, "unknown key '%.60s': did you mean %s?", place->key,
				   near);
	return place_error(document, place, true, err, "unknown key '%.60s': %s", place->key, allowed(level));
}
