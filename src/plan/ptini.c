/* Reads pattern files as UCC writes them: sections, keys, and counts in braces over any number of lines. */
#include "plan/ptini.h"

#include "base/error.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIZE_MAX_BYTES (1ull << 30) /* of a message: what --msg_size takes */
#define WORD           64 /* bytes of a key, type or number */

/* A file while it is read. */
struct reading {
	const struct ptini *file;
	const char *at; /* what is left */
	unsigned line;
	bool collective; /* inside of that section */
	unsigned types, patterns; /* how many there were */
	uint32_t ranks;
	uint32_t *bytes;
	uint64_t count; /* read so far */
	struct error *err;
};

uint64_t ptini_element_bytes(uint32_t datatype)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8, 8, 16, 16, 16, 16, 32 };

	return datatype < sizeof(bytes) ? bytes[datatype] : 0;
}

void ptini_release(struct ptini *file)
{
	free(file->name);
	free(file->text);
	*file = (struct ptini){ 0 };
}

static int bad(const struct reading *reading, const char *what, const char *shown)
{
	return error_set(reading->err, -EINVAL, "%.150s:%u: %s%s%.60s%s", reading->file->name, reading->line, what,
			 shown ? " '" : "", shown ? shown : "", shown ? "'" : "");
}

/* The text from at, length of which is len, without space around it, into word; false: it is too long. */
static bool take_word(const char *at, size_t len, char word[WORD])
{
	while (len && isspace((unsigned char)*at)) {
		at++;
		len--;
	}
	while (len && isspace((unsigned char)at[len - 1]))
		len--;
	memcpy(word, at, len < WORD ? len : WORD - 1);
	word[len < WORD ? len : WORD - 1] = '\0';
	return len < WORD;
}

/* --- counts --- */

static int add_count(struct reading *reading, const char *word)
{
	const uint64_t wanted = (uint64_t)reading->ranks * reading->ranks;
	const uint64_t element = ptini_element_bytes(reading->file->datatype);
	const uint64_t row = reading->count / reading->ranks, column = reading->count % reading->ranks;
	uint64_t count;

	if (!isdigit((unsigned char)*word) || strspn(word, "0123456789") != strlen(word))
		return bad(reading, "this is no count:", word);
	if (reading->count == wanted)
		return error_set(reading->err, -EINVAL,
				 "%.150s:%u: counts has more than %llu values, those of %u ranks", reading->file->name,
				 reading->line, (unsigned long long)wanted, reading->ranks);
	if (units_parse_int(word, &count, NULL) || (row != column && count > SIZE_MAX_BYTES / element))
		return bad(reading, "a message has at most 1 GiB, so this count is too large:", word);
	reading->bytes[reading->count++] = row == column ? 0 : (uint32_t)(count * element);
	return 0;
}

/* One item of a line of counts; an empty one is passed over. */
static int read_item(struct reading *reading, const char *at, size_t len)
{
	char word[WORD];

	if (!take_word(at, len, word))
		return bad(reading, "this is no count:", word);
	return *word ? add_count(reading, word) : 0;
}

/* Behind the brace that ends the counts, or behind a line of them that goes on; *ret_end: it was the end. */
static int read_counts_line(struct reading *reading, bool *ret_end)
{
	for (;;) {
		const size_t len = strcspn(reading->at, ",};#\n");
		const char stop = reading->at[len];
		const int rc = read_item(reading, reading->at, len);

		if (rc)
			return rc;
		reading->at += len;
		if (stop == ',') {
			reading->at++;
			continue;
		}
		*ret_end = stop == '}';
		reading->at += stop == '}';
		return 0;
	}
}

static void next_line(struct reading *reading)
{
	reading->at += strcspn(reading->at, "\n");
	if (*reading->at)
		reading->at++;
	reading->line++;
}

