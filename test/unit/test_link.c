/* Rates of links: width times speed of an RDMA port, and none for this host's own addresses. */
#include "driver/ibv.h"
#include "driver/sock.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void rate_is_width_times_speed(void **state)
{
	static const struct {
		uint8_t layer, width, speed;
		double gbps;
	} ports[] = {
		{ IBV_LINK_LAYER_INFINIBAND, 2, 128, 400 },  { IBV_LINK_LAYER_INFINIBAND, 2, 32, 100 },
		{ IBV_LINK_LAYER_INFINIBAND, 2, 16, 54.56 }, { IBV_LINK_LAYER_INFINIBAND, 2, 4, 32 },
		{ IBV_LINK_LAYER_INFINIBAND, 16, 64, 100 },  { IBV_LINK_LAYER_ETHERNET, 1, 4, 10 },
		{ IBV_LINK_LAYER_ETHERNET, 2, 32, 103.125 }, { IBV_LINK_LAYER_ETHERNET, 2, 0, 0 },
		{ IBV_LINK_LAYER_ETHERNET, 3, 32, 0 },       { IBV_LINK_LAYER_ETHERNET, 2, 33, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		const struct ibv_port_attr attr = { .link_layer = ports[i].layer,
						    .active_width = ports[i].width,
						    .active_speed = ports[i].speed };

		assert_true(fabs(ib_link_gbps(&attr) - ports[i].gbps) < 1e-9);
	}
}

static void loopback_has_no_link(void **state)
{
	struct sockaddr_storage here = { 0 }, nowhere = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&here;

	(void)state;
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(sock_link_rate(&here, &here) <= 0);
	*(struct sockaddr_in *)&nowhere = *in;
	((struct sockaddr_in *)&nowhere)->sin_addr.s_addr = htonl(0xcb007105); /* 203.0.113.5, for documents */
	assert_true(sock_link_rate(&here, &nowhere) <= 0);
	assert_true(sock_link_rate(&nowhere, &here) <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_width_times_speed),
		cmocka_unit_test(loopback_has_no_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
