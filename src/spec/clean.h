/* A text from another host, made harmless: it can't move a terminal's cursor, and it is UTF-8. */
#ifndef SPEC_CLEAN_H
#define SPEC_CLEAN_H

#include <stddef.h>

/*
 * Copies text, cut to size - 1 bytes, with '?' for each byte of a control character (U+0080 to U+009F are some too) and
 * for each that is not UTF-8; ret may be text itself. Returns ret.
 */
char *text_clean(const char *text, char *ret, size_t size);

#endif
