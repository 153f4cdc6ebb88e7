/* Building blocks of a JSON document: objects that become NULL when memory ran out and stay so, null for what is not known. */
#ifndef REPORT_TREE_H
#define REPORT_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Puts value under key, taking both over; *object becomes NULL when either is NULL or memory ran out. */
void tree_put(json_t **object, const char *key, json_t *value);
void tree_append(json_t **array, json_t *value);

json_t *tree_text(const char *text); /* bytes that are not UTF-8 become '?' */
json_t *tree_text_or_null(const char *text); /* empty: null */
json_t *tree_real(double value); /* not finite: null */
json_t *tree_count(uint64_t value);

/* Indented text; an array of plain values, or of arrays of them, takes one line a row. free() it; NULL without memory. */
char *tree_print(const json_t *root);

#endif
