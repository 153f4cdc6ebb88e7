/* Traffic classes of sockets, and of both ends of a control connection. */
#include "base/net.h"
#include "comm_pair.h"

static int mark_it(struct comm *comm, void *arg)
{
	struct error err = { 0 };

	EXPECT(comm_mark(comm, 40, &err) == 0);
	EXPECT(net_class(*(int *)arg) == 40);
	return 0;
}

/* Sockets of either family take a traffic class. */
static void each_end_marks_what_it_sends(void **state)
{
	const int v6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct comm_ops deaf = { 0 };
	struct comm none = { .ops = &deaf };
	struct error err = { 0 };
	struct comm *comm;
	struct peer peer;
	int fds[2];

	(void)state;
	tcp_pair(fds);
	peer = (struct peer){ .fd = fds[1], .run = mark_it, .arg = &fds[1] };
	assert_int_equal(pthread_create(&peer.thread, NULL, peer_main, &peer), 0);
	assert_int_equal(comm_tcp_client(fds[0], "peer", within(30), &comm, &err), 0);
	assert_int_equal(net_class(fds[0]), 0);
	assert_int_equal(comm_mark(comm, 32, &err), 0);
	assert_int_equal(net_class(fds[0]), 32);
	pair_close(&peer, comm);
	assert_int_equal(comm_mark(&none, 32, &err), -EOPNOTSUPP);
	assert_int_equal(net_set_class(v6, 97), 0);
	assert_int_equal(net_class(v6), 97);
	close(v6);
	assert_int_equal(net_set_class(v6, 4), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_marks_what_it_sends),
	};

	return cmocka_run_group_tests(tests, pair_clock_init, NULL);
}
