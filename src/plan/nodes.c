/* Reads testNodes: hosts, devices and GPUs of each entry, checked where they stand. */
#include "plan/nodes.h"

#include "base/error.h"
#include "plan/keys.h"
#include "spec/legal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node_reader {
	const struct document *document;
	struct request *request;
	struct error *err;
};

static int keep(const struct node_reader *reader, const struct place *place, const char *text,
		int (*check)(const char *list, struct error *err), char **ret)
{
	struct error why = { 0 };

	if (*ret)
		return place_error(reader->document, place, true, reader->err, "%.60s is there twice", place->key);
	if (check(text, &why))
		return place_error(reader->document, place, false, reader->err, "%.60s: %s", place->key, why.text);
	*ret = strdup(text);
	return *ret ? 0 : error_set(reader->err, -ENOMEM, "no memory for a scenario");
}

/* Lists of names may be longer than any other value. */
static int read_name(const struct node_reader *reader, const struct place *place, const json_t *value,
		     int (*check)(const char *list, struct error *err), char **ret)
{
	if (!json_is_string(value) || !json_string_length(value))
		return place_error(reader->document, place, false, reader->err, "%.60s is a text, as \"%s\"",
				   place->key, check == scenario_check_hosts ? "node[1-4]" : "mlx5_[0,1]");
	return keep(reader, place, json_string_value(value), check, ret);
}

static int read_gpu(const struct node_reader *reader, const struct place *place, const json_t *value, char **ret)
{
	const int row = ROW(spec.gpu);
	char text[JSON_TEXT_MAX];
	struct error why = { 0 };
	int rc = json_text(reader->document, place, value, text, reader->err);

	if (rc == 0)
		rc = keep(reader, place, text, scenario_check_gpus, ret);
	if (rc == 0 && !option_given(reader->request, row) &&
	    option_set(reader->request, row, "cudaDeviceId", "0", &why))
		rc = place_error(reader->document, place, false, reader->err, "%s", why.text);
	return rc;
}

static int read_member(const struct node_reader *reader, const struct place *place, const json_t *value,
		       struct scenario_node *node)
{
	struct key key;
	const int rc = key_find(reader->document, place, KEY_OF_NODE, &key, reader->err);

	if (rc)
		return rc;
	switch (key.special) {
	case KEY_HOST:
		return read_name(reader, place, value, scenario_check_hosts, &node->hosts);
	case KEY_DEVICE:
		return read_name(reader, place, value, scenario_check_devices, &node->devices);
	case KEY_GPU:
		return read_gpu(reader, place, value, &node->gpus);
	default:
		return 0;
	}
}

/* GPUs of the test itself, for nodes that name none. */
static int inherit_gpus(const struct node_reader *reader, const char *list, struct scenario_node *node)
{
	if (node->gpus || !*list)
		return 0;
	node->gpus = strdup(list);
	return node->gpus ? 0 : error_set(reader->err, -ENOMEM, "no memory for a scenario");
}

static int read_node(const struct node_reader *reader, const struct place *at, const json_t *object, const char *gpus,
		     struct scenario_node *node)
{
	struct place place = { .up = at };
	struct error why = { 0 };
	json_t *value;

	if (!json_is_object(object))
		return place_error(reader->document, at, false, reader->err,
				   "an entry of testNodes is an object: {\"hostName\": ..., \"deviceName\": ...}");
	json_object_foreach((json_t *)object, place.key, value)
	{
		if (read_member(reader, &place, value, node))
			return -EINVAL;
		place.nth++;
	}
	if (!node->hosts)
		return place_error(reader->document, at, false, reader->err, "hostName is missing");
	if (inherit_gpus(reader, gpus, node))
		return -ENOMEM;
	if (scenario_check_node(node, &why))
		return place_error(reader->document, at, false, reader->err, "%s", why.text);
	return 0;
}

int read_nodes(const struct document *document, const struct place *place, const json_t *list, struct request *request,
	       struct scenario_test *test, struct error *err)
{
	const struct node_reader reader = { .document = document, .request = request, .err = err };
	struct place inner = { .up = place };
	char gpus[SPEC_TEXT];
	json_t *node;
	size_t index;

	snprintf(gpus, sizeof(gpus), "%s", request->gpu_list);
	if (!*gpus && request->spec.gpu != SPEC_AUTO)
		snprintf(gpus, sizeof(gpus), "%" PRIu64, request->spec.gpu);
	if (json_array_size(list) > SCENARIO_MAX_NODES)
		return place_error(document, place, false, err, "testNodes has at most %d entries", SCENARIO_MAX_NODES);
	test->node = calloc(json_array_size(list), sizeof(*test->node));
	if (!test->node)
		return error_set(err, -ENOMEM, "no memory for a scenario");
	test->nodes = (uint32_t)json_array_size(list);
	json_array_foreach((json_t *)list, index, node)
	{
		inner.nth = (unsigned)index;
		if (read_node(&reader, &inner, node, gpus, &test->node[index]))
			return -EINVAL;
	}
	return 0;
}
