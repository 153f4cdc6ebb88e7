/* What counters mean, by their names: kind of event, unit, scale. */
#include "counters/counters.h"

#include <fnmatch.h>
#include <stddef.h>

#define PACKETS "packets"
#define BYTES   "bytes"
#define EVENTS  "events"
#define USEC    "usec"

/* The first pattern that fits. NVIDIA's and Broadcom's names, soft-RoCE's, the InfiniBand specification's, the kernel's. */
static const struct {
	const char *pattern;
	struct meaning meaning;
} meanings[] = {
	{ "port_xmit_data", { COUNTER_TRAFFIC, BYTES, 4 } },
	{ "port_rcv_data", { COUNTER_TRAFFIC, BYTES, 4 } },
	{ "port_xmit_wait", { COUNTER_PAUSE, "ticks", 1 } },
	{ "port_xmit_discards", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "tx_discards*", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "tx_dropped", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "tx_errors", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "tx_fifo_errors", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "tx_prio[0-9]_discards", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "SndbufErrors", { COUNTER_SENDER_LOSS, PACKETS, 1 } },
	{ "send_err", { COUNTER_SENDER_LOSS, PACKETS, 1 } },

	{ "*pause*duration*", { COUNTER_PAUSE, USEC, 1 } },
	{ "*pause_transition", { COUNTER_PAUSE, EVENTS, 1 } },
	{ "*pause_storm*", { COUNTER_PAUSE, EVENTS, 1 } },
	{ "*pause*", { COUNTER_PAUSE, PACKETS, 1 } },
	{ "*flow_control*", { COUNTER_PAUSE, PACKETS, 1 } },
	{ "*_pfc_*", { COUNTER_PAUSE, PACKETS, 1 } },

	{ "*ecn_mark*", { COUNTER_ECN, PACKETS, 1 } },
	{ "*_marked*", { COUNTER_ECN, PACKETS, 1 } },
	{ "*cnp*", { COUNTER_ECN, PACKETS, 1 } },
	{ "cc_rx_ce_pkts", { COUNTER_ECN, PACKETS, 1 } },
	{ "InCEPkts", { COUNTER_ECN, PACKETS, 1 } },
	{ "TCPDeliveredCE", { COUNTER_ECN, PACKETS, 1 } },

	{ "out_of_buffer", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_out_of_buffer", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_discards*", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_dropped", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_drops", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_missed*", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_fifo_errors", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_over_errors", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_no_buffer*", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "rx_prio[0-9]_*discard*", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "outbound_pci_buffer_overflow", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "excessive_buffer_overrun_errors", { COUNTER_RECEIVER_LOSS, EVENTS, 1 } },
	{ "RcvbufErrors", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "TCPRcvQDrop", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "TCPBacklogDrop", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },
	{ "RcvPruned", { COUNTER_RECEIVER_LOSS, PACKETS, 1 } },

	{ "rnr_nak_retry_err", { COUNTER_NOT_READY, EVENTS, 1 } },
	{ "rcvd_rnr_err", { COUNTER_NOT_READY, EVENTS, 1 } },
	{ "send_rnr_err", { COUNTER_NOT_READY, EVENTS, 1 } },
	{ "*rnr_exceeded*", { COUNTER_NOT_READY, EVENTS, 1 } },
	{ "*rnr_retries_exceeded", { COUNTER_NOT_READY, EVENTS, 1 } },

	{ "local_ack_timeout_err", { COUNTER_TIMEOUT, EVENTS, 1 } },
	{ "roce_adp_retrans_to", { COUNTER_TIMEOUT, EVENTS, 1 } },
	{ "retry_exceeded_err", { COUNTER_TIMEOUT, EVENTS, 1 } },
	{ "req_transport_retries_exceeded", { COUNTER_TIMEOUT, EVENTS, 1 } },
	{ "*timeout_events", { COUNTER_TIMEOUT, EVENTS, 1 } },
	{ "TCPTimeouts", { COUNTER_TIMEOUT, EVENTS, 1 } },

	{ "out_of_sequence", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "packet_seq_err", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "implied_nak_seq_err", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "duplicate_request", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "roce_adp_retrans", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "out_of_seq_request", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "rcvd_seq_err", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "completer_retry_err", { COUNTER_RETRANSMISSION, EVENTS, 1 } },
	{ "retrans_bytes", { COUNTER_RETRANSMISSION, BYTES, 1 } },
	{ "retrans_pkts", { COUNTER_RETRANSMISSION, PACKETS, 1 } },
	{ "RetransSegs", { COUNTER_RETRANSMISSION, PACKETS, 1 } },

	{ "symbol_error", { COUNTER_LINK, EVENTS, 1 } },
	{ "rx_symbol_err_phy", { COUNTER_LINK, EVENTS, 1 } },
	{ "link_downed", { COUNTER_LINK, EVENTS, 1 } },
	{ "link_down_events_phy", { COUNTER_LINK, EVENTS, 1 } },
	{ "link_error_recovery", { COUNTER_LINK, EVENTS, 1 } },
	{ "local_link_integrity_errors", { COUNTER_LINK, EVENTS, 1 } },
	{ "port_rcv_errors", { COUNTER_LINK, PACKETS, 1 } },
	{ "port_rcv_remote_physical_errors", { COUNTER_LINK, PACKETS, 1 } },
	{ "rx_crc_errors*", { COUNTER_LINK, PACKETS, 1 } },
	{ "rx_frame_errors", { COUNTER_LINK, PACKETS, 1 } },
	{ "rx_icrc_encapsulated", { COUNTER_LINK, PACKETS, 1 } },
	{ "InCsumErrors", { COUNTER_LINK, PACKETS, 1 } },

	{ "*_wr_err", { COUNTER_OTHER, EVENTS, 1 } },
	{ "*error*", { COUNTER_OTHER, EVENTS, 1 } },
	{ "*_err", { COUNTER_OTHER, EVENTS, 1 } },
	{ "*duration*", { COUNTER_OTHER, USEC, 1 } },
	{ "*bytes*", { COUNTER_TRAFFIC, BYTES, 1 } },
	{ "*Octets", { COUNTER_TRAFFIC, BYTES, 1 } },
	{ "*packets*", { COUNTER_TRAFFIC, PACKETS, 1 } },
	{ "*pkts*", { COUNTER_TRAFFIC, PACKETS, 1 } },
	{ "*Pkts", { COUNTER_TRAFFIC, PACKETS, 1 } },
	{ "InSegs", { COUNTER_TRAFFIC, PACKETS, 1 } },
	{ "OutSegs", { COUNTER_TRAFFIC, PACKETS, 1 } },
	{ "*Datagrams", { COUNTER_TRAFFIC, PACKETS, 1 } },
	{ "rx_*_requests", { COUNTER_TRAFFIC, EVENTS, 1 } },
	{ "rdma_sends", { COUNTER_TRAFFIC, EVENTS, 1 } },
	{ "rdma_recvs", { COUNTER_TRAFFIC, EVENTS, 1 } },
	{ "*", { COUNTER_OTHER, EVENTS, 1 } },
};

struct meaning counter_meaning(const char *name)
{
	size_t i = 0;

	while (fnmatch(meanings[i].pattern, name, 0))
		i++;
	return meanings[i].meaning;
}

const char *counter_kind_name(enum counter_kind kind)
{
	static const char *const names[COUNTER_KINDS] = {
		[COUNTER_OTHER] = "other",
		[COUNTER_TRAFFIC] = "traffic",
		[COUNTER_SENDER_LOSS] = "senderLoss",
		[COUNTER_RECEIVER_LOSS] = "receiverLoss",
		[COUNTER_PAUSE] = "pause",
		[COUNTER_ECN] = "ecn",
		[COUNTER_RETRANSMISSION] = "retransmission",
		[COUNTER_TIMEOUT] = "timeout",
		[COUNTER_NOT_READY] = "notReady",
		[COUNTER_LINK] = "link",
	};

	return names[kind];
}
