/* Lists of names with ranges in brackets: "node[01-16]", "r[1-2]n[1-4],gw" become the names they stand for. */
#ifndef PLAN_NAMES_H
#define PLAN_NAMES_H

#include <stdint.h>

struct error;

#define NAMES_MAX    65536 /* most names of a list */
#define NAME_MAX_LEN 255 /* bytes of a name */

struct names {
	uint32_t count, cap;
	char **name;
};

/*
 * Appends what text stands for. Commas outside of brackets separate items; brackets hold numbers and ranges separated by
 * commas; several brackets in an item make the product, the leftmost varies slowest; a first number that begins with 0
 * sets the width of its range. Order and repetitions are kept. -EINVAL, -E2BIG or -ENOMEM and a sentence that shows the item.
 */
int names_expand(struct names *names, const char *text, struct error *err);
int names_add(struct names *names, const char *name, struct error *err);
void names_release(struct names *names);

#endif
