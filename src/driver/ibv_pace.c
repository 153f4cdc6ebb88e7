/* Packet pacing: the device itself holds each queue pair back to --rate_limit (--rate_limit_type hw, auto). */
#include "driver/ibv.h"

#include "spec/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define QUEUED_S 20 /* longest that two bursts may wait in the queue: an end has to wait for them */

/* What the device can; 0, or an errno. */
static int query(const struct ib_port *p, struct ibv_packet_pacing_caps *ret)
{
	struct ibv_device_attr_ex attr = { 0 };
	const int rc = ibv_query_device_ex(p->context, NULL, &attr);

	*ret = attr.packet_pacing_caps;
	return rc;
}

static bool takes_kind(const struct ib_port *p, const struct ibv_packet_pacing_caps *caps)
{
	const enum ibv_qp_type kind = ib_qp_kind(p->spec);

	return kind < 32 && ibv_is_qpt_supported(caps->supported_qpts, kind);
}

/* The device counts whole kbit/s. */
static uint64_t kbits(const struct spec *spec)
{
	return spec->rate_limit / 1000;
}

static uint64_t burst_bytes(const struct spec *spec)
{
	return spec->burst_size * spec->size;
}

/* Why the device cannot pace one of the port's tests: these differ in size, burst and depth. Empty: it can. */
static void judge_test(const struct spec *test, char *why, size_t room)
{
	if (spec_verbs(test) & (VERB_BIT(VERB_READ) | ATOMIC_VERBS))
		snprintf(why, room, "it paces requests, and of a verb that fetches these are not what takes long");
	else if (test->burst_size > 1 && burst_bytes(test) > UINT32_MAX)
		snprintf(why, room, "a burst is at most 4 GiB there");
	else if (test->tx_depth < 2 * test->burst_size)
		snprintf(why, room, "--tx_depth %llu has no room for two bursts, and the queue would run dry",
			 (unsigned long long)test->tx_depth);
	else if ((double)burst_bytes(test) * 8 * 2 > (double)test->rate_limit * QUEUED_S)
		snprintf(why, room, "two bursts in its queue would take more than %d s", QUEUED_S);
}

/* Fills why when the device's abilities exclude what is asked. */
static void judge(struct ib_port *p, const struct ibv_packet_pacing_caps *caps)
{
	const uint64_t asked = kbits(p->spec);
	char *const why = p->pace.why;
	const size_t room = sizeof(p->pace.why);
	const struct spec *test;

	if (!caps->qp_rate_limit_max)
		snprintf(why, room, "it has no packet pacing");
	else if (!takes_kind(p, caps))
		snprintf(why, room, "its packet pacing does not know %s queue pairs",
			 transport_name(p->spec->transport));
	else if (asked < caps->qp_rate_limit_min || asked > caps->qp_rate_limit_max)
		snprintf(why, room, "it paces from %u to %u kbit/sec, not %llu", caps->qp_rate_limit_min,
			 caps->qp_rate_limit_max, (unsigned long long)asked);
	for (unsigned i = 0; !*why && (test = port_test(&p->conf, i)); i++)
		judge_test(test, why, room);
}

int ib_pace_open(struct ib_port *p, struct error *err)
{
	const bool must = p->spec->rate_limit_type == LIMITER_HW;
	struct ibv_packet_pacing_caps caps;
	int rc;

	if (p->spec->rate_limit_type == LIMITER_SW || !port_sends(&p->conf))
		return 0;
	rc = query(p, &caps);
	if (rc && must)
		return ib_fail(err, rc, "ibv_query_device_ex", "RDMA device %s does not tell its packet pacing",
			       p->name);
	if (rc)
		snprintf(p->pace.why, sizeof(p->pace.why),
			 "it does not tell its packet pacing: ibv_query_device_ex: %s", strerror(rc));
	else
		judge(p, &caps);
	p->pace.on = !*p->pace.why;
	if (p->pace.on || !must)
		return 0;
	return error_set(err, -EOPNOTSUPP,
			 "RDMA device %s cannot keep --rate_limit: %s; --rate_limit_type sw paces by the program",
			 p->name, p->pace.why);
}

/* A burst of several messages is to leave at once, as the program would post it; a single one as the device likes. */
int ib_pace_set(struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct spec *spec = p->spec;
	const unsigned mtu = ib_mtu_bytes(ep->mtu);
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = (uint32_t)kbits(spec) };
	int rc;

	if (spec->burst_size > 1) {
		attr.max_burst_sz = (uint32_t)burst_bytes(spec);
		attr.typical_pkt_sz = (uint16_t)(spec->size < mtu ? spec->size : mtu);
	}
	rc = ibv_modify_qp_rate_limit(ep->qp, &attr);
	return rc ? ib_fail(err, rc, "ibv_modify_qp_rate_limit",
			    "RDMA device %s does not hold QP %u to %u kbit/sec in bursts of %llu bytes", p->name,
			    ep->qp->qp_num, attr.rate_limit, (unsigned long long)burst_bytes(spec))
		  : 0;
}

/* What it can is told of any test; without an answer nothing is said. */
void ib_pace_facts(const struct ib_port *p, struct facts *ret)
{
	struct ibv_packet_pacing_caps caps;

	if (query(p, &caps) == 0 && caps.qp_rate_limit_max && takes_kind(p, &caps))
		facts_add(ret, "packetPacingKbitSec", "Packet pacing, kbit/sec", "%u to %u", caps.qp_rate_limit_min,
			  caps.qp_rate_limit_max);
	if (p->pace.on)
		facts_add_number(ret, "rateLimitKbitSec", "Paced by the device, kbit/sec", (long long)kbits(p->spec));
	else if (*p->pace.why)
		facts_add(ret, "notPacedByDevice", "Not paced by the device", "%s", p->pace.why);
}
