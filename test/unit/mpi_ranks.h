/* Ranks that are threads, joined by an MPI plug-in that is a list of messages here. */
#ifndef TEST_MPI_RANKS_H
#define TEST_MPI_RANKS_H

#include "orch/comm_mpi.h"

#include "base/clock.h"
#include "orch/mpi_link.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS    6
#define LONG_NS  60000000000LL
#define SHORT_NS 300000000LL

struct message {
	struct message *next;
	int from, to, tag;
	size_t len;
	char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct message *under_way;
static _Thread_local int own;
static char done_already;

static int fake_init(int *rank, int *size, char *text)
{
	(void)text;
	*rank = own;
	*size = RANKS;
	return 0;
}

static int fake_send(int to, int tag, const void *data, size_t len, void **ret, char *text)
{
	struct message *m = malloc(sizeof(*m) + len), **at;

	(void)text;
	*m = (struct message){ .from = own, .to = to, .tag = tag, .len = len };
	if (len)
		memcpy(m->data, data, len);
	pthread_mutex_lock(&lock);
	for (at = &under_way; *at; at = &(*at)->next)
		;
	*at = m;
	pthread_mutex_unlock(&lock);
	*ret = &done_already;
	return 0;
}

static int fake_probe(int from, int tag, int *ret_from, size_t *ret_len, void **ret, char *text)
{
	struct message **at, *found;

	(void)text;
	pthread_mutex_lock(&lock);
	for (at = &under_way; *at; at = &(*at)->next)
		if ((*at)->to == own && (*at)->tag == tag && (from == MPI_LINK_ANY || from == (*at)->from))
			break;
	found = *at;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&lock);
	if (!found)
		return 0;
	*ret_from = found->from;
	*ret_len = found->len;
	*ret = found;
	return 1;
}

static int fake_receive(void *message, void *data, size_t len, void **ret, char *text)
{
	struct message *m = message;

	(void)text;
	memcpy(data, m->data, len);
	free(m);
	*ret = &done_already;
	return 0;
}

static int fake_done(void *request, char *text)
{
	(void)text;
	return request == &done_already;
}

static int fake_finalize(char *text)
{
	(void)text;
	return 0;
}

static void fake_end_all(void)
{
}

static const struct mpi_link fake = { .version = MPI_LINK_VERSION,
				      .init = fake_init,
				      .send = fake_send,
				      .probe = fake_probe,
				      .receive = fake_receive,
				      .done = fake_done,
				      .finalize = fake_finalize,
				      .end_all = fake_end_all };

static const char *const names[RANKS] = { "a", "b", "c", "d", "e", "f" };

struct rank {
	int number;
	int (*run)(struct comm *comm, struct error *err);
	bool absent;
	int rc;
	struct error err;
	struct clock clock;
};

static void *rank_main(void *argument)
{
	struct rank *r = argument;
	struct comm *comm;

	own = r->number;
	clock_init(&r->clock, false);
	r->rc = comm_mpi_open(&fake, &r->clock, &comm, &r->err);
	if (r->rc == 0) {
		comm->names = names;
		r->rc = r->absent ? 0 : r->run(comm, &r->err);
		if (!r->absent)
			comm_close(comm);
		else
			free(comm);
	}
	return NULL;
}

/* Runs it on all ranks at once; all but the absent one. */
static void on_all(struct rank *rank, int (*run)(struct comm *, struct error *), int absent)
{
	pthread_t thread[RANKS];

	for (int i = 0; i < RANKS; i++) {
		rank[i] = (struct rank){ .number = i, .run = run, .absent = i == absent };
		assert_int_equal(pthread_create(&thread[i], NULL, rank_main, &rank[i]), 0);
	}
	for (int i = 0; i < RANKS; i++)
		pthread_join(thread[i], NULL);
	while (under_way) {
		struct message *m = under_way;

		under_way = m->next;
		free(m);
	}
}

static void all_do(int (*run)(struct comm *, struct error *))
{
	struct rank rank[RANKS];

	on_all(rank, run, -1);
	for (int i = 0; i < RANKS; i++)
		if (rank[i].rc)
			fail_msg("rank %d: %s", i, rank[i].err.text);
}

static int64_t in(const struct comm *comm, int64_t ns)
{
	return clock_now(comm->clock) + ns;
}

#endif
