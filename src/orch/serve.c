/* The server: listens, forks a child for each client, lets one at a time run, and outlives whatever happens to them. */
#include "orch/serve.h"

#include "base/clock.h"
#include "orch/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS    16
#define ORDERLY_NS 5000000000LL /* a child may take so long after SIGTERM to end its test and send the result */
#define LEFT_NS    500000000LL /* and so long when the client that launched us has left: nobody waits for a result */
#define PAUSE_MS   100 /* no accepting for so long when the system is out of descriptors or memory */
#define WATCH_FDS  3

struct child {
	pid_t pid; /* 0 = free */
	int ask; /* our end of the socket on which the child asks for its turn */
	bool serving; /* has the turn, until it ends */
	int64_t since_ns;
	char host[CLIENT_WORDS];
};

struct server {
	const struct serve_conf *conf;
	int listening, signals;
	sigset_t old_mask;
	bool done, paused;
	bool left; /* the client that launched us has closed our stdin */
	unsigned asked; /* how often a signal asked us to end */
	struct child child[CLIENTS];
};

static struct child *child_free(struct server *server)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (!server->child[i].pid)
			return &server->child[i];
	return NULL;
}

static struct child *child_serving(struct server *server)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (server->child[i].pid && server->child[i].serving)
			return &server->child[i];
	return NULL;
}

static bool children_left(const struct server *server)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (server->child[i].pid)
			return true;
	return false;
}

/*
 * In the child: nothing of the parent's stays open, signals are as the caller of serve() had them. In a process group of
 * its own a Ctrl-C at the terminal reaches it once, through the parent: a second one would end it without a result.
 */
static void __attribute__((noreturn)) child_main(struct server *server, pid_t parent, int fd, int ask)
{
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN); /* outside the terminal's own group it may still say what went wrong */
	close(server->listening);
	close(server->signals);
	for (unsigned i = 0; i < CLIENTS; i++)
		if (server->child[i].pid)
			close(server->child[i].ask);
	pthread_sigmask(SIG_SETMASK, &server->old_mask, NULL);
	status = client_serve(server->conf, fd, ask);
	fflush(NULL);
	_exit(status < 0 || status > 255 ? 1 : status);
}

static int child_start(struct server *server, struct child *child, int fd, struct error *err)
{
	const pid_t parent = getpid();
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error_sys(err, -errno, "cannot make a socket pair for a client");
	fflush(NULL); /* what waits in stdio's buffers must not be written twice */
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		child_main(server, parent, fd, pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return error_sys(err, -errno, "cannot start a process for a client");
	}
	*child = (struct child){ .pid = pid, .ask = pair[0] };
	return 0;
}

static void accept_client(struct server *server)
{
	struct child *child = child_free(server);
	const int fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct error err = { 0 };

	if (fd < 0) {
		server->paused = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
		if (server->paused)
			error_sys(&err, -errno, "cannot accept a client now");
	} else if (!child) {
		error_set(&err, -EBUSY, "a client was sent away: %d connections are open already", CLIENTS);
	} else {
		child_start(server, child, fd, &err);
	}
	if (fd >= 0)
		close(fd);
	if (err.code)
		server->conf->failed(server->conf->context, &err);
}

