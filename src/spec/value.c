/* Reads and writes the value of one option by its type, with its range, and says in words what is allowed. */
#include "spec/value.h"

#include "base/error.h"
#include "base/near.h"
#include "base/units.h"
#include "spec/spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHOWN 80 /* bytes of a wrong value that a sentence repeats */

struct type_ops {
	int (*parse)(const struct option_row *row, const char *text, void *field, struct error *err);
	char *(*format)(const struct option_row *row, const void *field, char *ret, size_t size);
};

static int not_allowed(const struct option_row *row, const char *text, struct error *err)
{
	char allowed[OPTION_VALUE_MAX];

	return error_set(err, -EINVAL, "'%.*s' is not %s", SHOWN, text, option_allowed(row, allowed));
}

static int out_of_range(const struct option_row *row, const char *text, struct error *err)
{
	char allowed[OPTION_VALUE_MAX];

	return error_set(err, -ERANGE, "'%.*s' is out of range: %s", SHOWN, text, option_allowed(row, allowed));
}

/*
 * A number without suffix in a row that has one of its own gets it; whole of UNITS_TEXT bytes. -EINVAL: it has more digits than
 * any number needs, and must not be read in another unit for that.
 */
static int with_suffix(const struct option_row *row, const char *text, char *whole, const char **ret, struct error *err)
{
	const size_t len = strlen(text);

	*ret = text;
	if (!row->bare || !len || !strchr("0123456789.", text[len - 1]))
		return 0;
	if (len + strlen(row->bare) >= UNITS_TEXT)
		return error_set(err, -EINVAL, "'%.*s' has too many digits: at most %zu are allowed", SHOWN, text,
				 UNITS_TEXT - strlen(row->bare) - 1);
	stpcpy(stpcpy(whole, text), row->bare);
	*ret = whole;
	return 0;
}

/* What is none gets the sentence of its row, where that has a unit of its own. */
static int none_of_row(const struct option_row *row, int rc, const char *text, struct error *err)
{
	if (rc != -EINVAL || !row->bare)
		return rc;
	error_clear(err);
	return error_set(err, rc, "'%.*s' is not a %s; without one it means %s%s", SHOWN, text,
			 row->type == OPTION_RATE ? "rate: a number with k M G or T"
						  : "time: a number with ns us ms s m or h",
			 row->bare, row->type == OPTION_RATE ? "bit/s" : "");
}

/* --- numbers of 64 bits: int, size, rate --- */

static int number_from(const struct option_row *row, const char *text, uint64_t *ret, struct error *err)
{
	char whole[UNITS_TEXT];
	int rc;

	if (row->type == OPTION_SIZE)
		return units_parse_size(text, ret, err);
	if (row->type != OPTION_RATE)
		return units_parse_int(text, ret, err);
	rc = with_suffix(row, text, whole, &text, err);
	return rc ? rc : none_of_row(row, units_parse_rate(text, ret, err), text, err);
}

static char *number_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	char text[UNITS_TEXT];
	uint64_t value;

	memcpy(&value, field, sizeof(value));
	if (value == SPEC_AUTO)
		snprintf(ret, size, "auto");
	else if (row->type == OPTION_SIZE)
		snprintf(ret, size, "%s", units_format_size(value, text));
	else if (row->type == OPTION_RATE && row->bare && value && value < 1000) /* it needs a suffix to be read back */
		snprintf(ret, size, "0.%03uk", (unsigned)value);
	else if (row->type == OPTION_RATE)
		snprintf(ret, size, "%s", units_format_rate(value, text));
	else
		snprintf(ret, size, "%" PRIu64, value);
	return ret;
}

/* Whether a row that lists its legal numbers has this one. */
static bool number_listed(const struct option_row *row, uint64_t value)
{
	char text[UNITS_TEXT];

	if (!row->names)
		return true;
	snprintf(text, sizeof(text), "%" PRIu64, value);
	for (const char *const *name = row->names; *name; name++)
		if (!strcmp(*name, text))
			return true;
	return false;
}

