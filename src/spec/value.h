/* One value of a type of option: from text into its field and back. */
#ifndef SPEC_VALUE_H
#define SPEC_VALUE_H

#include "spec/option.h"

/* Writes the field of row->size bytes; -EINVAL or -ERANGE and a sentence without the option's name, field untouched. */
int value_parse(const struct option_row *row, const char *text, void *field, struct error *err);
/* The field as text that value_parse reads back; ret of size bytes. */
char *value_format(const struct option_row *row, const void *field, char *ret, size_t size);
bool value_equal(const struct option_row *row, const void *a, const void *b);

/* value_ops.c: the same for a list of operations. */
int value_parse_ops(const struct option_row *row, const char *text, void *field, struct error *err);
char *value_format_ops(const struct option_row *row, const void *field, char *ret, size_t size);

#endif
