/* Starts mpirun with one rank a host and says why it failed. */
#include "orch/mpirun.h"

#include "base/clock.h"
#include "base/units.h"
#include "base/wait.h"
#include "orch/launch.h"
#include "orch/reach.h"
#include "orch/share.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OVER_NS 5000000000LL /* for mpirun to end when all is over */
#define STOP_NS 1000000000LL /* after each SIGTERM: a host that is cut off lets it wait for ever */
#define END_NS  3000000000LL /* from the end of its stdout to its own */

/* Which ranks are on the host of rank i: those before it, and whether it is the first. */
static bool is_first(const struct mpirun *conf, uint32_t rank)
{
	char name[SPEC_TEXT], other[SPEC_TEXT];

	many_host_name(conf->host[rank], name, sizeof(name));
	for (uint32_t i = 0; i < rank; i++) {
		many_host_name(conf->host[i], other, sizeof(other));
		if (!strcmp(name, other))
			return false;
	}
	return true;
}

/* Numbers the ranks host by host, as mpirun does, and writes its list of hosts. */
static int list_hosts(const struct mpirun *conf, uint32_t *rank_of, int fd)
{
	char name[SPEC_TEXT], other[SPEC_TEXT];
	uint32_t number = 0, slots;

	for (uint32_t i = 0; i < conf->ranks; i++) {
		if (!is_first(conf, i))
			continue;
		slots = 0;
		many_host_name(conf->host[i], name, sizeof(name));
		for (uint32_t j = i; j < conf->ranks; j++) {
			many_host_name(conf->host[j], other, sizeof(other));
			if (strcmp(name, other) != 0)
				continue;
			rank_of[number++] = j;
			slots++;
		}
		if (dprintf(fd, "%s slots=%u\n", host_is_local(name) ? "localhost" : name, slots) < 0)
			return -errno;
	}
	return 0;
}

