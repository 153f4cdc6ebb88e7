/* The qperf command: 'fabperf qperf ...', or this executable under the name qperf. */
#include "qperf/qperf.h"
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

bool cmd_is_qperf(const char *path)
{
	const char *name = strrchr(path, '/');

	return !strcmp(name ? name + 1 : path, "qperf");
}

static void say(const char *sentence)
{
	printf("%s\n", sentence);
	fflush(stdout);
}

int cmd_qperf(int count, char *const *words)
{
	const struct qperf_output output = { .results = stdout, .errors = stderr, .say = say };

	return cmd_finish(qperf_run_words(count, words, &output));
}
