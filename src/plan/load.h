/* Loads the text of a scenario, and its JSON. */
#ifndef PLAN_LOAD_H
#define PLAN_LOAD_H

#include <jansson.h>
#include <stddef.h>

struct error;

/* The whole file as text that ends with NUL, with ~/ as $HOME: free() it. -EFBIG, -EINVAL (a NUL in it, no file) or others. */
int load_file(const char *path, char **ret, struct error *err);
/* What the text means; the sentence of a failure begins with "name:line:column: ". An object is wanted. */
int load_json(const char *name, const char *text, json_t **ret, struct error *err);

#endif
