/* Walks through a JSON text, which is known to be right, to the place that a sentence speaks of. */
#include "plan/place.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE 600
#define DEPTH    16 /* of places in a scenario: $.tests[0].operations[1].msgSize has five */

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Behind the string that begins at at. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* Behind the value that begins at at. */
static const char *skip_value(const char *at)
{
	unsigned depth = 0;

	if (*at == '"')
		return skip_string(at);
	if (*at != '{' && *at != '[')
		return at + strcspn(at, " \t\r\n,]}");
	do {
		if (*at == '"') {
			at = skip_string(at);
			continue;
		}
		if (*at == '{' || *at == '[')
			depth++;
		else if (*at == '}' || *at == ']')
			depth--;
		at++;
	} while (*at && depth);
	return at;
}

static const char *skip_key(const char *at)
{
	at = skip_space(skip_string(at));
	return skip_space(*at ? at + 1 : at); /* the colon */
}

/* Member or element nth of the object or array that begins at at: where it begins, an object's member with its key. */
static const char *enter(const char *at, unsigned nth)
{
	const bool object = *at == '{';

	at = skip_space(*at ? at + 1 : at);
	for (unsigned i = 0; i < nth && *at; i++) {
		at = skip_space(skip_value(object ? skip_key(at) : at));
		at = skip_space(*at ? at + 1 : at); /* the comma */
	}
	return at;
}

/* The places from the root's first child to place; their number. */
static unsigned line_up(const struct place *place, const struct place *ret[DEPTH])
{
	unsigned depth = 0;

	for (const struct place *p = place; p->up; p = p->up)
		depth++;
	depth = depth < DEPTH ? depth : DEPTH;
	for (unsigned i = depth; i > 0; i--, place = place->up)
		ret[i - 1] = place;
	return depth;
}

const char *place_text(const struct document *document, const struct place *place, bool key)
{
	const struct place *step[DEPTH];
	const unsigned depth = line_up(place, step);
	const char *at = skip_space(document->text);

	for (unsigned i = 0; i < depth; i++) {
		at = enter(at, step[i]->nth);
		if (step[i]->key && !(key && i + 1 == depth))
			at = skip_key(at);
	}
	return at;
}

/* "$.tests[0].msgSize" into ret, as far as size goes. */
static char *place_path(const struct place *place, char *ret, size_t size)
{
	const struct place *step[DEPTH];
	const unsigned depth = line_up(place, step);
	size_t len = (size_t)snprintf(ret, size, "$");

	for (unsigned i = 0; i < depth && len < size; i++) {
		if (step[i]->key)
			len += (size_t)snprintf(ret + len, size - len, ".%.60s", step[i]->key);
		else
			len += (size_t)snprintf(ret + len, size - len, "[%u]", step[i]->nth);
	}
	return ret;
}

char *place_where(const struct document *document, const struct place *place, bool key, char *ret, size_t size)
{
	const char *const end = place_text(document, place, key);
	unsigned line = 1, column = 1;
	char path[PLACE_WHERE / 2];

	for (const char *at = document->text; at < end; at++) {
		column = *at == '\n' ? 1 : column + ((*at & 0xc0) != 0x80); /* characters, not bytes, of UTF-8 */
		line += *at == '\n';
	}
	snprintf(ret, size, "%.150s:%u:%u: %s", document->name, line, column, place_path(place, path, sizeof(path)));
	return ret;
}

int place_error(const struct document *document, const struct place *place, bool key, struct error *err,
		const char *format, ...)
{
	char where[PLACE_WHERE], text[SENTENCE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return error_set(err, -EINVAL, "%s: %s", place_where(document, place, key, where, sizeof(where)), text);
}
