/* The qperf server: a child for each client, side by side; every wait of theirs has an end. */
#include "qperf/qperf.h"

#include "qperf/conf.h"
#include "qperf/run.h"
#include "qperf/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 64
#define BACKLOG  64
#define QUIT     77 /* a child's exit status: its client wants the server to end */
#define PAUSE_MS 100

struct server {
	const struct qperf_line *line;
	void (*say)(const char *sentence);
	struct clock clock;
	int listening, signals;
	pid_t child[CHILDREN];
	unsigned children;
	bool done;
};

/* --- a child --- */

struct service {
	const struct clock *clock;
	struct qperf_channel channel;
	struct qperf_request request;
};

static int read_request(struct service *s, struct error *err)
{
	uint8_t data[REQ_BYTES];
	int rc = qperf_recv(&s->channel, data, VERSION_BYTES, "request version", err);

	if (rc == 0)
		rc = qperf_version_check(data, err);
	if (rc == 0)
		rc = qperf_recv(&s->channel, data + VERSION_BYTES, REQ_BYTES - VERSION_BYTES, "request", err);
	if (rc == 0)
		rc = qperf_request_unpack(data, &s->request, err);
	if (rc == 0 && s->request.params.timeout)
		s->channel.timeout_ns = qperf_timeout_ns(s->request.params.timeout);
	return rc;
}

static int serve_conf(struct service *s, struct error *err)
{
	struct qperf_conf conf;
	uint8_t data[CONF_BYTES];

	qperf_conf_read(&conf);
	qperf_conf_pack(&conf, data);
	return qperf_send(&s->channel, data, sizeof(data), "configuration", err);
}

static int serve_measured(struct service *s, struct error *err)
{
	struct qperf_run run = { .channel = &s->channel,
				 .test = &qperf_tests[s->request.test],
				 .params = s->request.params,
				 .ours = s->request.ours,
				 .clock = s->clock };
	uint8_t data[STAT_BYTES + MORE_BYTES];
	int rc;

	if (!(run.test->uses & PARAM_BIT(PARAM_MSG_SIZE)))
		run.params.msg_size = run.test->size; /* a real client leaves it 0 */
	if (!run.params.no_msgs && (run.params.time_ns == 0 || run.params.time_ns > INT64_MAX / 2))
		return error_set(err, -EINVAL, "%s: a test needs a time or a count", run.test->name);
	if (run.params.streams > STREAMS_MAX)
		return error_set(err, -EINVAL, "%u streams: at most %u", run.params.streams, STREAMS_MAX);
	rc = qperf_run_test(&run, err);
	qperf_stat_pack(&run.stat, run.ours, data);
	if (rc == 0)
		rc = qperf_send(&s->channel, data, run.ours ? sizeof(data) : STAT_BYTES, "results", err);
	s->channel.timeout_ns *= QPERF_BEHIND;
	if (rc == 0)
		rc = qperf_expect_text(&s->channel, AFTER_TEST, err);
	qperf_run_close(&run);
	return rc;
}

/* A client asks for one thing and leaves. The child's exit status. */
static int serve_client(struct server *server, int fd)
{
	struct service s = { .clock = &server->clock };
	struct error err = { 0 };
	bool silent = false;
	int rc;

	s.channel = (struct qperf_channel){ .clock = &server->clock,
					    .timeout_ns = qperf_timeout_ns(server->line->loc.timeout) };
	rc = qperf_channel_accept(&s.channel, fd, &err);
	if (rc == 0) {
		rc = read_request(&s, &err);
		silent = rc == -ECONNRESET; /* a probe that only knocked */
	}
	if (rc == 0 && s.request.test == 0)
		rc = serve_conf(&s, &err);
	else if (rc == 0 && s.request.test == 1)
		rc = qperf_sync(&s.channel, BEFORE_TEST, &err);
	else if (rc == 0)
		rc = serve_measured(&s, &err);
	if (rc) {
		qperf_channel_complain(&s.channel, &err);
		if (!silent)
			server->say(err.text);
	}
	qperf_channel_close(&s.channel);
	return rc ? 1 : s.request.test == 1 ? QUIT : 0;
}

/* --- the parent --- */

static void start_child(struct server *server, int fd)
{
	const pid_t parent = getpid();
	sigset_t none;
	pid_t pid;

	if (server->children == CHILDREN)
		return;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(server->listening);
		close(server->signals);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		_exit(serve_client(server, fd));
	}
	if (pid > 0)
		server->child[server->children++] = pid;
}

static void reap(struct server *server)
{
	int status;

	for (unsigned i = 0; i < server->children;) {
		if (waitpid(server->child[i], &status, WNOHANG) != server->child[i]) {
			i++;
			continue;
		}
		server->done |= WIFEXITED(status) && WEXITSTATUS(status) == QUIT;
		server->child[i] = server->child[--server->children];
	}
}

static void take_signals(struct server *server)
{
	struct signalfd_siginfo info;

	while (read(server->signals, &info, sizeof(info)) == sizeof(info))
		server->done |= info.ssi_signo != SIGCHLD;
	reap(server);
}

static void accept_client(struct server *server)
{
	const int fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		poll(NULL, 0, errno == EMFILE || errno == ENFILE || errno == ENOMEM ? PAUSE_MS : 0);
		return;
	}
	start_child(server, fd);
	close(fd);
}

static int bind_port(int fd, const void *any, socklen_t len)
{
	const int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(fd, any, len) < 0 || listen(fd, BACKLOG) < 0 ? -errno : 0;
}

/* All addresses: IPv6 with IPv4 in it, or IPv4 alone where the kernel has no IPv6. */
static int listen_any(struct server *server, struct error *err)
{
	const uint16_t port = htons((uint16_t)server->line->listen_port);
	const struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = port };
	const struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = port };
	const int off = 0;
	int rc;

	server->listening = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->listening >= 0) {
		setsockopt(server->listening, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		rc = bind_port(server->listening, &six, sizeof(six));
	} else {
		server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		rc = server->listening < 0 ? -errno : bind_port(server->listening, &four, sizeof(four));
	}
	if (rc)
		return error_sys(err, rc, "unable to bind to listen port %u", server->line->listen_port);
	return 0;
}

static int watch_signals(struct server *server, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
	server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return server->signals < 0 ? error_sys(err, -errno, "cannot make a signalfd") : 0;
}

static void stop_children(struct server *server)
{
	for (unsigned i = 0; i < server->children; i++)
		kill(server->child[i], SIGKILL);
	while (server->children) {
		waitpid(server->child[0], NULL, 0);
		server->child[0] = server->child[--server->children];
	}
}

int qperf_serve(const struct qperf_line *line, void (*say)(const char *sentence), struct error *err)
{
	struct server server = { .line = line, .say = say, .listening = -1, .signals = -1 };
	int rc;

	clock_init(&server.clock, false);
	rc = listen_any(&server, err);
	if (rc == 0)
		rc = watch_signals(&server, err);
	while (rc == 0 && !server.done) {
		struct pollfd fds[2] = { { .fd = server.signals, .events = POLLIN },
					 { .fd = server.children < CHILDREN ? server.listening : -1,
					   .events = POLLIN } };

		poll(fds, 2, -1);
		if (fds[0].revents)
			take_signals(&server);
		if (fds[1].revents && !server.done)
			accept_client(&server);
	}
	stop_children(&server);
	if (server.listening >= 0)
		close(server.listening);
	if (server.signals >= 0)
		close(server.signals);
	return rc;
}
