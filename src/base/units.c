/* Reads whole texts as numbers, sizes, times and rates without losing a digit, and writes them back. */
#include "base/units.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRACTION_DIGITS                                                                                                \
	18 /* those after them are below any unit's resolution; 10^18 times an hour in ns fits 128 bits */

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* What a kind of quantity accepts; units end with a null suffix. */
struct kind {
	const char *name, *allowed; /* "'12q' is not NAME: ALLOWED" */
	const char *unit; /* of limit, for the sentence */
	const struct unit *units;
	bool fractions;
	uint64_t limit;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "k", 1000 },
	{ "kb", 1000 },
	{ "kB", 1000 },
	{ "KB", 1000 },
	{ "m", 1000000 },
	{ "mb", 1000000 },
	{ "mB", 1000000 },
	{ "MB", 1000000 },
	{ "g", 1000000000 },
	{ "gb", 1000000000 },
	{ "gB", 1000000000 },
	{ "GB", 1000000000 },
	{ "K", 1 << 10 },
	{ "Ki", 1 << 10 },
	{ "M", 1 << 20 },
	{ "Mi", 1 << 20 },
	{ "G", 1 << 30 },
	{ "Gi", 1 << 30 },
	{ NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", 1000000000 },  { "ns", 1 },           { "us", 1000 },          { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", 60000000000u }, { "h", 3600000000000u }, { NULL, 0 },
};

static const struct unit rate_units[] = {
	{ "", 1 },           { "k", 1000 },           { "K", 1000 }, { "M", 1000000 },
	{ "G", 1000000000 }, { "T", 1000000000000u }, { NULL, 0 },
};

static const struct kind integer_kind = {
	.name = "a whole number",
	.allowed = "digits, or 0x and hexadecimal digits",
	.unit = "",
	.limit = UINT64_MAX,
};

static const struct kind real_kind = {
	.name = "a number",
	.allowed = "digits, with a decimal point where needed",
	.unit = "",
};

static const struct kind size_kind = {
	.name = "a size",
	.allowed =
		"a whole number of bytes, with K M G or Ki Mi Gi (steps of 1024), or k m g or kb mb gb (steps of 1000)",
	.unit = " bytes",
	.units = size_units,
	.limit = UINT64_MAX,
};

static const struct kind time_kind = {
	.name = "a time",
	.allowed = "a number with ns us ms s m or h; without one it means seconds",
	.unit = " ns",
	.units = time_units,
	.fractions = true,
	.limit = INT64_MAX,
};

static const struct kind rate_kind = {
	.name = "a rate",
	.allowed = "a number with k M G or T; without one it means bit/s",
	.unit = " bit/s",
	.units = rate_units,
	.fractions = true,
	.limit = UINT64_MAX,
};

static int not_one(const struct kind *kind, const char *text, struct error *err)
{
	return error_set(err, -EINVAL, "'%.60s' is not %s: %s", text, kind->name, kind->allowed);
}

static int too_large(const struct kind *kind, const char *text, struct error *err)
{
	if (!kind->limit)
		return error_set(err, -ERANGE, "'%.60s' is too large or too small for %s", text, kind->name);
	return error_set(err, -ERANGE, "'%.60s' is too large: at most %llu%s", text, (unsigned long long)kind->limit,
			 kind->unit);
}

/* A non-zero quantity that would become 0 is refused: zero often means "none" or "no limit". */
static int too_small(const struct kind *kind, const char *text, struct error *err)
{
	return error_set(err, -ERANGE, "'%.60s' is too small: at least 1%s, or 0", text, kind->unit);
}

/* Value of a digit in base 10 or 16, or -1. */
static int digit(char c, unsigned base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (base == 16 && c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *skip_digits(const char *at)
{
	while (digit(*at, 10) >= 0)
		at++;
	return at;
}

/* The digits at text as a number and where they end; false when they exceed 64 bits. */
static bool scan_whole(const char *text, unsigned base, uint64_t *value, const char **end)
{
	bool fits = true;

	*value = 0;
	for (; digit(*text, base) >= 0; text++)
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (unsigned)digit(*text, base), value))
			fits = false;
	*end = text;
	return fits;
}

int units_parse_int(const char *text, uint64_t *ret, struct error *err)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *const start = hex ? text + 2 : text;
	const char *end;
	uint64_t value;
	const bool fits = scan_whole(start, hex ? 16 : 10, &value, &end);

	if (end == start || *end)
		return not_one(&integer_kind, text, err);
	if (!fits)
		return too_large(&integer_kind, text, err);
	*ret = value;
	return 0;
}

/* Digits with at most one point that is followed by a digit; where they end, or text itself when there are none. */
static const char *skip_decimal(const char *text)
{
	const char *const end = skip_digits(text);

	if (*end != '.')
		return end;
	return digit(end[1], 10) >= 0 ? skip_digits(end + 1) : text;
}

static const char *skip_exponent(const char *at)
{
	const char *digits = at + 1;

	if (*at != 'e' && *at != 'E')
		return at;
	if (*digits == '+' || *digits == '-')
		digits++;
	return digit(*digits, 10) >= 0 ? skip_digits(digits) : at;
}

