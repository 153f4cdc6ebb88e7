/* Where loss begins as JSON: the object 'knee' of a result document. */
#include "report/knee.h"
#include "report/many.h"
#include "report/tree.h"

#include <math.h>

static json_t *point(const struct knee *knee, const struct knee_point *of)
{
	const double sent = (double)of->sent;
	json_t *object = json_object();

	tree_put(&object, "burstSize", tree_count(of->messages));
	tree_put(&object, "burstBytes", tree_real((double)of->messages * knee->connections * knee->frame));
	tree_put(&object, "sent", tree_count(of->sent));
	tree_put(&object, "lost", tree_count(of->lost));
	tree_put(&object, "lostPercent", of->sent ? tree_real(100 * (double)of->lost / sent) : json_null());
	tree_put(&object, "modelLostPercent", tree_real(100 * of->predicted));
	tree_put(&object, "bufferBytes", tree_real(of->limit));
	return object;
}

static void put_range(json_t **object, const char *low, const char *high, const struct infer_range *range)
{
	tree_put(object, low, tree_real(range->low));
	tree_put(object, high, tree_real(range->high));
}

static json_t *knee_part(const struct knee *knee)
{
	json_t *object = json_object(), *points = json_array();

	for (uint32_t i = 0; i < knee->points; i++)
		tree_append(&points, point(knee, &knee->point[i]));
	tree_put(&object, "connections", tree_real(knee->connections));
	tree_put(&object, "frameBytes", tree_real(knee->frame));
	tree_put(&object, "burstsLastAsLinkRate", json_boolean(knee->slow));
	tree_put(&object, "cleanMessages", knee->clean ? tree_count(knee->clean) : json_null());
	tree_put(&object, "lossyMessages", knee->lossy ? tree_count(knee->lossy) : json_null());
	tree_put(&object, "kneeMessages", tree_real(knee->messages.median));
	put_range(&object, "kneeMessagesLow95", "kneeMessagesHigh95", &knee->messages);
	tree_put(&object, "estimates", json_integer(knee->estimates));
	tree_put(&object, "bufferBytes", knee->estimates ? tree_real(knee->limit.median) : json_null());
	put_range(&object, "bufferBytesLow95", "bufferBytesHigh95", &knee->limit);
	tree_put(&object, "bufferPayloadBytes", tree_real(knee->limit.median * knee->payload / knee->frame));
	tree_put(&object, "points", points);
	return object;
}

char *report_knee_json(const struct knee *knee, struct outcome *outcome)
{
	json_t *root = report_many_tree(outcome, &outcome->scratch);
	char *text;

	if (knee->points) /* else the first round has failed */
		tree_put(&root, "knee", knee_part(knee));
	text = root ? tree_print(root) : NULL;
	json_decref(root);
	return text;
}
