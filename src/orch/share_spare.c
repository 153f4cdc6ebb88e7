/* Ends of connections that cannot be used while the others go on: both ends know, and their workers stay idle. */
#include "orch/share.h"

#include <errno.h>
#include <stdlib.h>

void member_fail(struct share *share, struct member *member, const struct error *why)
{
	const struct group *group = &share->group[member->group];

	for (uint32_t i = 0; i < group->workers; i++)
		member_flow(share, member, i)->idle = true;
	if (!member->error)
		member->error = calloc(1, sizeof(*member->error));
	if (member->error && !member->error->code)
		*member->error = *why;
}

/* For each end: test, key, role, and how it fails (0: it does not). */
static void put_states(struct share *share)
{
	for (uint32_t i = 0; i < share->members; i++) {
		const struct member *member = &share->member[i];
		struct buf *to = &share->to[member->peer];

		member_name(member, to);
		buf_put_u32(to, member->error ? (uint32_t)-member->error->code : 0);
	}
}

static int take_states(struct share *share, uint32_t peer, struct error *err)
{
	const char *name = share->plan->host[peer].name;
	struct cursor from;

	cursor_init(&from, share->from[peer].data, share->from[peer].len);
	while (from.left) {
		struct member *member = share_named(share, peer, &from);
		const uint32_t code = cursor_u32(&from);
		struct error other = { 0 };

		if (from.failed || !member || code > 4095)
			return error_set(err, -EPROTO, "what host '%s' says of its connections cannot be read", name);
		if (!code)
			continue;
		error_sys(&other, -(int)code, "host '%s' could not connect", name);
		member_fail(share, member, &other);
	}
	return 0;
}

int share_tell_failed(struct many *many, struct error *err)
{
	int rc;

	put_states(&many->share);
	rc = share_swap(many, many_deadline(many), err);
	for (uint32_t i = 0; rc == 0 && i < many->comm->size; i++)
		rc = take_states(&many->share, i, err);
	return rc;
}
