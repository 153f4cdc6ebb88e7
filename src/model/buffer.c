/* How a switch's buffer is shared, and what marking and pausing need of it. */
#include "model/burst.h"

#include <math.h>
#include <stddef.h>

/* T = alpha * (pool - k * T), solved for T: Choudhury and Hahne, Dynamic queue length thresholds, 1998. */
double buffer_limit(const struct buffer *buffer, uint32_t queues)
{
	if (buffer->alpha > 0)
		return buffer->pool * buffer->alpha / (1 + queues * buffer->alpha);
	return buffer->limit;
}

double buffer_alpha(double pool, double limit)
{
	return limit < pool ? limit / (pool - limit) : -1;
}

bool buffer_infer(double one, double two, double *ret_pool, double *ret_alpha)
{
	const double per_pool = 1 / two - 1 / one; /* 1 / L(k) = (1 / alpha + k) / pool */

	if (per_pool <= 0) {
		*ret_pool = INFINITY;
		*ret_alpha = 0;
		return false;
	}
	*ret_pool = 1 / per_pool;
	*ret_alpha = buffer_alpha(*ret_pool, one);
	return *ret_alpha > 0;
}

double ecn_time(const struct burst *burst, double kmin)
{
	const double net = burst_net(burst);

	return net > 0 ? kmin / net : INFINITY;
}

double ecn_uncontrolled(const struct burst *burst, double kmin, double round_trip)
{
	const double all = burst->senders * burst->bytes;

	return fmin(burst->senders * burst->rate * (round_trip + ecn_time(burst, kmin)), all);
}

double ecn_share(const struct ecn *ecn, double q)
{
	if (q <= ecn->kmin)
		return 0;
	return q < ecn->kmax ? ecn->pmax * (q - ecn->kmin) / (ecn->kmax - ecn->kmin) : 1;
}

/* The antiderivative of ecn_share. */
static double area(const struct ecn *ecn, double q)
{
	const double width = ecn->kmax - ecn->kmin;

	if (q <= ecn->kmin)
		return 0;
	if (q < ecn->kmax)
		return ecn->pmax * (q - ecn->kmin) * (q - ecn->kmin) / (2 * width);
	return ecn->pmax * width / 2 + q - ecn->kmax;
}

double ecn_mean(const struct ecn *ecn, double from, double to)
{
	if (fabs(to - from) < 1e-3)
		return ecn_share(ecn, from);
	return (area(ecn, to) - area(ecn, from)) / (to - from);
}

/* IEEE 802.3 31B: how many quanta of 512 bit times a port of that rate may take to obey a pause frame. */
static double pause_quanta(double link)
{
	static const struct {
		double gigabits, quanta;
	} table[] = { { 10, 67 }, { 25, 80 }, { 40, 118 }, { 50, 147 }, { 100, 394 }, { 200, 453 }, { 0, 905 } };
	size_t i = 0;

	while (table[i].gigabits > 0 && link * 8 > table[i].gigabits * 1.001e9)
		i++;
	return table[i].quanta;
}

#define QUANTUM        64.0 /* bytes */
#define LIGHT_IN_CABLE 1.98e8 /* m/s */

/* A frame already begun on either side, the cable both ways, and the peer's response; as SONiC computes it, without its
 * factors for cells and for delays of a certain chip. */
static double in_flight(const struct pfc_port *port)
{
	return port->mtu + 2 * port->cable / LIGHT_IN_CABLE * port->link + pause_quanta(port->link) * QUANTUM;
}

double pfc_delay(const struct pfc_port *port)
{
	return in_flight(port) / port->link;
}

double pfc_headroom(const struct pfc_port *port)
{
	return port->mtu + in_flight(port);
}
