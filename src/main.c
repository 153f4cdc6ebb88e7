/* Reads the command line and hands the request to the client or the server, or its words to the command they name. */
#include "base/error.h"
#include "cli/cli.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct request request;
	struct error err = { 0 };
	bool planning;

	signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of its write, */
	signal(SIGXFSZ, SIG_IGN); /* so is a file that may grow no further */
	if (cmd_is_qperf(argv[0]))
		return cmd_qperf(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "qperf"))
		return cmd_qperf(argc - 2, argv + 2);
	planning = argc > 1 && !strcmp(argv[1], "plan");
	request_init(&request);
	if (cli_parse(argc - 1 - planning, argv + 1 + planning, &request, &err) < 0)
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
	if (request_is_scenario(&request)) {
		error_set(&err, -EINVAL,
			  "this version runs tests between two hosts; 'fabperf plan ...' shows what this scenario is");
		return cmd_complain(&err);
	}
	return request.host[0] ? cmd_client(&request) : cmd_server(&request);
}