static int number_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	uint64_t value = SPEC_AUTO;

	if (!(row->flags & OPTION_AUTO) || strcasecmp(text, "auto") != 0) {
		const int rc = number_from(row, text, &value, err);

		if (rc)
			return rc;
		if ((double)value < row->min || (double)value > row->max || !number_listed(row, value))
			return out_of_range(row, text, err);
	}
	memcpy(field, &value, sizeof(value));
	return 0;
}

/* --- load --- */

static int load_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	static const char suffix[] = "pps";
	const size_t len = strlen(text), tail = sizeof(suffix) - 1;
	struct load load = { .in_messages = len > tail && !strcasecmp(text + len - tail, suffix) };
	char number[UNITS_TEXT];

	snprintf(number, sizeof(number), "%.*s", (int)(load.in_messages ? len - tail : len), text);
	if (len - tail * load.in_messages >= sizeof(number) || units_parse_rate(number, &load.per_second, NULL))
		return not_allowed(row, text, err);
	if ((double)load.per_second > row->max)
		return out_of_range(row, text, err);
	memcpy(field, &load, sizeof(load));
	return 0;
}

static char *load_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	char text[UNITS_TEXT];
	struct load load;

	(void)row;
	memcpy(&load, field, sizeof(load));
	snprintf(ret, size, "%s%s", units_format_rate(load.per_second, text), load.in_messages ? "pps" : "");
	return ret;
}

/* --- time and real --- */

static int time_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	char whole[UNITS_TEXT];
	const char *number;
	int64_t value;
	int rc = with_suffix(row, text, whole, &number, err);

	rc = rc ? rc : none_of_row(row, units_parse_time(number, &value, err), text, err);
	if (rc)
		return rc;
	if ((double)value < row->min || (double)value > row->max)
		return out_of_range(row, text, err);
	memcpy(field, &value, sizeof(value));
	return 0;
}

static char *time_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	char text[UNITS_TEXT];
	int64_t value;

	(void)row;
	memcpy(&value, field, sizeof(value));
	snprintf(ret, size, "%s", value ? units_format_time(value, text) : "0");
	return ret;
}

static int real_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	double value;
	const int rc = units_parse_real(text, &value, err);

	if (rc)
		return rc;
	if (value < row->min || value > row->max)
		return out_of_range(row, text, err);
	memcpy(field, &value, sizeof(value));
	return 0;
}

/* The shortest text that is read back as the same number. */
static char *real_text(double value, char *ret, size_t size)
{
	double back = 0;

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(ret, size, "%.*g", digits, value);
		if (units_parse_real(ret, &back, NULL) == 0 && !(back < value) && !(back > value))
			break;
	}
	return ret;
}

static char *real_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	double value;

	(void)row;
	memcpy(&value, field, sizeof(value));
	return real_text(value, ret, size);
}

/* --- words: flag, choice, enum --- */

/* CHOICE_ON or CHOICE_OFF for the words that mean them, CHOICE_AUTO for any other. */
static enum choice on_or_off(const char *text)
{
	static const char *const on[] = { "on", "enable", "true", "yes" }, *const off[] = { "off", "disable", "false",
											    "no" };

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		if (!strcasecmp(text, on[i]))
			return CHOICE_ON;
		if (!strcasecmp(text, off[i]))
			return CHOICE_OFF;
	}
	return CHOICE_AUTO;
}

static int flag_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	const enum choice choice = on_or_off(text);
	const bool value = choice == CHOICE_ON;

	if (choice == CHOICE_AUTO)
		return not_allowed(row, text, err);
	memcpy(field, &value, sizeof(value));
	return 0;
}

static char *flag_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	bool value;

	(void)row;
	memcpy(&value, field, sizeof(value));
	snprintf(ret, size, "%s", value ? "on" : "off");
	return ret;
}

static int choice_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	const uint32_t value = on_or_off(text);

	if (value == CHOICE_AUTO && !((row->flags & OPTION_AUTO) && !strcasecmp(text, "auto")))
		return not_allowed(row, text, err);
	memcpy(field, &value, sizeof(value));
	return 0;
}