/* A child asks whether its client may have the turn: yes when nobody has it, else who does. */
static void answer_child(struct server *server, struct child *child)
{
	const struct child *serving = child_serving(server);
	char words[CLIENT_WORDS] = "";
	ssize_t n = recv(child->ask, child->host, sizeof(child->host) - 1, MSG_DONTWAIT);

	if (n <= 0)
		return;
	child->host[n] = '\0';
	if (serving)
		snprintf(words, sizeof(words), "it has been serving host '%.300s' for %.0f s", serving->host,
			 (double)(clock_now(server->conf->clock) - serving->since_ns) / 1e9);
	child->serving = !serving;
	child->since_ns = clock_now(server->conf->clock);
	send(child->ask, words, strlen(words) + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void child_ended(struct server *server, struct child *child, int status)
{
	const struct serve_conf *conf = server->conf;
	struct error err = { 0 };

	if (WIFSIGNALED(status) && !server->done) {
		error_set(&err, -ECHILD, "the process that served a client on host '%s' was killed by signal %d",
			  child->host[0] ? child->host : "unknown", WTERMSIG(status));
		conf->failed(conf->context, &err);
	}
	if (child->serving && conf->request->once)
		server->done = true;
	close(child->ask);
	*child = (struct child){ 0 };
}

static void reap_children(struct server *server)
{
	int status;

	for (unsigned i = 0; i < CLIENTS; i++)
		if (server->child[i].pid && waitpid(server->child[i].pid, &status, WNOHANG) == server->child[i].pid)
			child_ended(server, &server->child[i], status);
}

static void take_signals(struct server *server)
{
	struct signalfd_siginfo info;

	while (read(server->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			server->asked++;
	server->done |= server->asked > 0;
	reap_children(server);
}

/* The client that launched us holds the other end of our stdin: when it closes, we are of no more use. */
static void watch_stdin(struct server *server)
{
	char scrap[512];
	const ssize_t n = read(STDIN_FILENO, scrap, sizeof(scrap));

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		server->left = server->done = true;
}

static struct pollfd watch(int fd, bool wanted)
{
	return (struct pollfd){ .fd = wanted ? fd : -1, .events = POLLIN };
}

/* An idle server may wait for ever: that is what it is for. 0 when nothing happened. */
static int watch_all(struct server *server, struct pollfd fds[WATCH_FDS + CLIENTS])
{
	int n;

	fds[0] = watch(server->signals, true);
	fds[1] = watch(server->listening, !server->paused);
	fds[2] = watch(STDIN_FILENO, server->conf->request->launched);
	for (unsigned i = 0; i < CLIENTS; i++)
		fds[WATCH_FDS + i] = watch(server->child[i].ask, server->child[i].pid && !server->child[i].host[0]);
	n = poll(fds, WATCH_FDS + CLIENTS, server->paused ? PAUSE_MS : -1);
	server->paused = false;
	return n > 0;
}

static void serve_step(struct server *server)
{
	struct pollfd fds[WATCH_FDS + CLIENTS];

	if (!watch_all(server, fds))
		return;
	for (unsigned i = 0; i < CLIENTS; i++)
		if (fds[WATCH_FDS + i].revents & POLLIN)
			answer_child(server, &server->child[i]);
	if (fds[0].revents)
		take_signals(server);
	if (fds[2].revents)
		watch_stdin(server);
	if (fds[1].revents && !server->done)
		accept_client(server);
}

static void signal_children(const struct server *server, int number)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (server->child[i].pid)
			kill(server->child[i].pid, number);
}

/* Until something happens that may change how long the children have, at the latest at the deadline. */
static void wait_for_children(struct server *server, int64_t deadline_ns)
{
	struct pollfd fds[2] = { watch(server->signals, true),
				 watch(STDIN_FILENO, server->conf->request->launched && !server->left) };
	const int64_t left = deadline_ns - clock_now(server->conf->clock);

	poll(fds, 2, left > 0 ? (int)(left / 1000000) + 1 : PAUSE_MS);
	if (fds[1].revents)
		watch_stdin(server);
	take_signals(server);
}

/* Asks them to end in order; kills those that do not in time, or when a second signal asks for haste. */
static void stop_children(struct server *server)
{
	const unsigned asked = server->asked ? server->asked : 1;
	int64_t deadline = clock_now(server->conf->clock) + ORDERLY_NS;
	bool killed = false;

	server->done = true;
	signal_children(server, SIGTERM);
	while (children_left(server)) {
		if (server->left && deadline > clock_now(server->conf->clock) + LEFT_NS)
			deadline = clock_now(server->conf->clock) + LEFT_NS;
		if (!killed && (server->asked > asked || clock_now(server->conf->clock) >= deadline)) {
			signal_children(server, SIGKILL);
			killed = true;
		}
		wait_for_children(server, deadline);
	}
}

/* Signals become readable instead of interrupting anything; the old mask is kept for the children and the end. */
static int take_over_signals(struct server *server, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, &server->old_mask);
	server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (server->signals >= 0)
		return 0;
	pthread_sigmask(SIG_SETMASK, &server->old_mask, NULL);
	return error_sys(err, -errno, "cannot make a signalfd");
}

int serve(const struct serve_conf *conf, struct error *err)
{
	struct server server = { .conf = conf };
	struct sigaction old_chld, reap = { .sa_handler = SIG_DFL };
	unsigned port;
	int rc;

	rc = listen_open(conf->request, &server.listening, &port, err);
	if (rc < 0)
		return rc;
	rc = take_over_signals(&server, err);
	if (rc < 0) {
		close(server.listening);
		return rc;
	}
	sigaction(SIGCHLD, &reap, &old_chld); /* inherited as ignored, we would learn nothing of our children */
	conf->ready(conf->context, port);
	while (!server.done)
		serve_step(&server);
	close(server.listening);
	stop_children(&server);
	close(server.signals);
	sigaction(SIGCHLD, &old_chld, NULL);
	pthread_sigmask(SIG_SETMASK, &server.old_mask, NULL);
	return 0;
}
