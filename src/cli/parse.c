/* Turns the words of a command line into a request by the option table, or says in one sentence which word is wrong. */
#include "cli/cli.h"
#include "cli/hint.h"
#include "spec/option.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define SHOWN_MAX 80 /* bytes of a name in a sentence */
#define PRECISION 60 /* bytes of a wrong word that a sentence repeats */

/* The words and how far they are read. */
struct words {
	int count, next;
	char *const *word;
};

/* One option as it was written. */
struct written {
	int row;
	char shown[SHOWN_MAX]; /* "-s", "--msg-size" */
	const char *value; /* attached, or NULL */
};

static int unknown_key(const char *key, struct error *err)
{
	const char *const nearest = option_nearest(key);

	if (nearest)
		return error_set(err, -EINVAL, "unknown option --%.*s: did you mean --%s?", PRECISION, key, nearest);
	return error_set(err, -EINVAL, "unknown option --%.*s: fabperf --help lists them all", PRECISION, key);
}

/* "--key" or "--key=value". */
static int read_long(const char *word, struct written *ret, struct error *err)
{
	const size_t len = strcspn(word + 2, "=");
	char key[SHOWN_MAX - 2];

	if (!len || len >= sizeof(key))
		return error_set(err, -EINVAL, "'%.*s' is not an option: fabperf --help lists them all", PRECISION,
				 word);
	memcpy(key, word + 2, len);
	key[len] = '\0';
	ret->row = option_find(key);
	if (ret->row < 0)
		return unknown_key(key, err);
	snprintf(ret->shown, sizeof(ret->shown), "--%s", key);
	ret->value = word[2 + len] ? word + 2 + len + 1 : NULL;
	return 0;
}

static int unknown_letter(const char *word, struct error *err)
{
	const char *const hint = cli_hint(word[1]);

	if (hint)
		return error_set(err, -EINVAL, "-%c is %s", word[1], hint);
	if (isprint((unsigned char)word[1]))
		return error_set(err, -EINVAL, "unknown option -%c: fabperf --help lists them all", word[1]);
	return error_set(err, -EINVAL, "'%.*s' is not an option: fabperf --help lists them all", PRECISION, word);
}

/* "-s", "-s64K"; a long name after one dash is refused, because -duration would be a device named "uration". */
static int read_short(const char *word, struct written *ret, struct error *err)
{
	char key[SHOWN_MAX];
	const size_t len = strcspn(word + 1, "=");

	snprintf(key, sizeof(key), "%.*s", len < sizeof(key) ? (int)len : (int)sizeof(key) - 1, word + 1);
	if (word[2] && option_find(key) >= 0)
		return error_set(err, -EINVAL, "'%.*s' is ambiguous: the long option is --%s", PRECISION, word, key);
	ret->row = option_find_letter(word[1]);
	if (ret->row < 0)
		return unknown_letter(word, err);
	snprintf(ret->shown, sizeof(ret->shown), "-%c", word[1]);
	if (word[2] == '=' && option_rows[ret->row].type != OPTION_FLAG)
		return error_set(err, -EINVAL, "'%.*s': write -%c %.*s: only a long option takes its value after '='",
				 PRECISION, word, word[1], PRECISION, word + 3);
	ret->value = word[2] ? word + 2 : NULL;
	return 0;
}

static int read_option(const char *word, struct written *ret, struct error *err)
{
	if (word[0] != '-' || !word[1])
		return error_set(
			err, -EINVAL,
			"'%.*s' belongs to no option: every value follows its option, and a server is named with -n",
			PRECISION, word);
	return word[1] == '-' ? read_long(word, ret, err) : read_short(word, ret, err);
}

/* Whether the next word can be an option's value: "-5" can, so that its refusal speaks of a number; "-m" can't. */
static bool looks_like_value(const char *word)
{
	return word[0] != '-' || isdigit((unsigned char)word[1]);
}

/* Where the option's value is: attached, in the next word, or nowhere. */
static int take_value(struct words *words, struct written *written, struct error *err)
{
	const struct option_row *const row = &option_rows[written->row];
	const char *const next = words->next < words->count ? words->word[words->next] : NULL;
	const bool optional = row->type == OPTION_CHOICE || (row->flags & OPTION_VALUE_OPTIONAL);

	if (row->type == OPTION_FLAG)
		return written->value ? error_set(err, -EINVAL, "%s takes no value, but '%.*s' follows it",
						  written->shown, PRECISION, written->value)
				      : 0;
	if (written->value || !next)
		return 0;
	if (optional ? next[0] != '-' : looks_like_value(next)) {
		written->value = next;
		words->next++;
		return 0;
	}
	if (optional)
		return 0;
	return error_set(err, -EINVAL, "%s needs a value, but the option %.*s follows it", written->shown, PRECISION,
			 next);
}

static int set(struct request *request, const struct written *written, struct error *err)
{
	const char letter = option_rows[written->row].letter;
	const char *const hint = written->shown[1] == '-' ? NULL : cli_hint(letter);
	struct error why = { 0 };

	if (option_given(request, written->row))
		return error_set(err, -EINVAL, "%s is there twice: an option is given once", written->shown);
	if (!option_set(request, written->row, written->shown, written->value, &why))
		return 0;
	return error_set(err, -EINVAL, hint ? "%s (-%c is not %s)" : "%s", why.text, letter, hint);
}

int cli_parse(int argc, char *const *argv, struct request *request, struct error *err)
{
	struct words words = { .count = argc, .word = argv };

	while (words.next < words.count) {
		struct written written;
		int rc = read_option(words.word[words.next++], &written, err);

		if (rc == 0)
			rc = take_value(&words, &written, err);
		if (rc == 0)
			rc = set(request, &written, err);
		if (rc)
			return rc;
	}
	return 0;
}
