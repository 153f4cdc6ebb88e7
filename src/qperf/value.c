/* Values on a qperf command line: counts, sizes, times and loops, with qperf's suffixes and sentences. */
#include "base/units.h"
#include "qperf/line.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DAY_S      86400.0
#define TIME_MAX_S 31536000.0 /* a year */

static int negative(const char *word, struct error *err)
{
	return error_set(err, -EINVAL, "%s requires a non-negative number", word);
}

int qperf_parse_count(const char *word, const char *text, uint32_t *ret, struct error *err)
{
	uint64_t value;

	if (text[0] == '-')
		return negative(word, err);
	if (!isdigit((unsigned char)text[0]) || strpbrk(text, "xX") || units_parse_int(text, &value, NULL))
		return error_set(err, -EINVAL, "bad argument: %.60s", text);
	if (value > UINT32_MAX)
		return error_set(err, -ERANGE, "bad argument: %.60s: at most %u", text, UINT32_MAX);
	*ret = (uint32_t)value;
	return 0;
}

/* "0x" and its digits: a whole number; their length, 0 when there are none. */
static size_t hex_number(const char *text, double *ret)
{
	const size_t len = 2 + strspn(text + 2, "0123456789abcdefABCDEF");
	char digits[20];
	uint64_t value;

	if (len >= sizeof(digits))
		return 0;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (units_parse_int(digits, &value, NULL))
		return 0;
	*ret = (double)value;
	return len;
}

/* "e" and its digits: their length, 0 when there are none. */
static size_t exponent(const char *text)
{
	const size_t mark = text[0] == 'e' || text[0] == 'E';
	const size_t sign = mark && (text[1] == '+' || text[1] == '-');
	const size_t digits = mark ? strspn(text + mark + sign, "0123456789") : 0;

	return digits ? mark + sign + digits : 0;
}

static size_t decimal_number(const char *text, double *ret)
{
	char digits[64];
	const size_t whole = strspn(text, "0123456789."), power = exponent(text + whole), len = whole + power;
	const bool open = !power && whole > 1 && text[whole - 1] == '.'; /* "5." is 5 */

	if (!whole || len >= sizeof(digits))
		return 0;
	memcpy(digits, text, len);
	digits[len - open] = '\0';
	return units_parse_real(digits, ret, NULL) ? 0 : len;
}

/* The number in front of a suffix, as C writes it: its length, 0 when there is none. */
static size_t number(const char *text, double *ret)
{
	const size_t sign = text[0] == '+';
	const char *digits = text + sign;
	const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	const size_t len = hex ? hex_number(digits, ret) : decimal_number(digits, ret);

	return len ? sign + len : 0;
}

/* 64K is 65,536 and 64k 64,000: qperf's suffixes tell letters' cases apart. */
static const struct suffix {
	const char *text;
	double factor;
} suffixes[] = {
	{ "", 1 },          { "k", 1e3 },        { "kb", 1e3 },         { "m", 1e6 },    { "mb", 1e6 },
	{ "g", 1e9 },       { "gb", 1e9 },       { "K", 1024 },         { "kib", 1024 }, { "M", 1048576 },
	{ "mib", 1048576 }, { "G", 1073741824 }, { "gib", 1073741824 },
};

int qperf_parse_size(const char *word, const char *text, double *ret, struct error *err)
{
	double value;
	const size_t len = number(text, &value);

	if (text[0] == '-')
		return negative(word, err);
	for (size_t i = 0; len && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strcmp(text + len, suffixes[i].text))
			continue;
		value = floor(value * suffixes[i].factor);
		if (value > UINT32_MAX)
			return error_set(err, -ERANGE, "%s: bad size: %.60s: less than 4 GiB", word, text);
		*ret = value;
		return 0;
	}
	return error_set(err, -EINVAL, "%s: bad size: %.60s", word, text);
}

int qperf_parse_time(const char *word, const char *text, uint64_t *ret_ns, struct error *err)
{
	double value, unit = 1;
	const size_t len = number(text, &value);
	const char suffix = len ? (char)tolower((unsigned char)text[len]) : 'x';

	if (text[0] == '-')
		return negative(word, err);
	if (suffix == 'm')
		unit = 60;
	else if (suffix == 'h')
		unit = 3600;
	else if (suffix == 'd')
		unit = DAY_S;
	else if (suffix && suffix != 's')
		return error_set(err, -EINVAL, "bad argument: %.60s", text);
	if (suffix && text[len + 1])
		return error_set(err, -EINVAL, "bad argument: %.60s", text);
	if (value * unit > TIME_MAX_S)
		return error_set(err, -ERANGE, "bad argument: %.60s: at most a year", text);
	*ret_ns = (uint64_t)(value * unit * 1e9 + 0.5);
	return 0;
}

/* Var, Init, Last, Incr: four fields between colons, of which the first two may be empty. */
struct fields {
	char text[4][64];
};

static bool split(const char *text, struct fields *ret)
{
	for (int i = 0; i < 4; i++) {
		const size_t len = strcspn(text, ":");

		if (len >= sizeof(ret->text[i]) || (i < 3 && !text[len]))
			return false;
		memcpy(ret->text[i], text, len);
		ret->text[i][len] = '\0';
		text += len + (i < 3);
	}
	return !*text && ret->text[2][0] && ret->text[3][0];
}

static int check_loop(const char *word, const struct qperf_loop *loop, const char *step, struct error *err)
{
	if (loop->multiply && loop->step <= 1)
		return error_set(err, -EINVAL, "%s: %s: a factor must be more than 1", word, step);
	if (loop->step <= 0)
		return error_set(err, -EINVAL, "%s: %s: increment must be positive", word, step);
	if (loop->multiply && loop->first <= 0)
		return error_set(err, -EINVAL, "%s: a loop that multiplies must not begin at 0", word);
	if (loop->first > loop->last)
		return error_set(err, -EINVAL, "%s: a loop from %.0f to %.0f has no value", word, loop->first,
				 loop->last);
	return 0;
}

static const char *written(int option, const char *name)
{
	const struct qperf_option *o = &qperf_options[option];

	return o->letters && !strcmp(o->letters + 1, name) ? o->letters : o->name;
}

int qperf_parse_loop(const char *word, const char *text, struct qperf_loop *ret, struct error *err)
{
	struct fields f;
	int rc = 0;

	if (!split(text, &f))
		return error_set(err, -EINVAL, "%s: %.60s: a loop is Var:Init:Last:Incr, as msg_size:1:64K:*2", word,
				 text);
	ret->option = qperf_option_named(f.text[0][0] ? f.text[0] : "msg_size");
	if (ret->option < 0)
		return error_set(err, -EINVAL, "%s: %s: no such variable", word, f.text[0]);
	ret->word = written(ret->option, f.text[0]);
	ret->multiply = f.text[3][0] == '*';
	ret->first = ret->multiply ? 1 : 0;
	if (f.text[1][0])
		rc = qperf_parse_size(word, f.text[1], &ret->first, err);
	if (rc == 0)
		rc = qperf_parse_size(word, f.text[2], &ret->last, err);
	if (rc == 0)
		rc = qperf_parse_size(word, f.text[3] + ret->multiply, &ret->step, err);
	return rc ? rc : check_loop(word, ret, f.text[3], err);
}
