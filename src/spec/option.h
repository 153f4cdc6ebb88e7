/* The option machinery: one row per option is the source of command line, help, JSON keys, wire form and echo. */
#ifndef SPEC_OPTION_H
#define SPEC_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct request;

enum option_type {
	OPTION_FLAG, /* bool; no value */
	OPTION_CHOICE, /* enum choice auto/on/off; the bare option means on, --option=off switches off */
	OPTION_INT,
	OPTION_SIZE,
	OPTION_RATE, /* uint64_t */
	OPTION_LOAD, /* struct load: a rate, or messages per second with "pps" behind the number */
	OPTION_TIME, /* int64_t ns */
	OPTION_REAL, /* double */
	OPTION_ENUM, /* uint32_t, index into names[]; empty names are not offered */
	OPTION_TEXT, /* char[size] */
	OPTION_WORD, /* const char *: the word itself, which outlives the request */
	OPTION_CORES, /* char[size], checked as a core list */
	OPTION_PERCENTILES, /* double[SPEC_MAX_PERCENTILES] */
	OPTION_OPERATIONS, /* struct spec_op[SPEC_OPS] */
};

/* What an option has an effect on; a given option outside its scope is refused. 0 in a mask = any. */
struct option_scope {
	uint32_t drivers, transports, verbs, metrics; /* masks of 1 << enum */
	uint32_t sides; /* mask of SIDE_...: where it may be given; 0 = everywhere */
};
#define SIDE_CLIENT 1u
#define SIDE_SERVER 2u
#define SIDE_MANY   4u /* a scenario (--traffic_pattern, -f) */
#define SIDE_PLAN   8u /* the command plan */
#define SIDE_KNEE   16u /* the command knee */

#define OPTION_WIRE           1u /* part of struct spec: travels to the other ranks */
#define OPTION_AUTO           2u /* "auto" is allowed and means SPEC_AUTO */
#define OPTION_VALUE_OPTIONAL 4u /* the value may be left out (-j); present tells that the option was there */
#define OPTION_HIDDEN         8u /* not in the help: used between fabperf processes */
#define OPTION_ZIPPED         16u /* a list is no sweep: its values go with those of another list, in order */
#define OPTION_TEST           32u /* of one test of a scenario, though it does not travel */

struct option_row {
	const char *key; /* long option without dashes, words joined by '_' */
	const char *alias; /* another long name that is understood, or NULL */
	char letter; /* short option or 0 */
	const char *json; /* key in scenario and result files, or NULL when it has none */
	enum option_type type;
	uint32_t flags;
	size_t offset, size; /* of the field in struct request */
	double min, max; /* range of numbers in base units (bytes, ns, bit/s), inclusive */
	const char *const *
		names; /* OPTION_ENUM: NULL-terminated; OPTION_INT: the only legal numbers; OPTION_FLAG: off and on in JSON; or NULL */
	const char *def; /* default as a user would write it */
	const char *unit; /* of the value in words: "bytes", "s", "messages" ... "" when none */
	const char *bare; /* suffix that a number without one is taken to have: "ms", "G"; NULL: the type's own */
	const char *metavar; /* in the help: SIZE, N, HOST ... */
	struct option_scope scope;
	const char *group; /* heading in the help */
	const char *help; /* one sentence */
	size_t list; /* of the text of a list of values in struct request; 0 = one value only */
	size_t present; /* OPTION_VALUE_OPTIONAL: offset of the bool in struct request that is set with the option */
};

extern const struct option_row option_rows[];
extern const size_t option_count;

/* Row by long key ('-' and '_' are the same, case-insensitive), by letter; -1 when there is none. */
int option_find(const char *key);
int option_find_letter(char letter);
/* The known key nearest to a misspelt one, or NULL when none is near. */
const char *option_nearest(const char *key);

/* Most bytes of any value as text, its NUL included. */
#define OPTION_VALUE_MAX 512

/* What the values of a row may be, in words: "1 to 16384 or auto", "RC, UC or UD". ret of OPTION_VALUE_MAX bytes. */
char *option_allowed(const struct option_row *row, char *ret);
/* "a, b or c": the non-empty names of NULL-terminated names[] whose bit is in mask. ret of OPTION_VALUE_MAX bytes. */
char *option_names(const char *const *names, uint32_t mask, char *ret);

/* Sets a field from text (NULL: the option without a value) and marks the row as given. The sentence names the option as `shown` (what the user wrote), the value and what is allowed. */
int option_set(struct request *request, int row, const char *shown, const char *value, struct error *err);
/* The field's value as text that option_set reads back to the same value; ret of size bytes. */
char *option_get(const struct request *request, int row, char *ret, size_t size);
bool option_given(const struct request *request, int row);
bool option_inherited(const struct request *request, int row);
/* Back to its default, as if it was never set. */
void option_reset(struct request *request, int row);
/* Whether the field holds its row's default. */
bool option_is_default(const struct request *request, int row);

#endif
