/* What other benchmarks mean by a letter that is unknown here or means something else. */
#include "cli/hint.h"

#include <stddef.h>

struct hint {
	char letter;
	const char *text;
};

static const struct hint hints[] = {
	/* unknown here */
	{ 'e', "perftest's completion events: here --events" },
	{ 'F', "perftest's ignoring of the CPU frequency: not needed here, leave it out" },
	{ 'I', "perftest's inline size: here --inline_size" },
	{ 'l', "perftest's messages a doorbell: here --post_batch" },
	{ 'L', "perftest's hop limit: here --hop_limit" },
	{ 'o', "perftest's outstanding reads: here --max_rd_atomic" },
	{ 'p', "perftest's control port: here --port" },
	{ 'P', "iperf3's parallel streams: here -q, or -N for workers" },
	{ 'Q', "perftest's completion moderation: here --cq_mod" },
	{ 'T', "perftest's type of service: here --traffic_class" },
	{ 'u', "perftest's acknowledgement timeout: here --qp_timeout" },
	{ 'x', "perftest's GID index: here -g" },
	{ 'z', "perftest's exchange by rdma_cm: here --rdma_cm" },
	/* something else here: said when the value does not fit */
	{ 'C', "perftest's report in cycles: here latencies are in us" },
	{ 'M', "perftest's multicast group has no counterpart here" },
	{ 'N', "perftest's suppression of the peak: not needed here" },
	{ 'R', "perftest's rdma_cm: here --rdma_cm" },
	{ 'm', "perftest's MTU: here --mtu" },
	{ 'r', "perftest's receive depth: here --rx_depth" },
	{ 'w', "perftest's bandwidth limit: here --bw_threshold" },
};

const char *cli_hint(char letter)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].letter == letter)
			return hints[i].text;
	return NULL;
}
