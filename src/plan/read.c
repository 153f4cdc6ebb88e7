/* Reads a scenario from JSON: every key is an option's name, a node's or one of a few more, or an error with its place. */
#include "plan/read.h"

#include "base/error.h"
#include "plan/json_text.h"
#include "plan/keys.h"
#include "plan/load.h"
#include "plan/nodes.h"
#include "plan/roles.h"
#include "spec/legal.h"
#include "spec/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A scenario while it is read. */
struct reader {
	struct document document;
	struct request *request; /* what concerns the scenario as a whole */
	const struct request_host *host;
	struct scenario *scenario;
	struct error *err;
};

/* A test while it is read: from the scenario's own keys, then from its own. */
struct draft {
	struct request request;
	char name[SPEC_NAME];
	enum role role;
	const json_t *nodes; /* of testNodes */
	struct place nodes_place;
};

static int bad(const struct reader *reader, const struct place *place, const char *why)
{
	return place_error(&reader->document, place, false, reader->err, "%s", why);
}

static int text_of(const struct reader *reader, const struct place *place, const json_t *value,
		   char text[JSON_TEXT_MAX])
{
	return json_text(&reader->document, place, value, text, reader->err);
}

/* Sets an option from a value; the sentence of a refusal begins with the place. */
static int set_option(const struct reader *reader, struct request *request, int row, const struct place *place,
		      const char *text)
{
	const char *const key = option_rows[row].json ? option_rows[row].json : place->key;
	struct error why = { 0 };

	if (option_given(request, row))
		return place_error(&reader->document, place, true, reader->err,
				   "%s is there twice, or on the command line, too", key);
	if (option_set(request, row, key, text, &why)) {
		const size_t named = strlen(key) + 2; /* the path ends with it */

		return place_error(&reader->document, place, false, reader->err, "%s",
				   strlen(why.text) > named ? why.text + named : why.text);
	}
	return 0;
}

/* --- keys that are no plain options --- */

static int set_direction(const struct reader *reader, struct request *request, const struct place *place,
			 const char *text)
{
	const int both = ROW(spec.bidirectional), dual = ROW(dual_unidir);

	if (option_given(request, both) || option_given(request, dual))
		return bad(reader, place, "trafficDirection is there twice");
	if (strcasecmp(text, "UNIDIR") != 0 && strcasecmp(text, "BIDIR") != 0 && strcasecmp(text, "DUAL_UNIDIR") != 0)
		return place_error(&reader->document, place, false, reader->err,
				   "trafficDirection: '%.60s' is not UNIDIR, BIDIR or DUAL_UNIDIR", text);
	request->dual_unidir = request->spec.bidirectional = false;
	return option_set(request, strcasecmp(text, "DUAL_UNIDIR") ? both : dual, "trafficDirection",
			  strcasecmp(text, "UNIDIR") ? "on" : "off", reader->err);
}

static int set_matrix(const struct reader *reader, struct request *request, const struct place *place,
		      const json_t *value)
{
	bool print;

	if (json_is_boolean(value))
		print = json_is_true(value);
	else if (json_is_string(value) && !strcasecmp(json_string_value(value), "true"))
		print = true;
	else if (json_is_string(value) && !strcasecmp(json_string_value(value), "false"))
		print = false;
	else
		return bad(reader, place, "printConnectionMatrix is true or false");
	request->no_matrix = !print;
	return 0;
}

static int set_name(const struct reader *reader, struct draft *draft, const struct place *place, const json_t *value)
{
	const struct option_row row = { .size = sizeof(draft->name) };
	struct error why = { 0 };

	if (!json_is_string(value) || !*json_string_value(value))
		return bad(reader, place, "testName is a text");
	if (value_parse_text(&row, json_string_value(value), draft->name, &why))
		return place_error(&reader->document, place, false, reader->err, "testName: %s", why.text);
	return 0;
}

static int set_role(const struct reader *reader, struct draft *draft, const struct place *place, const json_t *value)
{
	if (json_is_string(value) && role_parse(json_string_value(value), &draft->role))
		return 0;
	return bad(reader, place, "role is \"victim\" or \"aggressor\"");
}

static int set_nodes(const struct reader *reader, struct draft *draft, const struct place *place, const json_t *value)
{
	if (!json_is_array(value) || !json_array_size(value))
		return bad(reader, place,
			   "testNodes is a list of at least one {\"hostName\": ..., \"deviceName\": ...}");
	draft->nodes = value;
	draft->nodes_place = *place; /* its up lives as long as the draft */
	return 0;
}

static int set_comment(const struct reader *reader, const struct place *place, const json_t *value)
{
	return json_is_string(value) || json_is_array(value) ? 0 : bad(reader, place, "a comment is a text");
}

