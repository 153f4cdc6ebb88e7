/* The commands: each takes its request and returns the exit status. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "spec/result.h"
#include "spec/spec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXIT_DONE        0
#define EXIT_FAILED      1
#define EXIT_THRESHOLD   2
#define EXIT_INTERRUPTED 130

int cmd_client(struct request *request);
int cmd_server(struct request *request);
int cmd_plan(struct request *request); /* of many hosts: what would run */
int cmd_scenario(struct request *request);
int cmd_knee(struct request *request); /* of many hosts: with which bursts loss begins */
int cmd_rank(void); /* 'fabperf rank', as mpirun starts it */

/* qperf's command line, without the program's name. */
int cmd_qperf(int count, char *const *words);
bool cmd_is_qperf(const char *path); /* whether this executable was started under that name */

/* Now, in ns since 1970, as the machine has it: when a run began. */
int64_t cmd_unix_now(void);

struct error;
/* The exit status of a run that ended so. */
int cmd_status(enum run_status status);
/* The status, or EXIT_FAILED and a sentence when what was printed could not be written. */
int cmd_finish(int status);
/* "fabperf: sentence" on stderr; returns EXIT_FAILED. */
int cmd_complain(const struct error *err);

/*
 * Turns the first SIGINT or SIGTERM into *flag = 1, which must live as long as the process; the second ends the process
 * as usual. To be called before any other thread exists. 0 or a negative errno.
 */
int interrupt_watch(atomic_int *flag, struct error *err);
atomic_int *interrupt_flag(struct error *err); /* the same with a flag of its own; NULL and a sentence */

#endif
