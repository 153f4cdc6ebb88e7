/* Values of JSON as the texts that options are set from. */
#ifndef PLAN_JSON_TEXT_H
#define PLAN_JSON_TEXT_H

#include "plan/place.h"

#include <jansson.h>

struct error;

#define JSON_TEXT_MAX 4096 /* bytes of a value, its NUL included */

/*
 * The value at place as option_set() reads it: a string's text, a number as it is written, true and false as on and off; an
 * array's values joined by commas; {"verb": ..., "msgSize": ...} as verb:size; ccGroupHints as path,size,vendor,format.
 * -EINVAL and a sentence with the place.
 */
int json_text(const struct document *document, const struct place *place, const json_t *value, char ret[JSON_TEXT_MAX],
	      struct error *err);

#endif