/* Lists are for what is one on the command line, too; a text is written as one. */
static int check_kind(const struct reader *reader, const struct key *key, const struct place *place,
		      const json_t *value)
{
	const struct option_row *const row = key->special == KEY_DIRECTION ? &option_rows[ROW(spec.bidirectional)]
					     : key->special == KEY_GPU     ? &option_rows[ROW(spec.gpu)]
									   : &option_rows[key->row];
	const bool listed = row->list || row->type == OPTION_CORES || row->type == OPTION_PERCENTILES ||
			    row->type == OPTION_OPERATIONS;

	if (json_is_array(value) && !listed)
		return bad(reader, place, "this takes a single value, not a list");
	if (row->type == OPTION_TEXT && (json_is_number(value) || json_is_boolean(value)))
		return bad(reader, place, "this takes a text: put it into quotes");
	return 0;
}

static int set_key(struct reader *reader, struct draft *draft, const struct key *key, const struct place *place,
		   const json_t *value)
{
	char text[JSON_TEXT_MAX];

	switch (key->special) {
	case KEY_TEST_NODES:
		return set_nodes(reader, draft, place, value);
	case KEY_TEST_NAME:
		return set_name(reader, draft, place, value);
	case KEY_ROLE:
		return set_role(reader, draft, place, value);
	case KEY_MATRIX:
		return set_matrix(reader, &draft->request, place, value);
	case KEY_COMMENT:
		return set_comment(reader, place, value);
	default:
		break;
	}
	if (check_kind(reader, key, place, value) || text_of(reader, place, value, text))
		return -EINVAL;
	if (key->special == KEY_DIRECTION)
		return set_direction(reader, &draft->request, place, text);
	if (key->special == KEY_GPU)
		return set_option(reader, &draft->request, ROW(spec.gpu), place, text);
	return set_option(reader, key->level == KEY_OF_SCENARIO ? reader->request : &draft->request, key->row, place,
			  text);
}

/* All keys of an object but tests, which comes when the others are known. */
static int read_keys(struct reader *reader, struct draft *draft, const json_t *object, const struct place *at,
		     enum key_level level)
{
	struct place place = { .up = at };
	json_t *value;

	json_object_foreach((json_t *)object, place.key, value)
	{
		struct key key;
		int rc = key_find(&reader->document, &place, level, &key, reader->err);

		if (rc == 0 && key.special != KEY_TESTS)
			rc = set_key(reader, draft, &key, &place, value);
		if (rc)
			return rc;
		place.nth++;
	}
	return 0;
}

/* --- a test --- */

/* The value that a sentence about a whole test begins with, if it names a key; else the test itself. */
static void point_at(const json_t *object, const char *sentence, const struct place *test, struct place *ret,
		     bool *found)
{
	struct place place = { .up = test };
	json_t *value;

	*found = false;
	json_object_foreach((json_t *)object, place.key, value)
	{
		const size_t len = strlen(place.key);

		if (!strncasecmp(sentence, place.key, len) && (sentence[len] == ' ' || sentence[len] == ':')) {
			*ret = place;
			*found = true;
		}
		place.nth++;
	}
}

static int locate(const struct reader *reader, const json_t *object, const struct place *at, struct error *why)
{
	struct place place;
	bool found;

	point_at(object, why->text, at, &place, &found);
	return place_error(&reader->document, found ? &place : at, false, reader->err, "%s", why->text);
}

/* A path in a file is relative to the file's folder. */
static int rebase(const struct reader *reader, struct request *request, const struct place *at)
{
	const char *const name = reader->document.name, *const slash = strrchr(name, '/');
	char path[SPEC_TEXT];
	int len;

	if (!*request->ptini_file || strchr("/~", *request->ptini_file) || *reader->request->input_file == '{' ||
	    !slash)
		return 0;
	len = snprintf(path, sizeof(path), "%.*s%s", (int)(slash - name) + 1, name, request->ptini_file);
	if (len >= (int)sizeof(path))
		return bad(reader, at, "the path of ptiniFile, behind that of this file, is too long");
	memcpy(request->ptini_file, path, sizeof(path));
	return 0;
}

static int finish(struct reader *reader, struct draft *draft, const json_t *object, const struct place *at)
{
	struct scenario_test *const test = &reader->scenario->test[reader->scenario->tests++];
	char where[PLACE_WHERE];
	struct error why = { 0 };

	memcpy(test->name, draft->name, sizeof(test->name));
	test->role = draft->role;
	test->where = strdup(place_where(&reader->document, at, false, where, sizeof(where)));
	if (!test->where)
		return error_set(reader->err, -ENOMEM, "no memory for a scenario");
	if (!draft->nodes)
		return bad(reader, at, "testNodes is missing: [{\"hostName\": \"node[1-4]\", \"deviceName\": ...}]");
	if (draft->request.traffic_pattern == PATTERN_NONE)
		return bad(reader, at,
			   "trafficPattern is missing: ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, ALL_TO_ALL, BISECTION "
			   "or RING");
	if (read_nodes(&reader->document, &draft->nodes_place, draft->nodes, &draft->request, test, reader->err))
		return -EINVAL;
	if (rebase(reader, &draft->request, at))
		return -EINVAL;
	request_drop_inherited(&draft->request);
	if (scenario_complete(test, &draft->request, reader->host, &why))
		return locate(reader, object, at, &why);
	return 0;
}