static char *choice_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	static const char *const words[] = { "auto", "on", "off" };
	uint32_t value;

	(void)row;
	memcpy(&value, field, sizeof(value));
	snprintf(ret, size, "%s", value <= CHOICE_OFF ? words[value] : "?");
	return ret;
}

static int enum_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	for (uint32_t i = 0; row->names[i]; i++) {
		if (*row->names[i] && near_same(text, row->names[i])) {
			memcpy(field, &i, sizeof(i));
			return 0;
		}
	}
	return not_allowed(row, text, err);
}

static char *enum_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	uint32_t value, count = 0;

	memcpy(&value, field, sizeof(value));
	while (row->names[count])
		count++;
	snprintf(ret, size, "%s", value < count ? row->names[value] : "?");
	return ret;
}

/* --- percentiles --- */

/* Reads one item of a comma list and moves *at behind it. */
static int percentile_parse(const struct option_row *row, const char **at, double *ret, struct error *err)
{
	char item[UNITS_TEXT];
	const size_t len = strcspn(*at, ",");
	int rc;

	if (len >= sizeof(item))
		return not_allowed(row, *at, err);
	memcpy(item, *at, len);
	item[len] = '\0';
	*at += len;
	rc = units_parse_real(item, ret, err);
	if (rc)
		return rc;
	if (*ret <= row->min || *ret > row->max)
		return out_of_range(row, item, err);
	return 0;
}

static int percentiles_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	double values[SPEC_MAX_PERCENTILES] = { 0 }, value;
	const char *at = text;

	for (unsigned count = 0;; count++, at++) {
		const int rc = percentile_parse(row, &at, &value, err);

		if (rc)
			return rc;
		if (count == SPEC_MAX_PERCENTILES)
			return error_set(err, -EINVAL, "more than %d percentiles", SPEC_MAX_PERCENTILES);
		if (count && value <= values[count - 1])
			return error_set(err, -EINVAL, "'%.*s' is not in ascending order", SHOWN, text);
		values[count] = value;
		if (!*at)
			break;
	}
	memcpy(field, values, sizeof(values));
	return 0;
}

static char *percentiles_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	double values[SPEC_MAX_PERCENTILES];
	char item[UNITS_TEXT];
	size_t len = 0;

	(void)row;
	memcpy(values, field, sizeof(values));
	ret[0] = '\0';
	for (unsigned i = 0; i < SPEC_MAX_PERCENTILES && values[i] > 0 && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s%s", i ? "," : "",
					real_text(values[i], item, sizeof(item)));
	return ret;
}

/* --- all --- */

static const struct type_ops types[] = {
	[OPTION_FLAG] = { flag_parse, flag_format },
	[OPTION_CHOICE] = { choice_parse, choice_format },
	[OPTION_INT] = { number_parse, number_format },
	[OPTION_SIZE] = { number_parse, number_format },
	[OPTION_RATE] = { number_parse, number_format },
	[OPTION_LOAD] = { load_parse, load_format },
	[OPTION_TIME] = { time_parse, time_format },
	[OPTION_REAL] = { real_parse, real_format },
	[OPTION_ENUM] = { enum_parse, enum_format },
	[OPTION_TEXT] = { value_parse_text, value_format_text },
	[OPTION_WORD] = { value_parse_word, value_format_word },
	[OPTION_CORES] = { value_parse_cores, value_format_text },
	[OPTION_PERCENTILES] = { percentiles_parse, percentiles_format },
	[OPTION_OPERATIONS] = { value_parse_ops, value_format_ops },
};

int value_parse(const struct option_row *row, const char *text, void *field, struct error *err)
{
	return types[row->type].parse(row, text, field, err);
}

char *value_format(const struct option_row *row, const void *field, char *ret, size_t size)
{
	return types[row->type].format(row, field, ret, size);
}

bool value_equal(const struct option_row *row, const void *a, const void *b)
{
	if (row->type == OPTION_TEXT || row->type == OPTION_CORES)
		return !strncmp(a, b, row->size);
	if (row->type == OPTION_WORD)
		return value_equal_words(a, b);
	return !memcmp(a, b, row->size);
}
