/* Starts a process whose life hangs on ours: stdin is its life line, stdout is read, stderr is kept in memory. */
#include "base/wait.h"
#include "orch/launch.h"
#include "orch/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_SIZE 65536
#define STOP_NS  1000000000LL

/* Room for one more word of len bytes and its end, or NULL. */
static char *words_room(struct words *words, size_t len)
{
	char *room = words->text + words->used;

	if (words->count + 1 >= sizeof(words->word) / sizeof(words->word[0]) ||
	    len >= sizeof(words->text) - words->used) {
		words->failed = true;
		return NULL;
	}
	words->word[words->count++] = room;
	words->word[words->count] = NULL;
	words->used += len + 1;
	return room;
}

void words_add(struct words *words, const char *format, ...)
{
	char text[sizeof(words->text)];
	va_list args;
	char *room;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	room = n < 0 ? NULL : words_room(words, (size_t)n);
	if (room)
		memcpy(room, text, (size_t)n + 1);
}

/* One character of a word at *text after quotes are taken away; 0 at the word's end, -EINVAL when a quote stays open. */
static int next_char(const char **text, char *quote)
{
	char c;

	while ((c = *(*text)++)) {
		if (*quote ? c == *quote : c == '\'' || c == '"') {
			*quote = *quote ? 0 : c;
			continue;
		}
		if (c == '\\' && *quote != '\'')
			return **text ? (unsigned char)*(*text)++ : -EINVAL;
		if (!*quote && strchr(" \t\n", c))
			return 0;
		return (unsigned char)c;
	}
	(*text)--;
	return *quote ? -EINVAL : 0;
}

int words_split(struct words *words, const char *text, struct error *err)
{
	const char *const whole = text;
	char word[1024], quote;
	size_t len;
	int c;

	for (;;) {
		text += strspn(text, " \t\n");
		if (!*text)
			return 0;
		for (len = 0, quote = 0; (c = next_char(&text, &quote)) > 0 && len < sizeof(word) - 1; len++)
			word[len] = (char)c;
		if (c)
			return error_set(err, -EINVAL, "'%.200s' is not a command: %s", whole,
					 c < 0 ? "a quote is not closed" : "a word is too long");
		word[len] = '\0';
		words_add(words, "%s", word);
	}
}

/*
 * In the child. SIGTERM when we die (also by SIGKILL). Ctrl-C is ours to handle, the server must stay to give its part
 * of the result: a server here has a process group of its own; an ssh stays in ours, so that it may ask at the terminal
 * where the user wants that, and ignores it. report: tells the parent why exec failed.
 */
static void __attribute__((noreturn))
become(const char *path, char **argv, pid_t parent, bool remote, const int fds[3], int report)
{
	sigset_t none;
	int code;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (remote)
		signal(SIGINT, SIG_IGN);
	else
		setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(fds[0], 0) >= 0 && dup2(fds[1], 1) >= 0 && dup2(fds[2], 2) >= 0)
		execvp(path, argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* A server here goes with all that a wrapper script may have started in its process group. */
static void kill_all(const struct launch *launch)
{
	if (launch->remote || kill(-launch->pid, SIGKILL) < 0)
		kill(launch->pid, SIGKILL);
}

struct pipes {
	int in[2], out[2], report[2], log;
};

static void pipes_close(struct pipes *pipes)
{
	int *const fds = pipes->in;

	for (unsigned i = 0; i < sizeof(*pipes) / sizeof(int); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Descriptors above 2 only: dup2() in the child must not overwrite one it still needs. */
static int pipe_above(int ret[2])
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	for (unsigned i = 0; i < 2; i++) {
		ret[i] = fds[i] > 2 ? fds[i] : fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (ret[i] != fds[i])
			close(fds[i]);
	}
	return ret[0] < 0 || ret[1] < 0 ? -EMFILE : 0;
}

static int pipes_open(struct pipes *ret)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 }, -1 };
	int rc;

	rc = pipe_above(pipes.in);
	if (!rc)
		rc = pipe_above(pipes.out);
	if (!rc)
		rc = pipe_above(pipes.report);
	if (!rc) {
		pipes.log = memfd_create("fabperf-server-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		/* Of fixed size: what is more than fits is refused to the writer, not to us. */
		if (pipes.log < 0 || ftruncate(pipes.log, LOG_SIZE) ||
		    fcntl(pipes.log, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)
			rc = -errno;
	}
	if (rc < 0)
		pipes_close(&pipes);
	else
		*ret = pipes;
	return rc;
}

/* Forks and executes; 0 with the process in launch, or a negative errno. */
static int start(struct launch *launch, const char *path, char **argv, struct pipes *pipes)
{
	const int fds[3] = { pipes->in[0], pipes->out[1], pipes->log };
	const pid_t parent = getpid();
	int code = 0;

	launch->pid = fork();
	if (launch->pid < 0)
		return -errno;
	if (launch->pid == 0)
		become(path, argv, parent, launch->remote, fds, pipes->report[1]);
	close(pipes->report[1]);
	pipes->report[1] = -1;
	launch->pidfd = pidfd_open(launch->pid, 0);
	if (launch->pidfd < 0 || read(pipes->report[0], &code, sizeof(code)) < 0)
		code = errno;
	if (!code)
		return 0;
	kill_all(launch);
	waitpid(launch->pid, NULL, 0);
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	return -code;
}

int launch_spawn(const char *path, struct words *words, const char *host, bool remote, const struct clock *clock,
		 struct launch **ret, struct error *err)
{
	struct launch *launch = calloc(1, sizeof(*launch));
	struct pipes pipes;
	int rc;

	rc = launch ? pipes_open(&pipes) : -ENOMEM;
	if (!rc) {
		launch->remote = remote;
		rc = words->failed ? -E2BIG : start(launch, path, words->word, &pipes);
		if (rc < 0)
			pipes_close(&pipes);
	}
	if (rc < 0) {
		free(launch);
		return error_sys(err, rc, "cannot run '%s' to start the server on host '%s'", path, host);
	}
	close(pipes.in[0]);
	close(pipes.out[1]);
	close(pipes.report[0]);
	launch->in = pipes.in[1];
	launch->out = pipes.out[0];
	launch->log = pipes.log;
	launch->clock = clock;
	snprintf(launch->host, sizeof(launch->host), "%s", host);
	*ret = launch;
	return 0;
}

int launch_wait(struct launch *launch, const struct patience *until, int *ret_status)
{
	pid_t pid;
	int rc;

	while (launch->pid && (pid = waitpid(launch->pid, ret_status, WNOHANG)) != launch->pid) {
		if (pid < 0) { /* whoever started us ignores SIGCHLD: it is gone without a status */
			*ret_status = 0;
			break;
		}
		rc = wait_fd(launch->pidfd, POLLIN, until);
		if (rc < 0)
			return rc;
	}
	launch->pid = 0;
	return 0;
}

/* Replaces control characters and folds line ends to "; ". */
static void join_lines(const char *text, size_t len, char *ret, size_t size)
{
	size_t out = 0;

	for (size_t i = 0; i < len && out + 3 < size; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '\n' && i + 1 < len) {
			ret[out++] = ';';
			ret[out++] = ' ';
		} else if (c >= 0x20 && c != 0x7f) {
			ret[out++] = (char)c;
		}
	}
	ret[out] = '\0';
}

