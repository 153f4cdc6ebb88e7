/* Says in words what the values of an option may be, from its row: for refusals and for the help. */
#include "base/units.h"
#include "spec/option.h"

#include <stdio.h>
#include <string.h>

static unsigned offered(const char *const *names, uint32_t mask)
{
	unsigned count = 0;

	for (unsigned i = 0; names[i]; i++)
		count += *names[i] && (mask & (1u << i));
	return count;
}

char *option_names(const char *const *names, uint32_t mask, char *ret)
{
	const unsigned count = offered(names, mask);
	unsigned nth = 0;
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; names[i]; i++) {
		const char *join = "";

		if (!*names[i] || !(mask & (1u << i)))
			continue;
		if (nth)
			join = nth + 1 == count ? " or " : ", ";
		nth++;
		len += (size_t)snprintf(ret + len, OPTION_VALUE_MAX - len, "%s%s", join, names[i]);
	}
	return ret;
}

/* A limit of a row's range with its unit's suffix. */
static const char *limit(const struct option_row *row, double value, char *ret)
{
	if (row->type == OPTION_SIZE)
		return units_format_size((uint64_t)value, ret);
	if (row->type == OPTION_TIME && value > 0)
		return units_format_time((int64_t)value, ret);
	if (row->type == OPTION_RATE)
		return units_format_rate((uint64_t)value, ret);
	if (row->type == OPTION_INT)
		snprintf(ret, UNITS_TEXT, "%llu", (unsigned long long)value);
	else
		snprintf(ret, UNITS_TEXT, "%.15g", value);
	return ret;
}

static char *range(const struct option_row *row, char *ret)
{
	char min[UNITS_TEXT], max[UNITS_TEXT], numbers[OPTION_VALUE_MAX];
	const char *const unit = row->type == OPTION_TIME ? "" : row->unit;
	const char *const or_auto = row->flags & OPTION_AUTO ? " or auto" : "";

	if (row->names)
		snprintf(ret, OPTION_VALUE_MAX, "%.200s%s%s%s", option_names(row->names, UINT32_MAX, numbers),
			 *unit ? " " : "", unit, or_auto);
	else
		snprintf(ret, OPTION_VALUE_MAX, "%s to %s%s%s%s", limit(row, row->min, min), limit(row, row->max, max),
			 *unit ? " " : "", unit, or_auto);
	return ret;
}

char *option_allowed(const struct option_row *row, char *ret)
{
	const bool may_auto = row->flags & OPTION_AUTO;

	switch (row->type) {
	case OPTION_FLAG:
		return strcpy(ret, "on or off");
	case OPTION_CHOICE:
		return strcpy(ret, may_auto ? "on, off or auto" : "on or off");
	case OPTION_ENUM:
		return option_names(row->names, UINT32_MAX, ret);
	case OPTION_TEXT:
		snprintf(ret, OPTION_VALUE_MAX, "a text of 1 to %zu bytes", row->size - 1);
		return ret;
	case OPTION_WORD:
		return strcpy(ret, "a text");
	case OPTION_CORES:
		return strcpy(ret, "a list of cores as 5 or 5,7 or 5-9");
	case OPTION_LOAD:
		return strcpy(ret,
			      "bit/s with k M G T, or messages/s with pps behind it, as 10G or 50kpps, at most 1000T");
	case OPTION_PERCENTILES:
		return strcpy(ret, "an ascending list of numbers above 0 up to 100, as 50,99,99.9");
	case OPTION_OPERATIONS:
		return strcpy(ret, "a list of verb:size, as write:64Ki,send:4Ki,atomic_fa:8, of at most 16");
	default:
		return range(row, ret);
	}
}
