/* Carries on, in a thread of its own and whenever a queue is polled, with messages that had to wait or come late. */
#include "double.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURN_NS 20000 /* between turns of the thread, and least between turns by polling */

struct late {
	struct packet packet;
	int64_t due; /* ns */
	struct late *next;
	uint8_t data[];
};

static pthread_mutex_t stalled_lock = PTHREAD_MUTEX_INITIALIZER, late_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted; /* posted when waiting leaves 0 */
static struct d_qp *stalled;
static struct late *late;
static _Atomic unsigned waiting; /* stalled queue pairs and late messages */
static _Atomic int64_t last_turn;
static pthread_once_t once = PTHREAD_ONCE_INIT;

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static struct late *take_due(void)
{
	struct late **at = &late, *due = NULL;
	int64_t now = now_ns();

	pthread_mutex_lock(&late_lock);
	while (*at && (*at)->due > now)
		at = &(*at)->next;
	if (*at) {
		due = *at;
		*at = due->next;
	}
	pthread_mutex_unlock(&late_lock);
	return due;
}

static void deliver_late(void)
{
	for (struct late *due = take_due(); due; due = take_due()) {
		if (wire_deliver(&due->packet) != 0)
			count_add(COUNT_UNRECEIVED, 1);
		free(due);
		atomic_fetch_sub(&waiting, 1);
	}
}

/* stalled_lock held. A queue pair that is being posted to at this moment has its turn there. */
static void turn(void)
{
	struct d_qp **at = &stalled;

	atomic_store(&last_turn, now_ns());
	while (*at) {
		struct d_qp *qp = *at;
		bool done = false;

		if (!pthread_mutex_trylock(&qp->lock)) {
			send_run(qp);
			done = !send_stalls(qp);
			if (done) {
				*at = qp->next;
				qp->stalled = false;
				atomic_fetch_sub(&waiting, 1);
			}
			pthread_mutex_unlock(&qp->lock);
		}
		if (!done)
			at = &qp->next;
	}
}

static void *pump(void *arg)
{
	const struct timespec pause = { .tv_nsec = TURN_NS };

	for (;;) {
		if (!waiting)
			sem_wait(&wanted);
		pthread_mutex_lock(&stalled_lock);
		turn();
		pthread_mutex_unlock(&stalled_lock);
		deliver_late();
		nanosleep(&pause, NULL);
	}
	return arg;
}

/* Signals are the program's, not this thread's. */
static void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sem_init(&wanted, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, pump, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake(void)
{
	pthread_once(&once, start);
	if (atomic_fetch_add(&waiting, 1) == 0)
		sem_post(&wanted);
}

void pump_add(struct d_qp *qp)
{
	if (qp->stalled)
		return;
	pthread_mutex_lock(&stalled_lock);
	qp->stalled = true;
	qp->next = stalled;
	stalled = qp;
	wake();
	pthread_mutex_unlock(&stalled_lock);
}

void pump_remove(struct d_qp *qp)
{
	pthread_mutex_lock(&stalled_lock);
	for (struct d_qp **at = &stalled; *at; at = &(*at)->next) {
		if (*at == qp) {
			*at = qp->next;
			atomic_fetch_sub(&waiting, 1);
			break;
		}
	}
	pthread_mutex_unlock(&stalled_lock);
}

void pump_late(const struct packet *packet, int64_t due)
{
	struct late *copy = malloc(sizeof(*copy) + packet->len), **end;
	uint8_t *to;

	if (!copy)
		return;
	to = copy->data;
	copy->packet = *packet;
	copy->due = due;
	for (unsigned i = 0; i < packet->iov_count; i++)
		to = (uint8_t *)mempcpy(to, packet->iov[i].iov_base, packet->iov[i].iov_len);
	copy->packet.iov[0] = (struct iovec){ .iov_base = copy->data, .iov_len = packet->len };
	copy->packet.iov_count = 1;
	pthread_mutex_lock(&late_lock);
	for (end = &late; *end; end = &(*end)->next)
		;
	copy->next = NULL;
	*end = copy;
	pthread_mutex_unlock(&late_lock);
	wake();
}

void pump_poll(void)
{
	if (!waiting || now_ns() - last_turn < TURN_NS)
		return;
	if (!pthread_mutex_trylock(&stalled_lock)) {
		turn();
		pthread_mutex_unlock(&stalled_lock);
	}
	deliver_late();
}
