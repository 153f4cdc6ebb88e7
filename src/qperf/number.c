/* Formats numbers as qperf does: the digits that matter, the unit that fits. */
#include "qperf/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNITS_MAX 6

/* From the smallest unit up; first is what 1 of the value is in it. */
static const struct scale {
	double first;
	const char *name[UNITS_MAX];
} scales[] = {
	[UNIT_NONE] = { 1, { "", NULL } },
	[UNIT_BANDWIDTH] = { 1, { "bytes/sec", "KB/sec", "MB/sec", "GB/sec", "TB/sec", NULL } },
	[UNIT_TIME] = { 1e9, { "ns", "us", "ms", "sec", NULL } },
	[UNIT_RATE] = { 1, { "/sec", "K/sec", "M/sec", "G/sec", "T/sec", NULL } },
	[UNIT_SIZE] = { 1, { "bytes", "KB", "MB", "GB", "TB", NULL } },
	[UNIT_COST] = { 1e18, { "ns/GB", "us/GB", "ms/GB", "sec/GB", NULL } },
	[UNIT_CPUS] = { 100, { "% cpus", NULL } },
};
static const struct scale bits = { 8, { "bits/sec", "Kb/sec", "Mb/sec", "Gb/sec", "Tb/sec", NULL } };
static const char *const counts[] = { "million", "billion", "trillion", NULL };
static const char *const binary[] = { "bytes", "KiB", "MiB", "GiB", "TiB", NULL };

/* Puts a comma between each three digits in front of the point. */
static void add_commas(char *text)
{
	char plain[QPERF_NUMBER];
	const size_t whole = strcspn(text, ".");
	size_t at = 0;

	snprintf(plain, sizeof(plain), "%s", text);
	for (size_t i = 0; plain[i] && at < QPERF_NUMBER - 2; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = plain[i];
	}
	text[at] = '\0';
}

static void strip_zeros(char *text)
{
	size_t len = strlen(text);

	if (!strchr(text, '.'))
		return;
	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[len - 1] = '\0';
}

/* Digits in front of the point of the value as it will be rounded. */
static int whole_digits(double value)
{
	char text[QPERF_NUMBER];

	return snprintf(text, sizeof(text), "%.0f", value);
}

static void digits(double value, const struct qperf_format *format, char ret[QPERF_NUMBER])
{
	const int after = (int)format->precision - whole_digits(value);

	snprintf(ret, QPERF_NUMBER, "%.*f", after > 0 ? after : 0, value);
	strip_zeros(ret);
	if (!format->unify)
		add_commas(ret);
}

/* A size that is less than 1024 of a unit of 1024s, without a rest. */
static bool is_binary(double value, unsigned *ret_power, double *ret_value)
{
	*ret_power = 0;
	while (value >= 1024 && fmod(value, 1024) == 0 && binary[*ret_power + 1]) {
		value /= 1024;
		++*ret_power;
	}
	*ret_value = value;
	return *ret_power > 0 && value < 1024;
}

static void whole_count(double value, const struct qperf_format *format, char ret[QPERF_NUMBER], const char **ret_unit)
{
	unsigned power = 0;

	*ret_unit = "";
	if (format->unify || value < 1e6) {
		snprintf(ret, QPERF_NUMBER, "%.0f", value);
		if (!format->unify)
			add_commas(ret);
		return;
	}
	for (value /= 1e6; value >= 1000 && counts[power + 1]; value /= 1000)
		power++;
	digits(value, format, ret);
	*ret_unit = counts[power];
}

void qperf_number_format(double value, enum qperf_unit unit, const struct qperf_format *format, char ret[QPERF_NUMBER],
			 const char **ret_unit, char ret_note[QPERF_NUMBER])
{
	const struct scale *scale = unit == UNIT_BANDWIDTH && format->bits ? &bits : &scales[unit];
	unsigned power = 0;
	double small;

	ret_note[0] = '\0';
	if (unit == UNIT_NONE) {
		whole_count(value, format, ret, ret_unit);
		return;
	}
	if (unit == UNIT_SIZE && !format->unify && is_binary(value, &power, &small)) {
		digits(small, format, ret);
		*ret_unit = binary[power];
		snprintf(ret_note, QPERF_NUMBER, "%.0f", value);
		add_commas(ret_note);
		return;
	}
	power = 0;
	value *= scale->first;
	for (; !format->unify && value >= 1000 && scale->name[power + 1]; value /= 1000)
		power++;
	digits(value, format, ret);
	*ret_unit = scale->name[power];
}
