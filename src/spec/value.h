/* One value of a type of option: from text into its field and back. */
#ifndef SPEC_VALUE_H
#define SPEC_VALUE_H

#include "spec/option.h"

/* Writes the field of row->size bytes; -EINVAL or -ERANGE and a sentence without the option's name, field untouched. */
int value_parse(const struct option_row *row, const char *text, void *field, struct error *err);
/* The field as text that value_parse reads back; ret of size bytes. */
char *value_format(const struct option_row *row, const void *field, char *ret, size_t size);
bool value_equal(const struct option_row *row, const void *a, const void *b);

/* value_text.c: the same for texts. */
int value_parse_text(const struct option_row *row, const char *text, void *field, struct error *err);
char *value_format_text(const struct option_row *row, const void *field, char *ret, size_t size);
int value_parse_cores(const struct option_row *row, const char *text, void *field, struct error *err);
/* A field that borrows the text. */
int value_parse_word(const struct option_row *row, const char *text, void *field, struct error *err);
char *value_format_word(const struct option_row *row, const void *field, char *ret, size_t size);
bool value_equal_words(const void *a, const void *b);

/* value_ops.c: the same for a list of operations. */
int value_parse_ops(const struct option_row *row, const char *text, void *field, struct error *err);
char *value_format_ops(const struct option_row *row, const void *field, char *ret, size_t size);

#endif
