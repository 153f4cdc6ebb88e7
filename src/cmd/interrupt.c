/* Ctrl-C, SIGTERM and SIGHUP: a thread waits for them, so that no signal handler and no global is needed. */
#include "base/error.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static void signals_of_interest(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
}

static void *watch(void *argument)
{
	atomic_int *flag = argument;
	sigset_t set;
	int signal;

	signals_of_interest(&set);
	if (sigwait(&set, &signal) == 0)
		*flag = 1;
	/* with the signal unblocked here, the second one takes its default action */
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (;;)
		pause();
	return NULL;
}

int interrupt_watch(atomic_int *flag, struct error *err)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t set;
	int rc;

	signals_of_interest(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	rc = pthread_create(&thread, &attr, watch, (void *)(uintptr_t)flag);
	pthread_attr_destroy(&attr);
	return rc ? error_sys(err, -rc, "cannot start the thread that waits for Ctrl-C") : 0;
}

atomic_int *interrupt_flag(struct error *err)
{
	atomic_int *flag = calloc(1, sizeof(*flag));

	if (!flag)
		error_set(err, -ENOMEM, "no memory to wait for Ctrl-C");
	else if (interrupt_watch(flag, err) == 0)
		return flag;
	free(flag);
	return NULL;
}
