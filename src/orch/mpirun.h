/* Starting the ranks of a scenario by mpirun, and saying what is wrong when that fails. */
#ifndef ORCH_MPIRUN_H
#define ORCH_MPIRUN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct launch;
struct patience;
struct request;

struct mpirun {
	const char *command; /* --mpirun: words of a command */
	const char *ssh; /* --ssh */
	const char *interfaces; /* mpiTcpNetworkInterfaces, or "" */
	const char *server_exe; /* path of fabperf on the other hosts, or "" */
	bool connected; /* all connections between ranks are made at once, so that all can be given a traffic class */
	int64_t connect_timeout_ns;
	uint32_t ranks;
	const char *const *host; /* of each rank, "%k" included */
};

/*
 * Logs in to all hosts that are not this one, before anything starts there: those that cannot be reached, or have no Open
 * MPI, no fabperf or another version of it, are all named in one sentence. until: its clock, and what interrupts.
 */
int muster_hosts(const struct request *request, const char *const *host, uint32_t hosts, const struct patience *until,
		 struct error *err);

/*
 * Starts mpirun; its stdin and stdout become those of MPI's rank 0, and when it ends all ranks do. rank_of[ranks] is the
 * rank of each of MPI's numbers: ranks of one host are numbered one after another.
 */
int mpirun_start(const struct mpirun *conf, const struct clock *clock, uint32_t *rank_of, struct launch **ret,
		 struct error *err);
/* A rank that lost others has said so: mpirun ends, unless it waits for a host that is cut off. */
bool mpirun_told(const struct launch *launch);
/* It has ended, or closed its stdout, before rank 0 told the end: why. */
int mpirun_explain(const struct mpirun *conf, struct launch *launch, const uint32_t *rank_of, struct error *err);
/* Its end: all ranks have ended (over), or are ended now. What is not gone in some seconds is killed. NULL is fine. */
void mpirun_stop(struct launch *launch, bool over);

#endif