/* Whether a decimal text holds a digit other than 0 before its exponent. */
static bool decimal_nonzero(const char *text)
{
	return text[strspn(text, "0.")] >= '1' && text[strspn(text, "0.")] <= '9';
}

int units_parse_real(const char *text, double *ret, struct error *err)
{
	const char *const end = skip_decimal(text);
	char *stop;
	double value;

	if (end == text || *skip_exponent(end))
		return not_one(&real_kind, text, err);
	value = strtod(text, &stop);
	if (*stop)
		return not_one(&real_kind, text, err);
	if (!isfinite(value) || (value == 0 && decimal_nonzero(text)))
		return too_large(&real_kind, text, err);
	*ret = value;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
	for (; units->suffix; units++)
		if (!strcmp(units->suffix, suffix))
			return units;
	return NULL;
}

/* The part after the point times factor, to the nearest integer, without floating point. */
static uint64_t scale_fraction(const char *digits, uint64_t factor)
{
	uint64_t value = 0, divisor = 1;

	for (unsigned i = 0; i < FRACTION_DIGITS && digit(digits[i], 10) >= 0; i++) {
		value = value * 10 + (uint64_t)digit(digits[i], 10);
		divisor *= 10;
	}
	return (uint64_t)(((unsigned __int128)value * factor + divisor / 2) / divisor);
}

static int parse_quantity(const struct kind *kind, const char *text, uint64_t *ret, struct error *err)
{
	const char *const suffix = skip_decimal(text);
	const struct unit *const unit = suffix == text ? NULL : find_unit(kind->units, suffix);
	const char *end;
	uint64_t whole;
	const bool fits = scan_whole(text, 10, &whole, &end);
	unsigned __int128 value;

	if (!unit || (*end == '.' && !kind->fractions))
		return not_one(kind, text, err);
	value = (unsigned __int128)whole * unit->factor;
	if (*end == '.')
		value += scale_fraction(end + 1, unit->factor);
	if (!fits || value > kind->limit)
		return too_large(kind, text, err);
	if (value == 0 && decimal_nonzero(text))
		return too_small(kind, text, err);
	*ret = (uint64_t)value;
	return 0;
}

int units_parse_size(const char *text, uint64_t *ret, struct error *err)
{
	return parse_quantity(&size_kind, text, ret, err);
}

int units_parse_time(const char *text, int64_t *ret, struct error *err)
{
	uint64_t ns = 0;
	const int rc = parse_quantity(&time_kind, text, &ns, err);

	if (rc == 0)
		*ret = (int64_t)ns;
	return rc;
}

int units_parse_rate(const char *text, uint64_t *ret, struct error *err)
{
	return parse_quantity(&rate_kind, text, ret, err);
}

/* Units from the largest to the smallest, whose factor is 1; all are powers of ten. */
static char *format_exact(uint64_t value, const struct unit *unit, const char *sign, char *text)
{
	uint64_t rest, step;
	size_t len;

	while (unit->factor > 1 && unit->factor > value)
		unit++;
	len = (size_t)snprintf(text, UNITS_TEXT, "%s%llu", sign, (unsigned long long)(value / unit->factor));
	rest = value % unit->factor;
	if (rest)
		text[len++] = '.';
	for (step = unit->factor / 10; rest; step /= 10) {
		text[len++] = (char)('0' + rest / step);
		rest %= step;
	}
	snprintf(text + len, UNITS_TEXT - len, "%s", unit->suffix);
	return text;
}

char *units_format_size(uint64_t bytes, char *text)
{
	static const char *const suffix[] = { "", "Ki", "Mi", "Gi" };
	unsigned step = 0;

	while (bytes && step < 3 && bytes % 1024 == 0) {
		bytes /= 1024;
		step++;
	}
	snprintf(text, UNITS_TEXT, "%llu%s", (unsigned long long)bytes, suffix[step]);
	return text;
}

char *units_format_time(int64_t ns, char *text)
{
	static const struct unit units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };

	return format_exact(ns < 0 ? -(uint64_t)ns : (uint64_t)ns, units, ns < 0 ? "-" : "", text);
}

char *units_format_rate(uint64_t bits_per_second, char *text)
{
	static const struct unit units[] = {
		{ "T", 1000000000000u }, { "G", 1000000000 }, { "M", 1000000 }, { "k", 1000 }, { "", 1 },
	};

	return format_exact(bits_per_second, units, "", text);
}

char *units_format_figure(double value, char *text)
{
	char probe[UNITS_TEXT];
	long exponent;

	if (!isfinite(value) || value == 0) {
		snprintf(text, UNITS_TEXT, "%g", value == 0 ? 0.0 : value);
		return text;
	}
	/* The exponent after rounding to four digits, so that 9.9996 is 10.00 and not 10.000. */
	snprintf(probe, sizeof(probe), "%.3e", value);
	exponent = strtol(strchr(probe, 'e') + 1, NULL, 10);
	if (exponent < -15 || exponent > 20)
		snprintf(text, UNITS_TEXT, "%.3e", value);
	else
		snprintf(text, UNITS_TEXT, "%.*f", exponent < 3 ? (int)(3 - exponent) : 0, value);
	return text;
}
