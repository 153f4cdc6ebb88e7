/* Where something stands in a JSON text: line, column and path, found when a sentence needs them. */
#ifndef PLAN_PLACE_H
#define PLAN_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* A JSON text that was read without an error. */
struct document {
	const char *name; /* for sentences: the file's path */
	const char *text; /* ends with NUL */
};

/* A value inside of others: places are linked from the inside to the root, whose up is NULL. */
struct place {
	const struct place *up;
	unsigned nth; /* of the members or elements of the value it is in, from 0 on */
	const char *key; /* of a member, NULL: an element */
};

/* The text from the place on: its value, or its key. */
const char *place_text(const struct document *document, const struct place *place, bool key);
/* "file:3:14: $.tests[0].msgSize" into ret. */
char *place_where(const struct document *document, const struct place *place, bool key, char *ret, size_t size);
#define PLACE_WHERE 400

/* error_set() behind place_where(). */
int place_error(const struct document *document, const struct place *place, bool key, struct error *err,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
