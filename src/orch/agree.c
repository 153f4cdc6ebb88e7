/* Collective calls made of others: a barrier that agrees on failure (the sentence that tells most reaches all), and allgather. */
#include "orch/comm.h"
#include "orch/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERRNO 4095

static void pack(const struct error *error, struct buf *to)
{
	buf_put_u32(to, (uint32_t)-error->code);
	buf_put_string(to, error->code ? error->text : "");
}

static int unpack(const struct buf *from, struct error *ret, struct error *err)
{
	struct error error = { 0 };
	struct cursor c;
	uint32_t code;

	cursor_init(&c, from->data, from->len);
	code = cursor_u32(&c);
	cursor_text(&c, error.text, sizeof(error.text));
	if (c.failed || c.left || code > MAX_ERRNO)
		return error_set(err, -EPROTO, "a rank sent a malformed verdict");
	error.code = -(int)code;
	*ret = error;
	return 0;
}

bool comm_consequence(const struct error *error)
{
	return error->code == -ETIMEDOUT || error->code == -ECONNREFUSED || error->code == -ECONNRESET;
}

/* Rank 0: the lowest failing rank's error with its host's name, or none; one that may be the consequence of another gives way to it. */
static void judge_two(const struct comm *comm, const struct error *all, struct error *ret)
{
	struct error verdict = { 0 };

	for (unsigned i = 0; i < comm->size; i++) {
		struct error next = all[i];

		if (i && next.code)
			error_prefix(&next, "host '%s'", comm->peer_name);
		if (next.code && (!verdict.code || (comm_consequence(&verdict) && !comm_consequence(&next))))
			verdict = next;
	}
	*ret = verdict;
}

/* Whether a rank before this one has failed with the same words. */
static bool is_said(const struct error *all, unsigned rank)
{
	for (unsigned i = 0; i < rank; i++)
		if (all[i].code == all[rank].code && !strcmp(all[i].text, all[rank].text))
			return true;
	return false;
}

static void append(struct error *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(struct error *to, const char *format, ...)
{
	const size_t len = strlen(to->text);
	va_list args;

	va_start(args, format);
	vsnprintf(to->text + len, sizeof(to->text) - len, format, args);
	va_end(args);
}

/* "host 'a', 'b': sentence": all that failed with the words of this one. */
static void say(const struct error *all, const char *const *names, unsigned count, unsigned rank, struct error *ret)
{
	append(ret, ret->text[0] ? "; host" : "host");
	for (unsigned i = rank; i < count; i++)
		if (all[i].code == all[rank].code && !strcmp(all[i].text, all[rank].text))
			append(ret, "%s '%s'", i == rank ? "" : ",", names[i]);
	append(ret, ": %s", all[rank].text);
}

void comm_join_errors(const struct error *all, const char *const *names, unsigned count, struct error *ret)
{
	bool cause = false;

	*ret = (struct error){ 0 };
	for (unsigned i = 0; i < count; i++)
		cause |= all[i].code && !comm_consequence(&all[i]);
	for (unsigned i = 0; i < count; i++) {
		if (!all[i].code || (cause && comm_consequence(&all[i])) || is_said(all, i))
			continue;
		if (!ret->code)
			ret->code = all[i].code;
		say(all, names, count, i, ret);
	}
}

static int judge(const struct comm *comm, const struct buf *all, struct error *ret, struct error *err)
{
	struct error *error = calloc(comm->size, sizeof(*error));
	int rc = error ? 0 : error_set(err, -ENOMEM, "no memory for the ranks' verdicts");

	for (unsigned i = 0; i < comm->size && !rc; i++)
		rc = unpack(&all[i], &error[i], err);
	if (!rc)
		comm->names ? comm_join_errors(error, comm->names, comm->size, ret) : judge_two(comm, error, ret);
	free(error);
	return rc;
}

static int exchange(struct comm *comm, const struct error *mine, int64_t deadline_ns, struct error *verdict,
		    struct error *err)
{
	struct buf part = BUF_INIT, word = BUF_INIT;
	struct buf *all = calloc(comm->size, sizeof(*all));
	int rc;

	pack(mine, &part);
	rc = all && !part.failed ? 0 : error_set(err, -ENOMEM, "no memory for the ranks' verdicts");
	if (!rc)
		rc = comm_gather(comm, &part, all, deadline_ns, err);
	if (!rc && comm->rank == 0) {
		rc = judge(comm, all, verdict, err);
		pack(verdict, &word);
	}
	if (!rc)
		rc = comm_bcast(comm, &word, deadline_ns, err);
	if (!rc && comm->rank != 0)
		rc = unpack(&word, verdict, err);
	for (unsigned i = 0; all && i < comm->size; i++)
		buf_release(&all[i]);
	free(all);
	buf_release(&part);
	buf_release(&word);
	return rc;
}

int comm_agree(struct comm *comm, const struct error *mine, int64_t deadline_ns, struct error *err)
{
	const struct error own = *mine; /* mine and err may be the same */
	struct error verdict = { 0 }, lost = { 0 };
	int rc = exchange(comm, &own, deadline_ns, &verdict, &lost);

	error_clear(err);
	if (!rc)
		return verdict.code ? error_set(err, verdict.code, "%s", verdict.text) : 0;
	/* Our own failure says more than a connection that broke after it, unless that is what it comes from. */
	if (own.code && !comm_consequence(&own))
		return error_set(err, own.code, "%s", own.text);
	return error_set(err, rc, "%s", lost.text);
}

int comm_allgather(struct comm *comm, const struct buf *mine, struct buf *ret, int64_t deadline_ns, struct error *err)
{
	struct buf *all = calloc(comm->size, sizeof(*all));
	int rc = all ? comm_gather(comm, mine, all, deadline_ns, err)
		     : error_set(err, -ENOMEM, "no memory for %u ranks", comm->size);

	for (unsigned i = 0; rc == 0 && comm->rank == 0 && i < comm->size; i++)
		buf_put(ret, all[i].data, all[i].len);
	if (rc == 0)
		rc = ret->failed ? error_set(err, ret->failed, "no memory for %u ranks", comm->size)
				 : comm_bcast(comm, ret, deadline_ns, err);
	for (unsigned i = 0; all && i < comm->size; i++)
		buf_release(&all[i]);
	free(all);
	return rc;
}
