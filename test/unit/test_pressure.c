/* Pressure of a plan: how many send into its busiest port, and that an all-to-all of thousands is not counted one by one. */
#include "words.h"

#include "base/error.h"
#include "plan/pressure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BURSTS            "\"burstProfile\":\"sync_burst\",\"burstSize\":9,\"tests\":["
#define TEST(what, hosts) "{\"trafficPattern\":\"" what "\",\"testNodes\":[{\"hostName\":\"" hosts "\"}]}"

static const struct row {
	const char *line;
	uint32_t senders, ports, sent;
	uint64_t steps;
} rows[] = {
	{ "--traffic_pattern incast -n n[1-8] -d mlx5_[0-1]", 15, 1, 1, 15 },
	{ "--traffic_pattern all2all -n n[1-8] -d mlx5_[0-1]", 15, 16, 15, 0 },
	{ "--traffic_pattern all2all -n n[1-512] -d mlx5_[0-7]", 4095, 4096, 4095, 0 },
	{ "--traffic_pattern all2all -n n[1-4] -d mlx5_[0-1] --traffic_partition railed", 3, 8, 3, 24 },
	{ "--traffic_pattern all2all -n n[1-4] -d mlx5_[0-1] --traffic_partition remote", 6, 8, 6, 48 },
	{ "--traffic_pattern allreduce -n n[1-8] -d mlx5_[0-1]", 2, 16, 2, 32 },
	{ "--traffic_pattern ring -n n[1-5] -d a", 1, 5, 1, 5 },
	{ "--traffic_pattern one_to_many -n n[1-5] -d a", 1, 4, 4, 4 },
	{ "--traffic_pattern bisection -n n[1-6] -d a", 1, 3, 1, 3 },
	{ "--traffic_pattern bisection -n n[1-6] -d a --dual_unidir", 1, 6, 1, 6 },
	{ "--traffic_pattern all2all -n n[1-3] -d a,b -G [0,1] -M cuda", 5, 6, 5, 30 },
	{ "-f {" BURSTS TEST("incast", "a,n[1-4]") "," TEST("incast", "b,m[1-4]") "]}", 4, 2, 1, 8 },
	{ "-f {" BURSTS TEST("incast", "a,n[1-4]") "," TEST("incast", "a,m[1-4]") "]}", 8, 1, 1, 8 },
};

static void test_busiest_port(void **state)
{
	const struct request_host host = { .has_rdma = true, .device_is_rdma = true };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[512];
		struct error err = { 0 };
		struct plan *plan = NULL;
		struct pressure pressure;
		struct request request;

		snprintf(line, sizeof(line), "%s%s", rows[i].line,
			 strstr(rows[i].line, "-f ") ? "" : " --burst_profile sync_burst --burst_size 9");
		assert_int_equal(parse_line(line, &request, &err), 0);
		request.planning = true;
		if (plan_of_request(&plan, &request, &host, &err) < 0)
			fail_msg("%s: %s", rows[i].line, err.text);
		assert_int_equal(plan_pressure(plan, &pressure, &err), 0);
		if (pressure.senders != rows[i].senders || pressure.ports != rows[i].ports ||
		    pressure.sent != rows[i].sent || pressure.steps != rows[i].steps)
			fail_msg("%s: %u senders, %u ports, %u sent, %llu steps", rows[i].line, pressure.senders,
				 pressure.ports, pressure.sent, (unsigned long long)pressure.steps);
		plan_free(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_busiest_port) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
