/* Looks at all hosts before mpirun starts: whether ssh reaches them, and whether Open MPI and the same fabperf are there. */
#include "base/clock.h"
#include "base/wait.h"
#include "orch/comm.h"
#include "orch/launch.h"
#include "orch/mpirun.h"
#include "orch/reach.h"
#include "orch/share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE  32 /* logins */
#define LOGIN_NS 20000000000LL /* beyond --connect_timeout, for the login and what it starts: many come at once */
#define END_NS   2000000000LL /* for an ssh that has closed its output to end */

struct look {
	struct launch *launch;
	char name[SPEC_TEXT];
};

struct muster {
	const struct request *request;
	const char *const *host;
	uint32_t hosts;
	struct patience until;
	char command[2048];
};

/* Any login shell understands it, sh does the rest. */
static int write_command(struct muster *m, struct error *err)
{
	char own[SPEC_TEXT * 4], path[SPEC_TEXT * 5], script[1600], quoted[1900];

	own_path(own, sizeof(own));
	if (!shell_quote(own, path, sizeof(path)) ||
	    snprintf(script, sizeof(script),
		     "command -v orted >/dev/null || { echo no-orted; exit 0; }; exe=%s; [ -x \"$exe\" ] || "
		     "exe=fabperf; "
		     "exec \"$exe\" --version",
		     path) >= (int)sizeof(script) ||
	    !shell_quote(script, quoted, sizeof(quoted)))
		return error_set(err, -E2BIG, "the path of the executable is too long to look for it on other hosts");
	snprintf(m->command, sizeof(m->command), "exec sh -c %s", quoted);
	return 0;
}

/* What the host wrote, up to the end; 0, or as wait_fd. */
static int read_all(const struct muster *m, const struct look *look, char *ret, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;
	int rc = 0;

	while (n > 0 && len < size - 1 && (rc = wait_fd(look->launch->out, POLLIN, &m->until)) == 0)
		if ((n = read(look->launch->out, ret + len, size - 1 - len)) > 0)
			len += (size_t)n;
	ret[len] = 0;
	return rc;
}

static int explain(const struct muster *m, struct look *look, struct error *err)
{
	const struct patience until = wait_sooner(&m->until, END_NS);
	struct request one = *m->request;
	int status;

	one.host = look->name;
	if (launch_wait(look->launch, &until, &status))
		return error_set(err, -ETIMEDOUT, "ssh to it does not end");
	return ssh_explain(look->launch, status, &one, err);
}

static int judge(const struct muster *m, struct look *look, struct error *err)
{
	char text[4096];
	const int rc = read_all(m, look, text, sizeof(text));
	const char *said = strstr(text, "fabperf ");

	if (rc == -EINTR)
		return error_set(err, rc, "interrupted");
	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "ssh reaches it, but nothing answers within 20 s");
	if (strstr(text, "no-orted"))
		return error_set(err, -ENOENT, "Open MPI is not installed there, or its orted is not in PATH");
	if (!said)
		return explain(m, look, err);
	said += strlen("fabperf ");
	if (strncmp(said, FABPERF_VERSION "\n", sizeof(FABPERF_VERSION)) != 0)
		return error_set(err, -EPROTO, "fabperf %.*s is there and this one is %s: install the same",
				 (int)strcspn(said, "\r\n"), said, FABPERF_VERSION);
	return 0;
}

/* Whether a host is to be looked at: not this one, and the first of its name. */
static bool is_new(const struct muster *m, uint32_t i, char *ret, size_t size)
{
	char other[SPEC_TEXT];

	many_host_name(m->host[i], ret, size);
	for (uint32_t k = 0; k < i; k++) {
		many_host_name(m->host[k], other, sizeof(other));
		if (!strcmp(ret, other))
			return false;
	}
	return !host_is_local(ret);
}

/* Some hosts at a time, from *next on; what is wrong with each goes into all. */
static int look_at_some(const struct muster *m, uint32_t *next, struct error *all, struct error *err)
{
	struct look look[AT_ONCE] = { 0 };
	uint32_t rank[AT_ONCE];
	unsigned count = 0;

	for (; *next < m->hosts && count < AT_ONCE; (*next)++) {
		struct request one = *m->request;

		if (!is_new(m, *next, look[count].name, sizeof(look[count].name)))
			continue;
		one.host = look[count].name;
		rank[count] = *next;
		if (ssh_run(&one, m->command, m->until.clock, m->until.deadline_ns - LOGIN_NS, &look[count].launch,
			    &all[*next]) == 0)
			count++;
	}
	for (unsigned i = 0; i < count; i++) {
		judge(m, &look[i], &all[rank[i]]);
		launch_stop(look[i].launch, NULL);
	}
	if (m->until.interrupted && *m->until.interrupted)
		return error_set(err, -EINTR, "interrupted");
	return 0;
}

int muster_hosts(const struct request *request, const char *const *host, uint32_t hosts, const struct patience *until,
		 struct error *err)
{
	struct muster m = { .request = request, .host = host, .hosts = hosts, .until = *until };
	struct error *all = calloc(hosts, sizeof(*all));
	uint32_t next = 0;
	int rc = all ? write_command(&m, err) : error_set(err, -ENOMEM, "no memory for %u hosts", hosts);

	while (rc == 0 && next < hosts) {
		m.until.deadline_ns = clock_now(until->clock) + request->connect_timeout_ns + LOGIN_NS;
		rc = look_at_some(&m, &next, all, err);
	}
	if (rc == 0) {
		comm_join_errors(all, host, hosts, err);
		rc = err->code;
	}
	free(all);
	return rc;
}
