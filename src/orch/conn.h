/* One control connection after the hellos: a keeper thread reads it and keeps it alive, callers send and take frames. */
#ifndef ORCH_CONN_H
#define ORCH_CONN_H

#include "base/buf.h"
#include "base/error.h"
#include "orch/comm.h"
#include "orch/frame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a peer may make us keep before the calling thread takes it; more is a protocol error. */
#define CONN_FRAMES 64u /* frames of collective calls */
#define CONN_BYTES  (32u << 20) /* of their payload */
#define CONN_NOTES  1024u
#define CONN_UNSENT (1u << 20) /* bytes of answers and notes that the peer does not read */

struct conn_item {
	struct conn_item *next;
	unsigned type;
	struct buf payload;
};

struct conn_queue {
	struct conn_item *head, **tail;
	size_t items, bytes;
};

struct conn {
	int fd, wake; /* socket, non-blocking; eventfd that wakes the keeper */
	const struct clock *clock;
	char name[200]; /* how the user knows the other host */
	pthread_t keeper;
	bool running; /* the keeper was started */
	pthread_mutex_t lock; /* of all that follows but reader and heard_ns, which are the keeper's own */
	pthread_cond_t changed; /* on CLOCK_MONOTONIC: a frame came, the last byte went out, or it failed */
	struct buf out; /* bytes not yet taken by the kernel: from out_done on */
	size_t out_done;
	struct conn_queue parts, notes; /* collective calls, notes */
	uint64_t ping_number; /* of the last ping sent */
	bool ping_answered;
	struct ping ping;
	bool closing; /* we ask the keeper to end */
	atomic_int gone; /* not 0 with the next; for those who wait elsewhere, without the lock */
	struct error error; /* why the connection is of no more use; the first reason stays */
	struct frame_reader reader;
	int64_t heard_ns, beat_ns; /* last byte came; next beat is due */
};

/* Takes over fd in every case (connected, hellos done). */
int conn_open(int fd, const char *name, const struct clock *clock, struct conn **ret, struct error *err);

/* Sends what is left, waits (at most half a second) until the other side has closed too, frees. NULL is fine. */
void conn_close(struct conn *conn);

/* Sends a frame and waits until the kernel has all of it. */
int conn_send(struct conn *conn, enum frame_type type, const struct buf *payload, int64_t deadline_ns,
	      struct error *err);
/* Sends a frame without waiting; what the kernel does not take now the keeper sends later. */
int conn_push(struct conn *conn, enum frame_type type, const void *payload, size_t len, struct error *err);

/*
 * The next part of a collective call (to be released by the caller); another type than the one expected is -EPROTO.
 * -EINTR within 200 ms of *interrupted being set (NULL: never) while nothing has come.
 */
int conn_take(struct conn *conn, enum frame_type type, struct buf *ret, int64_t deadline_ns,
	      const atomic_int *interrupted, struct error *err);
/* The next note's payload; -EAGAIN without a sentence when none came in time. */
int conn_take_note(struct conn *conn, struct buf *ret, int64_t deadline_ns, struct error *err);

int conn_ping(struct conn *conn, struct ping *ret, int64_t deadline_ns, struct error *err);

/* --- Between conn.c and keeper.c; the lock is held --- */

void *conn_keep(void *arg); /* the keeper thread */
void conn_fail(struct conn *conn, const struct error *why);
void conn_broken(struct conn *conn, int code); /* conn_fail: the socket's own failure (0 = end of file) in words */
void conn_put(struct conn *conn, enum frame_type type, const void *payload, size_t len); /* frame to out, and flush */
void conn_flush(struct conn *conn); /* gives the kernel what it takes */
int conn_enqueue(struct conn_queue *queue, unsigned type, struct buf *payload); /* takes over payload; -ENOMEM */

#endif
