/* The keys of a scenario file: which may stand where, and what a misspelt one may mean. */
#ifndef PLAN_KEYS_H
#define PLAN_KEYS_H

#include "plan/place.h"

struct error;

enum key_level { KEY_OF_SCENARIO, KEY_OF_TEST, KEY_OF_NODE };

/* Keys that are no options, or not in the way of the command line. */
enum special_key {
	KEY_NONE,
	KEY_TESTS,
	KEY_TEST_NODES,
	KEY_TEST_NAME,
	KEY_ROLE,
	KEY_DIRECTION,
	KEY_MATRIX,
	KEY_GPU,
	KEY_COMMENT,
	KEY_HOST,
	KEY_DEVICE
};

struct key {
	enum special_key special;
	int row; /* of the option table, or -1 */
	enum key_level level; /* where it belongs; those of a test may stand at the scenario's, too */
};

/*
 * The key at place, which stands at level. -EINVAL and a sentence with the place: no such key (with the nearest one), or one
 * that belongs elsewhere.
 */
int key_find(const struct document *document, const struct place *place, enum key_level level, struct key *ret,
	     struct error *err);

#endif
