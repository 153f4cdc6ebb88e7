/* A command line written as one text, for tests: words are separated by single spaces. */
#ifndef UNIT_WORDS_H
#define UNIT_WORDS_H

#include "cli/cli.h"

#include <string.h>

#define WORDS_MAX 64

/* Parses it into a fresh request. */
static inline int parse_line(const char *line, struct request *ret, struct error *err)
{
	static char texts[4][4096]; /* the request's host stays in its line */
	static unsigned turn;
	char *text = texts[turn++ % 4], *word[WORDS_MAX], *rest = text;
	int count = 0;

	snprintf(text, sizeof(texts[0]), "%s", line);
	while (rest && *text && count < WORDS_MAX)
		word[count++] = strsep(&rest, " ");
	request_init(ret);
	return cli_parse(count, word, ret, err);
}

#endif