static int read_counts(struct reading *reading)
{
	const uint64_t wanted = (uint64_t)reading->ranks * reading->ranks;
	bool end = false;

	if (reading->patterns++)
		return bad(reading, "a second pattern: a test has one, so split the file", NULL);
	for (;;) {
		const int rc = read_counts_line(reading, &end);

		if (rc)
			return rc;
		if (end)
			break;
		if (!reading->at[strcspn(reading->at, "\n")])
			return bad(reading, "counts is not closed: a '}' is missing", NULL);
		next_line(reading);
	}
	if (reading->count != wanted)
		return error_set(reading->err, -EINVAL,
				 "%.150s:%u: counts has %llu values, but %u ranks (endpoints of the test) need %llu",
				 reading->file->name, reading->line, (unsigned long long)reading->count, reading->ranks,
				 (unsigned long long)wanted);
	return 0;
}

/* --- sections and keys --- */

/* Bytes of a line's value: up to a comment, which space precedes, or the end of the line. */
static size_t value_length(const char *at)
{
	const size_t line = strcspn(at, "\n");

	for (size_t i = 0; i < line; i++)
		if ((at[i] == ';' || at[i] == '#') && (i == 0 || isspace((unsigned char)at[i - 1])))
			return i;
	return line;
}

static int read_type(struct reading *reading, const char *value)
{
	if (strcasecmp(value, "ALLTOALLV") != 0)
		return bad(reading, "type must be ALLTOALLV, not", value);
	if (reading->types++)
		return bad(reading, "a second pattern: a test has one, so split the file", NULL);
	return 0;
}

static int read_team_size(struct reading *reading, const char *value)
{
	uint64_t size;

	if (!isdigit((unsigned char)*value) || units_parse_int(value, &size, NULL))
		return bad(reading, "team_size is no number:", value);
	if (size != reading->ranks)
		return error_set(reading->err, -EINVAL,
				 "%.150s:%u: team_size is %.20s, but the test has %u endpoints, which are its ranks",
				 reading->file->name, reading->line, value, reading->ranks);
	return 0;
}

/* "key = value" of the section that counts; keys that say nothing to us are passed over. */
static int read_key(struct reading *reading)
{
	const size_t len = strcspn(reading->at, "=:\n");
	char key[WORD], value[WORD];

	if (reading->at[len] == '\n' || !reading->at[len])
		return bad(reading, "this line is neither [section] nor key = value", NULL);
	take_word(reading->at, len, key);
	reading->at += len + 1;
	if (!strcasecmp(key, "counts")) {
		reading->at += strspn(reading->at, " \t\r");
		if (*reading->at != '{')
			return bad(reading, "counts begins with a '{' on its own line", NULL);
		reading->at++;
		return read_counts(reading);
	}
	take_word(reading->at, value_length(reading->at), value);
	if (!strcasecmp(key, "type"))
		return read_type(reading, value);
	return strcasecmp(key, "team_size") ? 0 : read_team_size(reading, value);
}

static int read_section(struct reading *reading)
{
	const size_t len = strcspn(reading->at, "]\n");
	char name[WORD];

	if (reading->at[len] != ']')
		return bad(reading, "a section's name is not closed: a ']' is missing", NULL);
	take_word(reading->at + 1, len - 1, name);
	reading->collective = !strcasecmp(name, "collective");
	reading->at += len + 1;
	return 0;
}

static int read_line(struct reading *reading)
{
	int rc = 0;

	reading->at += strspn(reading->at, " \t\r");
	switch (*reading->at) {
	case '\0':
	case '\n':
	case ';':
	case '#':
		break;
	case '[':
		rc = read_section(reading);
		break;
	default:
		rc = reading->collective ? read_key(reading) : 0;
	}
	if (rc == 0)
		next_line(reading);
	return rc;
}

int ptini_read(const struct ptini *file, uint32_t ranks, uint32_t *ret, struct error *err)
{
	struct reading reading = {
		.file = file, .at = file->text, .line = 1, .ranks = ranks, .bytes = ret, .err = err
	};
	int rc = 0;

	if (!strncmp(reading.at, "\xef\xbb\xbf", 3))
		reading.at += 3;
	while (rc == 0 && *reading.at)
		rc = read_line(&reading);
	if (rc == 0 && !reading.patterns)
		rc = bad(&reading, "there are no counts in a section [collective]", NULL);
	if (rc == 0 && !reading.types)
		rc = bad(&reading, "type is missing in the section [collective]: it must be ALLTOALLV", NULL);
	return rc;
}
