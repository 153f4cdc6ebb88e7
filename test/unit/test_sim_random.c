/* Both simulations of a switch agree on random cases: shared or static limits, marks, pauses, fast and slow senders. */
#include "sim_port.h"

#define FLOWS  12
#define QUEUES 3

static double between(struct lot *lot, double low, double high)
{
	return low + (high - low) * lot_uniform(lot);
}

/* Senders as fast as the port or slower, some in groups, some with several bursts; shared or static limits. */
static double random_case(struct lot *lot, struct sim_queue *queue, struct sim_flow *flow, struct sim_switch *box)
{
	double packets = 0;

	*box = lot_uniform(lot) < 0.7 ? switch_of(between(lot, 1, 40) * MB, between(lot, 0.1, 4), 0)
				      : switch_of(0, 0, between(lot, 1, 20) * MB);
	if (lot_uniform(lot) < 0.5)
		box->ecn = (struct ecn){ .kmin = 0.4 * MB, .kmax = between(lot, 1, 3) * MB, .pmax = 0.2 };
	if (box->buffer.alpha <= 0 && lot_uniform(lot) < 0.5) {
		box->xoff = between(lot, 0.3, 0.9) * box->buffer.limit;
		box->xon = 0.5 * box->xoff;
		box->delay = between(lot, 0.5, 3) * US;
	}
	for (unsigned k = 0; k < QUEUES; k++)
		queue[k] = (struct sim_queue){ .drain = between(lot, 100, 400) * GBIT, .copies = 1 };
	for (unsigned i = 0; i < FLOWS; i++) {
		flow[i] = flow_of((uint32_t)between(lot, 0, QUEUES - 0.01), between(lot, 5, 60),
				  between(lot, 0, 60) * US);
		flow[i].rate = between(lot, 25, 400) * GBIT;
		flow[i].senders = (uint32_t)between(lot, 1, 4.99);
		flow[i].period = between(lot, 50, 500) * US;
		flow[i].bursts = (uint64_t)between(lot, 1, 4.99);
		packets += flow[i].senders;
	}
	return packets * PACKET;
}

static void test_random_cases(void **state)
{
	struct lot lot;
	unsigned lossy = 0;

	(void)state;
	lot_init(&lot, 20261201, 1);
	for (unsigned k = 0; k < 200; k++) {
		struct sim_queue queue[QUEUES];
		struct sim_flow flow[FLOWS];
		struct sim sim = { .queue = queue, .queues = QUEUES, .flow = flow, .flows = FLOWS, .until = INFINITY };
		struct sim_outcome fluid[QUEUES], packet[QUEUES];
		const double slack = random_case(&lot, queue, flow, &sim.box);

		simulate(sim_fluid, &sim, fluid);
		simulate(sim_packets, &sim, packet);
		for (unsigned q = 0; q < QUEUES; q++) {
			near(packet[q].offered, fluid[q].offered, 1);
			near(packet[q].peak, fluid[q].peak, slack);
			near(packet[q].dropped, fluid[q].dropped, 2 * slack); /* of up to four bursts each */
			near(packet[q].marked, fluid[q].marked, 3 * slack + 0.02 * fluid[q].marked);
			near(packet[q].paused, fluid[q].paused, 0.02 * fluid[q].paused + 20 * US);
			lossy += fluid[q].dropped > 0;
		}
	}
	assert_in_range(lossy, 100, 500); /* both kinds are there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
