/* Judges a device that paces by what came of it: whether its slowest and its fastest queue pair kept --rate_limit. */
#include "report/judge.h"

#include "base/units.h"
#include "model/burst.h"
#include "spec/burst.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>

#define LIMIT     0.01 /* of the rate */
#define STEP      1e-6 /* Gb/s: devices know whole kb/s */
#define POLL      1e-3 /* s by which a completion may be taken late: the worker was away */
#define BLUR_MOST 0.05 /* of the rate: what that may come to */
#define LEAST_MTU 256.0 /* the headers' share is the largest */

/* The share of payload in what the device may count as its rate. */
static double payload_share(const struct spec *spec, const char *mtu)
{
	const double size = (double)spec->size;
	double packet = spec->mtu == SPEC_AUTO ? LEAST_MTU : (double)spec->mtu;

	if (mtu)
		(void)units_parse_real(mtu, &packet, NULL);
	return payload_least(size / ceil(size / packet));
}

bool judge_pacing(const struct spec *spec, const struct burst_summary *bursts, const char *mtu, struct remark *ret)
{
	const double asked = (double)spec->rate_limit / 1e9, blur = POLL / bursts->span;
	const bool fast = bursts->fastest_gbps > asked * (1 + LIMIT + blur) + STEP;
	const bool slow = bursts->slowest_gbps < asked * payload_share(spec, mtu) * (1 - LIMIT - blur) - STEP;
	char text[UNITS_TEXT], limit[UNITS_TEXT];

	if (!bursts->by_device)
		return false;
	*ret = (struct remark){ .id = fast || slow ? "pacingOff" : "pacingUnknown", .serious = fast || slow };
	if (fast || slow)
		snprintf(ret->text, sizeof(ret->text),
			 "the device was to hold each queue pair to %s Gbit/sec and let %s through on one: more apart "
			 "than headers and rounding explain",
			 units_format_figure(asked, limit),
			 units_format_figure(fast ? bursts->fastest_gbps : bursts->slowest_gbps, text));
	else if (bursts->unrated)
		snprintf(ret->text, sizeof(ret->text),
			 "of %llu queue pairs too few bursts were completed to tell at which rate the device paced",
			 (unsigned long long)bursts->unrated);
	else if (blur > BLUR_MOST)
		snprintf(
			ret->text, sizeof(ret->text),
			"a queue pair's bursts lasted for %s ms only: too short to tell at which rate the device paced",
			units_format_figure(bursts->span * 1e3, text));
	return *ret->text != 0;
}
