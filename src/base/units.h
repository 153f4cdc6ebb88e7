/* Numbers with units, to and from text: the only place where text becomes a number. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct error;

/*
 * Each parser takes the whole text: an empty text, a sign where none is allowed, trailing text or an overflow is
 * -EINVAL / -ERANGE and a sentence in err without the option's name ("'12q' is not a size: a number with K M G ...").
 * ret is untouched on failure.
 */
int units_parse_int(const char *text, uint64_t *ret, struct error *err); /* decimal or 0x... */
/* Finite, >= 0; an exponent is understood, none is needed. */
int units_parse_real(const char *text, double *ret, struct error *err);
/* Bytes, a whole number with a suffix: K M G Ki Mi Gi are steps of 2^10, k m g kb mb gb kB mB gB KB MB GB of 10^3. */
int units_parse_size(const char *text, uint64_t *ret, struct error *err);
/* ns, with ns us ms s m h; a bare number is seconds; fractions are exact, rounded to the nearest ns but not to 0. */
int units_parse_time(const char *text, int64_t *ret, struct error *err);
/* bit/s, with k (or K) M G T; a bare number is bit/s; fractions as in times. */
int units_parse_rate(const char *text, uint64_t *ret, struct error *err);

/* Each writer returns text that its parser reads back to the same value. Buffer: UNITS_TEXT bytes. */
#define UNITS_TEXT 40
char *units_format_size(uint64_t bytes, char *text);
char *units_format_time(int64_t ns, char *text);
char *units_format_rate(uint64_t bits_per_second, char *text);

/* A measured figure with at least four significant digits, never a rounded zero: 0.00001234, 1.235, 123.5, 12345. */
char *units_format_figure(double value, char *text);

#endif
