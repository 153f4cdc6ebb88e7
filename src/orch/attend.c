/* Who takes part in a scenario: each rank tells the others its machine, its address and how many workers it has. */
#include "base/net.h"
#include "orch/frame.h"
#include "orch/reach.h"
#include "orch/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* "node1" of "node1%2": what a name is without the number of its rank. */
void many_host_name(const char *name, char *ret, size_t size)
{
	size_t len = strcspn(name, "%");

	len = len < size ? len : size - 1;
	memcpy(ret, name, len);
	ret[len] = 0;
}

/* The address from which this host reaches another: no packet is sent. */
static int address_towards(const char *name, struct sockaddr_storage *ret, struct error *err)
{
	socklen_t len = sizeof(*ret);
	struct addrinfo *list;
	int fd = -1, rc = connect_resolve(name, 9, &list, err);

	if (rc < 0)
		return rc;
	for (const struct addrinfo *one = list; one && rc == 0; one = one->ai_next) {
		fd = socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) == 0 &&
		    getsockname(fd, (struct sockaddr *)ret, &len) == 0)
			rc = 1;
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(list);
	if (!rc)
		return error_set(err, -EHOSTUNREACH, "no address of host '%s' can be reached", name);
	net_set_port(ret, 0);
	return 0;
}

/* This rank's address: by which it reaches the first other host, or itself where there is no other. */
static int own_address(const struct many *many, struct sockaddr_storage *ret, struct error *err)
{
	const struct plan *plan = many->conf->plan;
	char own[SPEC_TEXT], other[SPEC_TEXT];

	many_host_name(plan->host[many->comm->rank].name, own, sizeof(own));
	for (uint32_t i = 0; i < plan->hosts; i++) {
		many_host_name(plan->host[i].name, other, sizeof(other));
		if (strcmp(own, other) != 0)
			return address_towards(other, ret, err);
	}
	return address_towards(own, ret, err);
}

/* Whether the passive side of a test has no thread: nothing but the device answers. */
static bool answers_alone(const struct spec *spec)
{
	const bool device = spec->driver == DRIVER_IBV || spec->driver == DRIVER_DV || spec->driver == DRIVER_NULL;

	return device && spec->metric == METRIC_BW && !(spec_verbs(spec) & TWO_SIDED_VERBS) && !spec->bidirectional;
}

static uint32_t count_threads(const struct share *share)
{
	uint32_t threads = 0;

	for (uint32_t i = 0; i < share->groups; i++)
		if (share->group[i].active || !answers_alone(&share->group[i].spec))
			threads += share->group[i].workers;
	return threads;
}

static void pack(const struct attendance *a, struct buf *to)
{
	buf_put_string(to, a->machine);
	buf_put_u32(to, a->threads);
	buf_put(to, &a->address, sizeof(a->address));
}

static int unpack(struct attendance *ret, struct cursor *from)
{
	cursor_text(from, ret->machine, sizeof(ret->machine));
	ret->threads = cursor_u32(from);
	cursor_get(from, &ret->address, sizeof(ret->address));
	if (ret->threads > 1u << 20 || (ret->address.ss_family != AF_INET && ret->address.ss_family != AF_INET6))
		from->failed = -EPROTO;
	return from->failed;
}

static void count_neighbours(struct many *many)
{
	const struct attendance *mine = &many->here[many->comm->rank];

	many->before = many->threads = 0;
	for (unsigned i = 0; i < many->comm->size; i++) {
		if (strcmp(many->here[i].machine, mine->machine) != 0)
			continue;
		many->before += i < many->comm->rank ? many->here[i].threads : 0;
		many->threads += many->here[i].threads;
	}
}

static int swap(struct many *many, const struct attendance *own, struct error *err)
{
	struct buf mine = BUF_INIT, all = BUF_INIT;
	struct cursor from;
	int rc;

	pack(own, &mine);
	rc = comm_allgather(many->comm, &mine, &all, many_deadline(many), err);
	cursor_init(&from, all.data, all.len);
	for (unsigned i = 0; rc == 0 && i < many->comm->size; i++)
		if (unpack(&many->here[i], &from) < 0)
			rc = error_set(err, -EPROTO, "rank %u tells what cannot be read", i);
	buf_release(&mine);
	buf_release(&all);
	if (rc == 0)
		count_neighbours(many);
	return rc;
}

int many_attend(struct many *many, struct error *err)
{
	struct attendance own = { .threads = count_threads(&many->share) };
	struct error mine = { 0 };
	int rc;

	machine_name(own.machine, sizeof(own.machine));
	own_address(many, &own.address, &mine);
	rc = comm_agree(many->comm, &mine, many_deadline(many), err);
	return rc == 0 ? swap(many, &own, err) : rc;
}
