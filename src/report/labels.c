/* Short names for the endpoints of a table: what all hosts' names begin with is left out, the device stands by itself. */
#include "report/labels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct endpoint *end_at(const struct labels *labels, uint32_t row)
{
	return &labels->plan->endpoint[labels->endpoint[row]];
}

static const char *name_at(const struct labels *labels, uint32_t row)
{
	return labels->plan->host[end_at(labels, row)->host].name;
}

const char *labels_host(const struct labels *labels, uint32_t row)
{
	return name_at(labels, row) + labels->prefix;
}

const char *labels_device(const struct labels *labels, uint32_t row, char *ret)
{
	const struct endpoint *const end = end_at(labels, row);
	const char *const device = labels->plan->device[end->device];

	if (end->gpu == PLAN_NO_GPU)
		snprintf(ret, PLAN_LABEL, "%s", device);
	else
		snprintf(ret, PLAN_LABEL, "%s%sgpu%u", device, *device ? ":" : "", end->gpu);
	return ret;
}

const char *labels_left_out(const struct labels *labels, char *ret)
{
	*ret = '\0';
	if (labels->prefix)
		snprintf(ret, PLAN_LABEL, "%.*s*", (int)labels->prefix, name_at(labels, 0));
	return ret;
}

/* What all names begin with, numbers left whole; nothing when that would be a whole name. */
static size_t common_prefix(const struct labels *labels)
{
	const char *const first = labels->count ? name_at(labels, 0) : "";
	size_t len = strlen(first);

	for (uint32_t i = 1; i < labels->count; i++) {
		const char *const name = name_at(labels, i);
		size_t same = 0;

		while (same < len && name[same] == first[same])
			same++;
		len = same;
	}
	for (uint32_t i = 0; i < labels->count; i++)
		if (!name_at(labels, i)[len])
			return 0;
	while (len && isdigit((unsigned char)first[len - 1]))
		len--;
	return len;
}

static void widen(int *width, const char *text)
{
	if ((int)strlen(text) > *width)
		*width = (int)strlen(text);
}

void labels_init(struct labels *ret, const struct plan *plan, const uint32_t *endpoint, uint32_t count)
{
	char device[PLAN_LABEL];

	*ret = (struct labels){ .plan = plan, .endpoint = endpoint, .count = count };
	ret->prefix = common_prefix(ret);
	for (uint32_t i = 0; i < count; i++) {
		widen(&ret->host_width, labels_host(ret, i));
		widen(&ret->device_width, labels_device(ret, i, device));
	}
}