static int read_test(struct reader *reader, const struct draft *common, const json_t *object, const struct place *at)
{
	struct draft *draft;
	int rc;

	if (!json_is_object(object))
		return bad(reader, at, "a test is an object: {\"testNodes\": [...], \"trafficPattern\": ...}");
	draft = malloc(sizeof(*draft));
	if (!draft)
		return error_set(reader->err, -ENOMEM, "no memory for a scenario");
	*draft = *common;
	memcpy(draft->request.inherited, common->request.given, sizeof(common->request.given));
	memset(draft->request.given, 0, sizeof(draft->request.given));
	rc = read_keys(reader, draft, object, at, KEY_OF_TEST);
	if (rc == 0)
		rc = finish(reader, draft, object, at);
	free(draft);
	return rc;
}

/* --- the scenario --- */

static int make_room(struct reader *reader, size_t tests)
{
	reader->scenario->test = calloc(tests, sizeof(*reader->scenario->test));
	return reader->scenario->test ? 0 : error_set(reader->err, -ENOMEM, "no memory for %zu tests", tests);
}

static int read_tests(struct reader *reader, const struct draft *common, const json_t *tests, const struct place *at)
{
	struct place place = { .up = at };
	json_t *test;
	size_t index;
	int rc;

	if (!json_is_array(tests) || !json_array_size(tests))
		return bad(reader, at, "tests is a list of at least one test");
	if (json_array_size(tests) > SCENARIO_MAX_TESTS)
		return place_error(&reader->document, at, false, reader->err, "a scenario has at most %d tests",
				   SCENARIO_MAX_TESTS);
	rc = make_room(reader, json_array_size(tests));
	json_array_foreach((json_t *)tests, index, test)
	{
		place.nth = (unsigned)index;
		if (rc == 0)
			rc = read_test(reader, common, test, &place);
	}
	return rc;
}

/* The list of tests, and where it stands; NULL: the scenario is one test. */
static const json_t *find_tests(const json_t *root, struct place *ret)
{
	json_t *value;

	json_object_foreach((json_t *)root, ret->key, value)
	{
		if (!strcasecmp(ret->key, "tests"))
			return value;
		ret->nth++;
	}
	return NULL;
}

/* What concerns the scenario as a whole, and no test has. */
static int check_common(struct reader *reader, const json_t *root, const struct place *top)
{
	struct request common = *reader->request;
	struct error why = { 0 };

	common.in_file = true;
	if (request_check_interval(&common, &why) || request_check_interfaces(&common, &why))
		return locate(reader, root, top, &why);
	return 0;
}

static int read_root(struct reader *reader, const json_t *root)
{
	const struct place top = { 0 };
	struct place tests_at = { .up = &top };
	const json_t *const tests = find_tests(root, &tests_at);
	struct draft *draft = calloc(1, sizeof(*draft));
	int rc;

	if (!draft)
		return error_set(reader->err, -ENOMEM, "no memory for a scenario");
	request_init(&draft->request);
	draft->request.in_file = true;
	draft->request.planning = reader->request->planning;
	rc = read_keys(reader, draft, root, &top, KEY_OF_SCENARIO);
	if (rc == 0)
		rc = check_common(reader, root, &top);
	if (rc == 0 && tests)
		rc = read_tests(reader, draft, tests, &tests_at);
	else if (rc == 0)
		rc = make_room(reader, 1);
	if (rc == 0 && !tests)
		rc = finish(reader, draft, root, &top);
	free(draft);
	return rc;
}

int scenario_read(struct scenario *ret, struct request *request, const struct request_host *host, struct error *err)
{
	const bool inline_text = *request->input_file == '{';
	struct reader reader = { .document = { .name = inline_text ? "-f" : request->input_file },
				 .request = request,
				 .host = host,
				 .scenario = ret,
				 .err = err };
	char *text = NULL;
	json_t *root = NULL;
	int rc = inline_text ? 0 : load_file(request->input_file, &text, err);

	reader.document.text = inline_text ? request->input_file : text;
	if (rc == 0)
		rc = load_json(reader.document.name, reader.document.text, &root, err);
	if (rc == 0)
		rc = read_root(&reader, root);
	json_decref(root);
	free(text);
	return rc;
}
