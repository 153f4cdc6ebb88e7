/* The rates of single queue pairs, their mean and how far each is from it. */
#include "spec/result.h"

#include <math.h>
#include <stddef.h>

static const struct worker_result *kept(const struct rank_result *rank, uint32_t index)
{
	const struct worker_result *worker = &rank->worker[index];

	return worker->qp_count && worker_has_window(worker) ? worker : NULL;
}

/* Bytes of the first so many messages of a QP: of a list they come in the order of its ring. */
static uint64_t payload(const struct spec *spec, uint64_t messages)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(spec, op);
	uint64_t bytes = messages / ops * spec_bytes(spec);

	for (unsigned i = 0; i < messages % ops; i++)
		bytes += op[i].size;
	return bytes;
}

double rank_qp_gbps(const struct result *result, const struct rank_result *rank, uint32_t worker, uint32_t qp)
{
	const struct worker_result *w = kept(rank, worker);
	const uint64_t *edge;

	if (!w || qp >= w->qp_count)
		return 0;
	edge = rank->active ? w->qp[qp].sent : w->qp[qp].received;
	if (edge[1] < edge[0])
		return 0;
	return (double)(payload(&result->request.spec, edge[1]) - payload(&result->request.spec, edge[0])) * 8 /
	       (double)(w->end_ns - w->begin_ns);
}

bool rank_qp_rates(const struct result *result, const struct rank_result *rank, struct qp_rates *ret)
{
	*ret = (struct qp_rates){ 0 };
	for (uint32_t i = 0; rank && i < rank->workers; i++) {
		const struct worker_result *worker = kept(rank, i);

		for (uint32_t qp = 0; worker && qp < worker->qp_count; qp++) {
			const double gbps = rank_qp_gbps(result, rank, i, qp);

			ret->count++;
			ret->mean += gbps;
			ret->largest = fmax(ret->largest, gbps);
		}
	}
	if (ret->count)
		ret->mean /= (double)ret->count;
	return ret->count > 0;
}

double qp_deviation(const struct qp_rates *all, double gbps)
{
	return all->mean > 0 ? 100 * (gbps / all->mean - 1) : (double)NAN;
}