/* The options that make Open MPI's run the same whatever is configured: no RDMA device is touched, no core is bound. */
static void add_options(const struct mpirun *conf, int hosts, struct words *words)
{
	static const char *const fixed[] = { "--oversubscribe",
					     "--map-by",
					     "slot",
					     "--bind-to",
					     "none",
					     "--mca",
					     "pml",
					     "ob1",
					     "--mca",
					     "btl",
					     "tcp,self",
					     "--mca",
					     "plm_rsh_no_tree_spawn",
					     "1",
					     "--mca",
					     "oob_tcp_keepalive_time",
					     "2",
					     "--mca",
					     "oob_tcp_keepalive_intvl",
					     "1",
					     "--mca",
					     "oob_tcp_keepalive_probes",
					     "3" };

	if (geteuid() == 0)
		words_add(words, "--allow-run-as-root");
	for (unsigned i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		words_add(words, "%s", fixed[i]);
	if (conf->interfaces[0]) {
		words_add(words, "--mca");
		words_add(words, "btl_tcp_if_include");
		words_add(words, "%s", conf->interfaces);
		words_add(words, "--mca");
		words_add(words, "oob_tcp_if_include");
		words_add(words, "%s", conf->interfaces);
	}
	if (conf->connected) {
		words_add(words, "--mca");
		words_add(words, "mpi_preconnect_mpi");
		words_add(words, "1");
	}
	words_add(words, "--mca");
	words_add(words, "plm_rsh_agent");
	words_add(words, "%s%s -oConnectTimeout=%d", conf->ssh,
		  strcasestr(conf->ssh, "batchmode") ? "" : " -oBatchMode=yes",
		  (int)(conf->connect_timeout_ns / 1000000000 + 1));
	words_add(words, "--np");
	words_add(words, "%u", conf->ranks);
	words_add(words, "--hostfile");
	words_add(words, "/dev/fd/%d", hosts);
}

/*
 * What a rank's MPI needs no look at: GPUs and displays, through hwloc's plug-ins; and connections on which nothing came,
 * each time that it works.
 */
static const char lean[] = "export HWLOC_PLUGINS_BLACKLIST=hwloc_gl.so,hwloc_opencl.so,hwloc_cuda.so,hwloc_nvml.so,"
			   "hwloc_rsmi.so,hwloc_levelzero.so,hwloc_pci.so OMPI_MCA_opal_event_include=epoll; ";

/* Our own executable where a host has it, else the one of its PATH. */
static int add_program(const struct mpirun *conf, struct words *words)
{
	char own[SPEC_TEXT * 4], quoted[SPEC_TEXT * 5];

	own_path(own, sizeof(own));
	if (!shell_quote(conf->server_exe[0] ? conf->server_exe : own, quoted, sizeof(quoted)))
		return -E2BIG;
	words_add(words, "sh");
	words_add(words, "-c");
	if (conf->server_exe[0])
		words_add(words, "%sexec %s rank", lean, quoted);
	else
		words_add(words, "%sexe=%s; [ -x \"$exe\" ] || exe=fabperf; exec \"$exe\" rank", lean, quoted);
	return words->failed ? -E2BIG : 0;
}

int mpirun_start(const struct mpirun *conf, const struct clock *clock, uint32_t *rank_of, struct launch **ret,
		 struct error *err)
{
	const int hosts = memfd_create("fabperf-hosts", 0); /* mpirun inherits and reads it */
	struct words words = { 0 };
	struct error why = { 0 };
	int rc = hosts < 0 ? -errno : list_hosts(conf, rank_of, hosts);

	if (rc < 0)
		error_sys(err, rc, "cannot list the hosts for mpirun");
	else
		rc = words_split(&words, conf->command, err);
	if (rc == 0 && !words.count)
		rc = error_set(err, -EINVAL, "--mpirun is empty: it names the command that starts the ranks");
	if (rc == 0) {
		add_options(conf, hosts, &words);
		rc = add_program(conf, &words);
		if (rc < 0)
			error_sys(err, rc, "cannot write down mpirun's command line");
	}
	if (rc == 0) {
		lseek(hosts, 0, SEEK_SET);
		rc = launch_spawn(words.word[0], &words, "mpirun", false, clock, ret, &why);
		if (rc == -ENOENT)
			error_set(err, rc,
				  "there is no '%s' (--mpirun): install Open MPI (openmpi-bin) to run on many hosts",
				  words.word[0]);
		else if (rc < 0)
			error_sys(err, rc, "cannot run '%s' (--mpirun)", words.word[0]);
	}
	if (hosts >= 0)
		close(hosts);
	return rc;
}

/* "process rank 2 with PID 0 on node x exited on signal 9": the number behind the words, or -1. */
static int dead_number(const struct launch *launch)
{
	static const char words[] = "process rank ";
	char text[16];
	uint64_t number;

	if (!launch_log_find(launch, words, text, sizeof(text)))
		return -1;
	text[strspn(text, "0123456789")] = 0;
	return units_parse_int(text, &number, NULL) ? -1 : (int)number;
}

/* What a rank that lost the others has said itself, in one sentence. */
static bool own_sentence(const struct launch *launch, char *ret, size_t size)
{
	if (!launch_log_find(launch, "fabperf: ", ret, size))
		return false;
	ret[strcspn(ret, "\n")] = 0;
	return true;
}

bool mpirun_told(const struct launch *launch)
{
	char sentence[8];

	return own_sentence(launch, sentence, sizeof(sentence));
}

int mpirun_explain(const struct mpirun *conf, struct launch *launch, const uint32_t *rank_of, struct error *err)
{
	const struct patience until = { .clock = launch->clock, .deadline_ns = clock_now(launch->clock) + END_NS };
	int status, number;
	char log[600], how[48] = "";

	if (own_sentence(launch, log, sizeof(log)))
		return error_set(err, -ECONNRESET, "%s", log);
	if (launch_wait(launch, &until, &status))
		snprintf(how, sizeof(how), "closed its output");
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(status));
	number = dead_number(launch);
	if (number >= 0 && (uint32_t)number < conf->ranks)
		return error_set(err, -ECONNRESET, "the rank on host '%s' was killed or crashed",
				 conf->host[rank_of[number]]);
	if (own_sentence(launch, log, sizeof(log)))
		return error_set(err, -ECONNRESET, "%s", log);
	log[0] = 0;
	launch_log(launch, log, 400);
	return error_set(err, -ECHILD, "mpirun %s before the results came: %s", how,
			 log[0] ? log : "it wrote nothing to stderr");
}

void mpirun_stop(struct launch *launch, bool over)
{
	struct patience until;
	int status;

	if (!launch)
		return;
	for (unsigned i = 0; i < 2 && launch->pid; i++) {
		if (!over)
			kill(launch->pid, SIGTERM);
		until = (struct patience){ .clock = launch->clock,
					   .deadline_ns = clock_now(launch->clock) + (over ? OVER_NS : STOP_NS) };
		launch_wait(launch, &until, &status);
		over = false;
	}
	launch_stop(launch, NULL);
}
