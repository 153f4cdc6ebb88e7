/* The steps on the way to a server, between launch.c and its helpers: names, connections, started processes. */
#ifndef ORCH_REACH_H
#define ORCH_REACH_H

#include "base/error.h"

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct clock;
struct launch;
struct patience;
struct request;

/* --- connect.c --- */

/* All addresses of a name, with the port. To be freed by freeaddrinfo(). */
int connect_resolve(const char *host, unsigned port, struct addrinfo **ret, struct error *err);
/* A connected non-blocking socket to the first address that answers, each given at most share_ns; or a negative errno. */
int connect_any(const struct addrinfo *list, int64_t share_ns, const struct patience *until);

/* --- ready.c: the line by which a started server says on stdout that it listens --- */

struct ready {
	unsigned protocol, port;
	char version[32];
	char address[64]; /* numeric address at which ssh reached the server's host, "-" when it was not ssh */
};

/* 0, or -EPROTO for a line that begins like a ready line and is none; -EAGAIN for any other line. */
int ready_parse(const char *line, struct ready *ret, struct error *err);
/* Reads the started process's stdout until the line. -ECHILD without a sentence: it ended or closed stdout before. */
int ready_wait(struct launch *launch, const struct patience *until, struct ready *ret, struct error *err);

/* --- spawn.c --- */

/* Words of a command. `failed` is set once they were too many or too long; check it at the end. */
struct words {
	char text[4096];
	size_t used;
	char *word[64]; /* NULL-terminated */
	unsigned count;
	bool failed;
};
void words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the words of a text: blanks separate, '...' and "..." and \ quote. -EINVAL: a quote is not closed. */
int words_split(struct words *words, const char *text, struct error *err);

struct launch {
	pid_t pid;
	int pidfd;
	int in, out; /* its stdin (its life line), its stdout */
	int log; /* what it wrote to stderr: a file in memory of bounded size */
	bool remote; /* it is an ssh that started the server elsewhere */
	const struct clock *clock;
	char host[256];
};

/*
 * Starts a command (path: executable, looked up in PATH without a slash) that ends when we do. remote: it is an ssh. -ENOENT, -EACCES ...
 * of the executable come with a sentence.
 */
int launch_spawn(const char *path, struct words *words, const char *host, bool remote, const struct clock *clock,
		 struct launch **ret, struct error *err);
/* Waits for its end and reaps it: its wait status, or -ETIMEDOUT or -EINTR. */
int launch_wait(struct launch *launch, const struct patience *until, int *ret_status);
/* What it wrote to stderr: the last lines that fit, joined by "; ", without control characters. */
char *launch_log(const struct launch *launch, char *ret, size_t size);
bool launch_log_has(const struct launch *launch, const char *needle); /* anywhere in it */
/* What follows the needle in it, as much as fits; false when it is not there. */
bool launch_log_find(const struct launch *launch, const char *needle, char *ret, size_t size);

/* --- local.c, ssh.c: each starts the server and explains why it ended (wait status) before it was ready --- */

/* bind: numeric address the server shall listen on. */
int local_start(const struct request *request, const char *bind, const struct clock *clock, struct launch **ret,
		struct error *err);
int local_explain(const struct launch *launch, int status, const struct request *request, struct error *err);
/* Any command on request->host. */
int ssh_run(const struct request *request, const char *command, const struct clock *clock, int64_t deadline_ns,
	    struct launch **ret, struct error *err);
int ssh_start(const struct request *request, const struct clock *clock, int64_t deadline_ns, struct launch **ret,
	      struct error *err);
int ssh_explain(const struct launch *launch, int status, const struct request *request, struct error *err);

bool shell_quote(const char *text, char *ret, size_t size); /* in single quotes; false when it does not fit */

/* Path of our own executable; empty when it cannot be told. */
void own_path(char *ret, size_t size);

#endif