char *launch_log(const struct launch *launch, char *ret, size_t size)
{
	const off_t end = lseek(launch->log, 0, SEEK_CUR);
	char text[512];
	const off_t begin = end > (off_t)sizeof(text) ? end - (off_t)sizeof(text) : 0;
	const ssize_t n = end > 0 ? pread(launch->log, text, (size_t)(end - begin), begin) : 0;
	size_t len = n > 0 ? (size_t)n : 0, from = 0;

	while (len && strchr("\r\n ", text[len - 1]))
		len--;
	/* Whole lines only, as many of the last ones as fit. */
	while (begin + (off_t)from > 0 && from < len && (!from || text[from - 1] != '\n'))
		from++;
	while (len - from >= size / 2 && memchr(text + from, '\n', len - from))
		from = (size_t)((char *)memchr(text + from, '\n', len - from) - text) + 1;
	join_lines(text + from, len - from, ret, size);
	return ret;
}

bool launch_log_find(const struct launch *launch, const char *needle, char *ret, size_t size)
{
	const off_t end = lseek(launch->log, 0, SEEK_CUR);
	char *text = end > 0 ? mmap(NULL, LOG_SIZE, PROT_READ, MAP_PRIVATE, launch->log, 0) : MAP_FAILED;
	const char *at;

	ret[0] = 0;
	if (text == MAP_FAILED)
		return false;
	at = memmem(text, (size_t)end, needle, strlen(needle));
	if (at)
		snprintf(ret, size, "%.*s", (int)(text + end - at - (off_t)strlen(needle)), at + strlen(needle));
	munmap(text, LOG_SIZE);
	return at != NULL;
}

bool launch_log_has(const struct launch *launch, const char *needle)
{
	char rest[2];

	return launch_log_find(launch, needle, rest, sizeof(rest));
}

static void append_log(const struct launch *launch, struct error *why)
{
	const size_t len = strlen(why->text);
	char log[300];

	if (launch_log(launch, log, sizeof(log))[0])
		snprintf(why->text + len, sizeof(why->text) - len, " (the server on host '%s' wrote: %s)", launch->host,
			 log);
}

void launch_stop(struct launch *launch, struct error *why)
{
	struct patience until;
	int status;

	if (!launch)
		return;
	close(launch->in);
	until = (struct patience){ .clock = launch->clock, .deadline_ns = clock_now(launch->clock) + STOP_NS };
	if (launch_wait(launch, &until, &status)) {
		kill_all(launch);
		waitpid(launch->pid, &status, 0);
	}
	if (why && why->code)
		append_log(launch, why);
	close(launch->out);
	close(launch->log);
	close(launch->pidfd);
	free(launch);
}
