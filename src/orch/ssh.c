/* Starts the server on another host by the user's own ssh, and says what is wrong when that fails. */
#include "base/clock.h"
#include "orch/launch.h"
#include "orch/reach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SERVER_WORDS "--launched --once --port=0"
#define SCRIPT_SIZE  2048

/* Puts text in single quotes for a shell; false when it does not fit. */
bool shell_quote(const char *text, char *ret, size_t size)
{
	size_t n = 0;

	if (size < 3)
		return false;
	ret[n++] = '\'';
	for (; *text; text++) {
		const char *piece = *text == '\'' ? "'\\''" : (const char[]){ *text, '\0' };
		const size_t len = strlen(piece);

		if (n + len + 2 > size)
			return false;
		memcpy(ret + n, piece, len);
		n += len;
	}
	ret[n++] = '\'';
	ret[n] = '\0';
	return true;
}

/* The remote command line: any login shell understands it, sh does the rest. */
static bool remote_command(const struct request *request, char *ret, size_t size)
{
	char own[SPEC_TEXT * 4], path[SPEC_TEXT * 5], script[SCRIPT_SIZE], quoted[SCRIPT_SIZE],
		cuda[SPEC_TEXT * 5] = "";
	const char *option = request->cuda_lib_path[0] ? " --cuda_lib_path=" : "";
	int n;

	own_path(own, sizeof(own));
	if (!shell_quote(request->server_exe[0] ? request->server_exe : own, path, sizeof(path)))
		return false;
	if (request->cuda_lib_path[0] && !shell_quote(request->cuda_lib_path, cuda, sizeof(cuda)))
		return false;
	if (request->server_exe[0])
		n = snprintf(script, sizeof(script), "exec %s " SERVER_WORDS "%s%s", path, option, cuda);
	else
		n = snprintf(script, sizeof(script),
			     "exe=%s; [ -x \"$exe\" ] || exe=fabperf; exec \"$exe\" " SERVER_WORDS "%s%s", path, option,
			     cuda);
	if (n < 0 || (size_t)n >= sizeof(script) || !shell_quote(script, quoted, sizeof(quoted)))
		return false;
	n = snprintf(ret, size, "exec sh -c %s", quoted);
	return n > 0 && (size_t)n < size;
}

int ssh_run(const struct request *request, const char *command, const struct clock *clock, int64_t deadline_ns,
	    struct launch **ret, struct error *err)
{
	const int64_t left = (deadline_ns - clock_now(clock)) / 1000000000;
	struct words words = { 0 };
	int rc;

	rc = words_split(&words, request->ssh, err);
	if (rc < 0) {
		error_prefix(err, "--ssh");
		return rc;
	}
	if (!words.count)
		return error_set(err, -EINVAL, "--ssh is empty: it names the command that reaches host '%s'",
				 request->host);
	if (!strcasestr(request->ssh, "batchmode"))
		words_add(&words, "-oBatchMode=yes");
	if (!strcasestr(request->ssh, "connecttimeout"))
		words_add(&words, "-oConnectTimeout=%lld", (long long)(left > 1 ? left : 1));
	words_add(&words, "-T");
	if (request->server_username[0]) {
		words_add(&words, "-l");
		words_add(&words, "%s", request->server_username);
	}
	words_add(&words, "%s", request->host);
	words_add(&words, "%s", command);
	return launch_spawn(words.word[0], &words, request->host, true, clock, ret, err);
}

int ssh_start(const struct request *request, const struct clock *clock, int64_t deadline_ns, struct launch **ret,
	      struct error *err)
{
	char command[SCRIPT_SIZE + 64];

	if (!remote_command(request, command, sizeof(command)))
		return error_set(err, -E2BIG, "the path of the executable is too long to start it on host '%s'",
				 request->host);
	return ssh_run(request, command, clock, deadline_ns, ret, err);
}

/* What ssh says when it fails, and what to tell the user instead, @ = the host's name. The first that fits. */
static const struct {
	const char *needle;
	int code;
	const char *sentence;
} complaints[] = {
	{ "Permission denied (", -EACCES,
	  "host '@' accepts none of your ssh keys: allow one there by 'ssh-copy-id @' (or name it by --ssh \"ssh -i "
	  "FILE\"), or start fabperf there by hand" },
	{ "Too many authentication failures", -EACCES,
	  "host '@' refused after too many ssh keys: name the right one by --ssh \"ssh -i FILE -o "
	  "IdentitiesOnly=yes\", "
	  "or start fabperf there by hand" },
	{ "REMOTE HOST IDENTIFICATION HAS CHANGED", -EACCES,
	  "the ssh host key of '@' has changed: if that is right, remove the old one by 'ssh-keygen -R @' and log in "
	  "once by hand" },
	{ "Host key verification failed", -EACCES,
	  "the ssh host key of '@' is not known: log in once by hand with 'ssh @' to check and accept it" },
	{ "Could not resolve hostname", -EHOSTUNREACH,
	  "cannot resolve host '@': it is no host name, no address and no alias of your ssh configuration" },
	{ "Connection refused", -ECONNREFUSED,
	  "nothing listens for ssh on host '@' (connection refused): start sshd there, or start fabperf there by "
	  "hand" },
	{ "timed out", -ETIMEDOUT,
	  "host '@' does not answer ssh (timed out): is it up, and does a firewall let ssh through?" },
	{ "No route to host", -EHOSTUNREACH,
	  "there is no route to host '@': is it up, and on a network you can reach?" },
	{ "Network is unreachable", -ENETUNREACH, "the network of host '@' cannot be reached from here" },
};

static void insert_host(const char *sentence, const char *host, char *ret, size_t size)
{
	size_t n = 0;

	for (; *sentence && n + 1 < size; sentence++) {
		if (*sentence == '@')
			n += (size_t)snprintf(ret + n, size - n, "%s", host);
		else
			ret[n++] = *sentence;
	}
	ret[n < size ? n : size - 1] = '\0';
}

static int explain_ssh(const struct launch *launch, const char *host, const char *log, struct error *err)
{
	char text[sizeof(err->text)];

	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++) {
		if (!launch_log_has(launch, complaints[i].needle))
			continue;
		insert_host(complaints[i].sentence, host, text, sizeof(text));
		return error_set(err, complaints[i].code, "%s", text);
	}
	return error_set(err, -ECHILD, "ssh could not start the server on host '%s': %s", host,
			 log[0] ? log : "it wrote nothing to stderr");
}

int ssh_explain(const struct launch *launch, int status, const struct request *request, struct error *err)
{
	const char *host = request->host;
	char log[400];
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	launch_log(launch, log, sizeof(log));
	if (code == 255)
		return explain_ssh(launch, host, log, err);
	if ((code == 126 || code == 127) && request->server_exe[0])
		return error_set(err, -ENOENT, "host '%s' has no executable '%s' (--server_exe), or you may not run it",
				 host, request->server_exe);
	if (code == 126 || code == 127)
		return error_set(
			err, -ENOENT,
			"fabperf is not installed on host '%s': install the same version there, give its path by "
			"--server_exe, or start it there by hand",
			host);
	if (code < 0)
		return error_set(err, -ECHILD, "the ssh to host '%s' was killed by signal %d", host, WTERMSIG(status));
	return error_set(err, -ECHILD, "the server on host '%s' ended before it was ready (exit status %d): %s", host,
			 code, log[0] ? log : "it wrote nothing to stderr");
}
