/* Packet pacing: takes a queue pair's rate, and holds its messages back to it by an absolute schedule. */
#include "double.h"

#include <errno.h>
#include <stdatomic.h>

static uint32_t paced_types(void)
{
	return 1u << IBV_QPT_UC | 1u << IBV_QPT_UD | (uint32_t)config->pacing_rc << IBV_QPT_RC;
}

struct ibv_packet_pacing_caps pacer_caps(void)
{
	if (!config->pacing_max)
		return (struct ibv_packet_pacing_caps){ 0 };
	return (struct ibv_packet_pacing_caps){
		.qp_rate_limit_min = config->pacing_min,
		.qp_rate_limit_max = config->pacing_max,
		.supported_qpts = paced_types(),
	};
}

static int check(const struct fab_qp *qp, const struct ibv_qp_rate_limit_attr *attr)
{
	const uint32_t rate = attr->rate_limit;

	if (qp->type > IBV_QPT_UD || !(paced_types() & 1u << qp->type))
		return EOPNOTSUPP;
	if (qp->state != IBV_QPS_RTS || attr->comp_mask || (rate && rate < config->pacing_min) ||
	    rate > config->pacing_max)
		return EINVAL;
	return (attr->max_burst_sz || attr->typical_pkt_sz) && !config->pacing_bursts ? EINVAL : 0;
}

/* What it does of what it was asked for. */
static uint32_t paced(uint32_t rate)
{
	static atomic_uint asked;
	const bool half = config->pacing_uneven && atomic_fetch_add(&asked, 1) % 2;

	return (uint32_t)((uint64_t)rate * config->pacing_percent / (half ? 200 : 100));
}

int pacer_set(struct ibv_qp *base, struct ibv_qp_rate_limit_attr *attr)
{
	struct d_qp *qp = d_qp_of(base);
	int code = fails(CALL_ibv_modify_qp_rate_limit);

	if (!code)
		code = check(qp->fab, attr);
	if (code)
		return code;
	pthread_mutex_lock(&qp->lock);
	qp->pacer = (struct pacer){
		.kbits = paced(attr->rate_limit),
		.burst = attr->max_burst_sz,
		.idle = true,
	};
	pthread_mutex_unlock(&qp->lock);
	count_add(COUNT_PACED, (int)((int64_t)attr->rate_limit - count_of(COUNT_PACED)));
	return 0;
}

/* When the next message may leave: bytes of whole bursts before it, at the rate. */
static int64_t due(const struct pacer *pacer)
{
	const uint64_t bytes = pacer->burst ? pacer->bytes / pacer->burst * pacer->burst : pacer->bytes;

	return pacer->base + (int64_t)((unsigned __int128)bytes * 8000000 / pacer->kbits);
}

/* What was not used while the queue was empty is not made up for. */
bool pacer_holds(struct d_qp *qp)
{
	struct pacer *pacer = &qp->pacer;
	const int64_t now = pacer->kbits ? now_ns() : 0;

	if (!pacer->kbits)
		return false;
	if (pacer->idle && now > due(pacer)) {
		pacer->base = now;
		pacer->bytes = 0;
	}
	pacer->idle = false;
	return now < due(pacer);
}

void pacer_left(struct d_qp *qp, uint32_t bytes)
{
	qp->pacer.bytes += bytes;
	qp->pacer.idle = !send_stalls(qp);
}
