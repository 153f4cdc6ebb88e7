/* A command line becomes a request; help, man page and completion come from the option table. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "spec/spec.h"

#include <stdio.h>

/*
 * Reads argv (without the command's name) into a request made by request_init(). Long options with one or two words
 * ('-' and '_' the same, --opt=value or --opt value), short ones with the value attached or apart; an option whose
 * value is optional takes the next word unless it begins with '-'. -EINVAL and one sentence: unknown option (with the
 * nearest known one), missing or superfluous value, bad value, out of range, the same option twice, stray word.
 */
int cli_parse(int argc, char *const *argv, struct request *request, struct error *err);

void cli_help(FILE *to); /* all options by group, from the table */

#endif
