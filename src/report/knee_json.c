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
	tree_put(&object, "bufferLimitBytes", tree_real(of->limit));
	tree_put(&object, "secondCalm", json_boolean(of->calm));
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
	tree_put(&object, "bufferLimitBytes", knee->estimates ? tree_real(knee->limit.median) : json_null());
	put_range(&object, "bufferLimitBytesLow95", "bufferLimitBytesHigh95", &knee->limit);
	tree_put(&object, "bufferPayloadBytes", tree_real(knee->limit.median * knee->payload / knee->frame));
	tree_put(&object, "points", points);
	return object;
}

static json_t *text_of(const struct share *share)
{
	static const char *const kinds[] = {
		[SHARE_UNCLEAR] = "unclear", [SHARE_STATIC] = "static", [SHARE_DYNAMIC] = "dynamic"
	};

	return json_string(kinds[share->kind]);
}

static void put_share(json_t **object, const struct share *share)
{
	tree_put(object, "limitKind", text_of(share));
	tree_put(object, "limitUnclear", share->why ? json_string(share->why) : json_null());
	tree_put(object, "limitRatio", tree_real(share->ratio.median));
	put_range(object, "limitRatioLow95", "limitRatioHigh95", &share->ratio);
	tree_put(object, "poolBytes", tree_real(share->pool.median));
	put_range(object, "poolBytesLow95", "poolBytesHigh95", &share->pool);
	tree_put(object, "alpha", tree_real(share->alpha.median));
	put_range(object, "alphaLow95", "alphaHigh95", &share->alpha);
}

char *report_knee_json(const struct knees *knees, struct outcome *outcome)
{
	json_t *root = report_many_tree(outcome, &outcome->scratch), *knee;
	char *text;

	if (knees->one.points) { /* else the first round has failed */
		knee = knee_part(&knees->one);
		if (knees->two.points) {
			put_share(&knee, &knees->share);
			tree_put(&knee, "besideSecondIncast", knee_part(&knees->two));
		}
		tree_put(&root, "knee", knee);
	}
	text = root ? tree_print(root) : NULL;
	json_decref(root);
	return text;
}
