/* Reads the command line and hands the request, or the words behind a command's name, to the command. */
#include "base/error.h"
#include "cli/cli.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Whether the first word is the name of a command. */
static bool is_word(int argc, char **argv, const char *name)
{
	return argc > 1 && !strcmp(argv[1], name);
}

static int run(struct request *request)
{
	if (request_is_scenario(request))
		return cmd_scenario(request);
	return request->host[0] ? cmd_client(request) : cmd_server(request);
}

int main(int argc, char **argv)
{
	struct request request;
	struct error err = { 0 };
	bool planning, kneeing;

	signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of its write, */
	signal(SIGXFSZ, SIG_IGN); /* so is a file that may grow no further */
	if (cmd_is_qperf(argv[0]))
		return cmd_qperf(argc - 1, argv + 1);
	if (is_word(argc, argv, "qperf"))
		return cmd_qperf(argc - 2, argv + 2);
	if (is_word(argc, argv, "rank"))
		return cmd_rank();
	planning = is_word(argc, argv, "plan");
	kneeing = is_word(argc, argv, "knee");
	request_init(&request);
	if (cli_parse(argc - 1 - (planning || kneeing), argv + 1 + (planning || kneeing), &request, &err) < 0)
		return cmd_complain(&err);
	if (request.help) {
		cli_help(stdout);
		return cmd_finish(EXIT_DONE);
	}
	if (request.version) {
		printf("fabperf %s\n", FABPERF_VERSION);
		return cmd_finish(EXIT_DONE);
	}
	if (planning)
		return cmd_plan(&request);
	return kneeing ? cmd_knee(&request) : run(&request);
}
