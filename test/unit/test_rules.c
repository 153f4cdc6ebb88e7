/* Checks what follows from the options of a request and which combinations are refused, with which sentence. */
#include "rules.h"

static const struct request_host here = { .shm = true };
static const struct request_host provider = { .device_is_provider = true };
static const struct request_host rdma_named = { .has_rdma = true, .device_is_rdma = true };

static const struct request_host drawn = { .has_rdma = true, .lot = 0x77abcdef };

static const struct rule resolved[] = {
	{ "-n h", &rdma, "rdma_driver=ibv connection=RC verb=write metric=bw msg_size=64Ki duration=10s warmup=2s" },
	{ "-n h", &rdma, "tx_depth=128 rx_depth=1 post_batch=4 cq_mod=4 events=off num_processes=1 qps=1" },
	{ "-n h -d mlx5_0", &rdma_named, "rdma_driver=ibv device=mlx5_0 connection=RC verb=write" },
	{ "-n h -d D -N 1 -c RC -v write -m bw -s 65536 -D 10", &rdma_named, "rdma_driver=ibv msg_size=64Ki" },
	{ "-n h -c XRC", &rdma, "rdma_driver=ibv connection=XRC verb=write msg_size=64Ki qp_timeout=14" },
	{ "-n h -c dc", &rdma, "rdma_driver=ibv connection=DC verb=write wr_api=auto qp_timeout=14" },
	{ "-n h -c UC", &rdma, "rdma_driver=ibv verb=write msg_size=64Ki" },
	{ "-n h -s 8M", &rdma, "tx_depth=32 post_batch=1" },
	{ "-n h -s 1G", &rdma, "tx_depth=2 post_batch=1" },
	{ "-n h -c UD", &rdma, "rdma_driver=ibv verb=send msg_size=1Ki tx_depth=128 rx_depth=512 post_batch=16" },
	{ "-n h -v send -q 1024 -s 8", &rdma, "tx_depth=16 rx_depth=16 post_batch=16" },
	{ "-n h -v send", &rdma, "connection=RC msg_size=64Ki rx_depth=512" },
	{ "-n h -v write_imm", &rdma, "connection=RC rx_depth=512" },
	{ "-n h -v read", &rdma, "connection=RC rx_depth=1 max_rd_atomic=auto" },
	{ "-n h -v atomic_fa", &rdma, "connection=RC msg_size=8 rx_depth=1" },
	{ "-n h -v atomic_cs -s 8 -m lat", &rdma, "msg_size=8 tx_depth=32 post_batch=1 cq_mod=1" },
	{ "-n h -m lat", &rdma, "msg_size=8 tx_depth=32 rx_depth=1 post_batch=1 cq_mod=16 events=off" },
	{ "-n h -m lat -v read", &rdma, "tx_depth=32 post_batch=1 cq_mod=1" },
	{ "-n h -m lat -v send", &rdma, "msg_size=8 tx_depth=32 rx_depth=512 post_batch=1" },
	{ "-n h -m lat --rate 1k", &rdma,
	  "verb=send msg_size=8 tx_depth=128 rx_depth=512 post_batch=1 cq_mod=1 events=off" },
	{ "-n h -c TCP --rate 1G --arrivals poisson --seed 2", &rdma, "tx_depth=128 post_batch=1 cq_mod=1 events=off" },
	{ "-n h -t 4", &rdma, "tx_depth=4 post_batch=4 cq_mod=4" },
	{ "-n h -t 1", &rdma, "tx_depth=1 post_batch=1 cq_mod=1" },
	{ "-n h --post_batch 1", &rdma, "tx_depth=128 post_batch=1 cq_mod=1" },
	{ "-n h --post_batch 32 --cq_mod 128", &rdma, "tx_depth=128 post_batch=32 cq_mod=128" },
	{ "-n h --cq_mod 100", &rdma, "tx_depth=128 post_batch=4 cq_mod=100" },
	{ "-n h -t auto -s auto -v auto -c auto -r auto", &rdma, "tx_depth=128 msg_size=64Ki verb=write" },
	{ "-n h -C 3,5-7", &rdma, "num_processes=4" },
	{ "-n h -C 3,5-7 -N 4", &rdma, "num_processes=4" },
	{ "-n h --exclude_cores 0 -N 2", &rdma, "num_processes=2" },
	{ "-n h -c TCP", &rdma,
	  "rdma_driver=sock verb=send msg_size=64Ki post_batch=12 tx_depth=12 rx_depth=12 events=on" },
	{ "-n h -c TCP", &bare, "rdma_driver=sock verb=send" },
	{ "-n h -r sock", &bare, "connection=TCP verb=send" },
	{ "-n h -c TCP -d eth0", &rdma, "rdma_driver=sock device=eth0" },
	{ "-n h -c TCP -s 512K", &bare, "post_batch=1" },
	{ "-n h -c TCP -s 1G", &bare, "post_batch=1" },
	{ "-n h -c TCP -s 1000", &bare, "post_batch=786" },
	{ "-n h -c TCP -s 1", &bare, "post_batch=1024" },
	{ "-n h -c TCP --post_batch 1", &bare, "post_batch=1 tx_depth=1" },
	{ "-n h -c TCP -m lat", &bare, "msg_size=8 post_batch=1 tx_depth=1 events=off" },
	{ "-n h -c TCP --events off", &bare, "events=off" },
	{ "-n h -c TCP -m lat --events", &bare, "events=on" },
	{ "-n h -c UDP", &bare, "rdma_driver=sock verb=send msg_size=1Ki post_batch=256 events=on" },
	{ "-n h -c UDP -s 64", &bare, "post_batch=1024" },
	{ "-n h -c UDP -s 32Ki", &bare, "post_batch=16" },
	{ "-n h -c TCP --zerocopy", &bare, "post_batch=12 tx_depth=48 rx_depth=12" },
	{ "-n h -c UDP -s 65507 --gso off", &bare, "gso=off" },
	{ "-n h -r null", &bare, "rdma_driver=null connection=RC verb=write null_latency=0 null_rate=0" },
	{ "-n h -r null -c UD", &bare, "connection=UD verb=send msg_size=1Ki" },
	{ "-n h -r null -m lat --null_latency 5us", &bare, "null_latency=5us tx_depth=32" },
	{ "-n h", &drawn, "start_psn=11259375" },
	{ "-n h -c UD", &drawn, "start_psn=11259375" },
	{ "-n h --start_psn 0", &drawn, "start_psn=0" },
	{ "-n h --rdma_cm off --start_psn 0xffffff", &drawn, "start_psn=16777215" },
	{ "-n h --rdma_cm", &drawn, "start_psn=auto" },
	{ "-n h -c TCP", &drawn, "start_psn=auto" },
	{ "-n h -i 1000", &rdma, "iterations=1000" },
	{ "-n h -i 1000 -m lat -w 0", &rdma, "iterations=1000 warmup=0" },
	{ "-n h --warmup_iterations 10", &rdma, "warmup_iterations=10" },
	{ "-n h -R 10ms", &rdma, "report_interval=10ms" },
	{ "-n h", &bare, "rdma_driver=ofi connection=RDM device=tcp verb=write tx_depth=128 cq_mod=1 rx_depth=1" },
	{ "-n h", &here, "rdma_driver=ofi connection=RDM device=shm" },
	{ "-n h -m lat -v send", &here, "rdma_driver=ofi device=shm tx_depth=32 cq_mod=1 rx_depth=256 events=off" },
	{ "-n h -r ofi", &rdma, "connection=RDM device=tcp" },
	{ "-n h -c MSG", &here, "rdma_driver=ofi device=tcp" },
	{ "-n h -c DGRAM", &here, "rdma_driver=ofi device=udp verb=send msg_size=1Ki" },
	{ "-n h -d udp", &provider, "rdma_driver=ofi connection=RDM device=udp" },
	{ "", &bare, "rdma_driver=auto connection=auto msg_size=auto tx_depth=auto" },
	{ "-C 2,3 --once --port 0", &bare, "num_processes=2 port=0" },
	{ "-d D -N 1 -c RC -v write -m bw -s 65536 -D 10", &bare, "verb=write msg_size=64Ki" },
};

static void defaults_follow(void **state)
{
	(void)state;
	check_taken(resolved, LENGTH(resolved));
}

#define NO_RDMA "asks for an RDMA device, but this host has none: use -r ofi for the same operations over libfabric"

static const struct rule refused[] = {
	/* no device */
	{ "-n h -c UD", &bare, "-c UD " NO_RDMA },
	{ "-n h -c RC -d tcp", &bare, "-c RC " NO_RDMA },
	{ "-n h --rdma_driver ibv", &bare, "--rdma_driver ibv " NO_RDMA },
	{ "-n h -d eth0", &rdma,
	  "-d eth0 is no RDMA device and no libfabric provider of this host: name one (fi_info -l" },
	{ "-n h -d eth0", &bare, "-d eth0 is no RDMA device and no libfabric provider of this host" },
	{ "-n h -d eth0 -c RC", &rdma, "-d eth0 is no RDMA device and no libfabric provider of this host" },
	/* sides */
	{ "--once -n h", &rdma, "--once has no effect on a client (-n h): it belongs to a server, which has no -n" },
	{ "--memory_limit 1G -n h", &rdma, "--memory_limit has no effect on a client (-n h)" },
	{ "--bind ::1 -n h", &rdma, "--bind has no effect on a client" },
	{ "--launched -n h", &rdma, "--launched has no effect on a client" },
	{ "-j", &rdma, "-j has no effect on a server: it belongs to the client, which names its server with -n" },
	{ "--print_json_results", &rdma, "--print_json_results has no effect on a server" },
	{ "-R 1", &rdma, "-R has no effect on a server" },
	{ "--report-interval 1", &rdma, "--report_interval has no effect on a server" },
	{ "--bw_threshold 1", &rdma, "--bw_threshold has no effect on a server" },
	{ "--lat_threshold 1", &rdma, "--lat_threshold has no effect on a server" },
	{ "--percentiles 1", &rdma, "--percentiles has no effect on a server" },
	{ "--launch_server disable", &rdma, "--launch_server has no effect on a server" },
	{ "--server_device d", &rdma, "--server_device has no effect on a server" },
	{ "--server_mem_type host", &rdma, "--server_mem_type has no effect on a server" },
	{ "--server_cores 1", &rdma, "--server_cores has no effect on a server" },
	{ "--server_exe x", &rdma, "--server_exe has no effect on a server" },
	{ "--server_username x", &rdma, "--server_username has no effect on a server" },
	{ "--ssh x", &rdma, "--ssh has no effect on a server" },
	{ "--connect_timeout 1", &rdma, "--connect_timeout has no effect on a server" },
	{ "-n h --port 0", &rdma, "--port 0 is for a server only: a client needs the server's port" },
	/* words for ssh */
	{ "--host=-oProxyCommand=x", &rdma, "--host -oProxyCommand=x must not begin with '-'" },
	{ "-n h --server_username=-x", &rdma, "--server_username -x must not begin with '-'" },
	{ "-n h\fg", &rdma, "-n: the value has a control character" },
	/* exclusions */
	{ "-n h -D 5 -i 5", &rdma, "-D and -i exclude each other: a test ends by time or by count" },
	{ "-n h --duration 5 -i 5", &rdma, "--duration and -i exclude each other" },
	{ "-D 5 -i 5", &rdma, "-D and -i exclude each other" },
	{ "-n h -w 1 --warmup_iterations 5", &rdma, "-w and --warmup_iterations exclude each other" },
	{ "-n h -i 5 --end_margin 1", &rdma, "--end_margin and -i exclude each other" },
	{ "-n h -C 1 --exclude_cores 2", &rdma, "-C and --exclude_cores exclude each other" },
	{ "-n h --launch_server off --ssh x", &rdma, "--ssh has no effect with --launch_server off: no server is" },
	{ "-n h --launch_server off --server_exe x", &rdma, "--server_exe has no effect with --launch_server off" },
	{ "-n h --launch_server off --server_username x", &rdma, "--server_username has no effect with" },
	/* scope */
	{ "-n h --gso -c TCP", &bare, "--gso has no effect with -c TCP: it applies to -c UDP" },
	{ "-n h --zerocopy --connection UDP", &bare,
	  "--zerocopy has no effect with --connection UDP: it applies to --connec" },
	{ "-n h --gso", &rdma, "--gso has no effect with -c RC (the default): it applies to -c UDP" },
	{ "-n h --sock_buf 1M", &rdma,
	  "--sock_buf has no effect with -c RC (the default): it applies to -c TCP or UDP" },
	{ "-n h --data_port 1", &rdma, "--data_port has no effect with -c RC" },
	{ "-n h -c TCP -t 4", &bare,
	  "-t has no effect with -c TCP: it applies to -c RC, UC, UD, RDM, MSG, DGRAM, XRC or DC" },
	{ "-n h -c TCP --rx_depth 4", &bare, "--rx_depth has no effect with -c TCP" },
	{ "-n h -c UDP --cq_mod 4", &bare, "--cq_mod has no effect with -c UDP" },
	{ "-n h -c TCP --mtu 1024", &bare, "--mtu has no effect with -c TCP" },
	{ "-n h -c TCP -g 1", &bare, "-g has no effect with -c TCP" },
	{ "-n h -c TCP --ib_port 1", &bare, "--ib_port has no effect with -c TCP" },
	{ "-n h -c TCP --service_level 1", &bare, "--service_level has no effect with -c TCP" },
	{ "-n h -r null -S 1", &bare, "-S has no effect with -r null: it applies to -r ibv or dv" },
	{ "-n h -r null -d x", &bare, "-d has no effect with -r null: it applies to -r ibv, sock, ofi or dv" },
	{ "-n h -r null --server_device x", &bare, "--server_device has no effect with -r null" },
	{ "-n h -r null --events", &bare, "--events has no effect with -r null" },
	{ "-n h -r null --inline_size 8", &bare, "--inline_size has no effect with -r null" },
	{ "-n h --null_latency 1us", &rdma,
	  "--null_latency has no effect with -r ibv (the default): it applies to -r null" },
	{ "-n h -c TCP --null_rate 1G", &bare, "--null_rate has no effect with -r sock (the default)" },
	{ "-n h -c TCP --null_loss 0", &bare, "--null_loss has no effect with" },
	{ "-n h -c TCP --seed 3", &bare, "--seed has no effect: nothing is drawn by lot" },
	{ "-n h -r null -m lat --null_loss 0.5", &bare, "--null_loss has no effect with -m lat: it applies to -m bw" },
	{ "-n h -r null -m lat --seed 3", &bare, "--seed has no effect: nothing is drawn by lot" },
	{ "-n h -r null --seed 3", &bare,
	  "--seed has no effect: nothing is drawn by lot without --arrivals poisson, --null_loss, " },
	{ "-n h -c UC --qp_timeout 3", &rdma, "--qp_timeout has no effect with -c UC: it applies to -c RC" },
	{ "-n h -c UD --retry_count 3", &rdma, "--retry_count has no effect with -c UD: it applies to -c RC" },
	{ "-n h -c UC --rnr_retry 3", &rdma, "--rnr_retry has no effect with -c UC" },
	{ "-n h -c UC --min_rnr_timer 3", &rdma, "--min_rnr_timer has no effect with -c UC" },
	{ "-n h --max_rd_atomic 3", &rdma,
	  "--max_rd_atomic has no effect with -v write (the default): it applies to -v read, " },
	{ "-n h -v read --inline_size 8", &rdma,
	  "--inline_size has no effect with -v read: it applies to -v write, write_imm or s" },
	{ "-n h -v read --rx_depth 8", &rdma,
	  "--rx_depth has no effect with -v read: it applies to -v write_imm or send" },
	{ "-n h -m lat -t 4", &rdma, "-t has no effect with -m lat without --rate" },
	{ "-n h -m lat --post_batch 4", &rdma, "--post_batch has no effect with -m lat" },
	{ "-n h -m lat --warmup_iterations 4", &rdma, "--warmup_iterations has no effect with -m lat" },
	{ "-n h -m lat --end_margin 4", &rdma, "--end_margin has no effect with -m lat" },
	{ "-n h -m lat -R 4", &rdma, "-R has no effect with -m lat" },
	{ "-n h -m lat --bw_threshold 4", &rdma, "--bw_threshold has no effect with -m lat" },
	{ "-n h --lat_threshold 4", &rdma,
	  "--lat_threshold has no effect with -m bw (the default): it applies to -m lat" },
	{ "-n h -m bw --percentiles 4", &rdma, "--percentiles has no effect with -m bw: it applies to -m lat" },
	{ "-n h -c TCP --rdma_cm", &bare, "--rdma_cm has no effect with -c TCP" },
	{ "-n h -c TCP --wr_api", &bare, "--wr_api has no effect with -c TCP" },
	{ "-n h -r ofi --traffic_class 1", &bare, "--traffic_class has no effect with -c RDM (the default)" },
	{ "-n h -c TCP --traffic_class 33", &bare,
	  "--traffic_class 33: messages go by TCP, which sets the two lowest bits (ECN) by itself: give a multiple of "
	  "4" },
	{ "-n h --control_traffic_class 6", &rdma,
	  "--control_traffic_class 6: the control connection is TCP, which sets the two lowest bits (ECN) by itself" },
	{ "-n h -c TCP --flow_label 1", &bare, "--flow_label has no effect with -c TCP" },
	{ "-n h -c TCP --hop_limit 1", &bare, "--hop_limit has no effect with -c TCP" },
	{ "-n h -c TCP --pkey_index 1", &bare, "--pkey_index has no effect with -c TCP" },
	{ "-n h -c TCP --start_psn 1", &bare, "--start_psn has no effect with -c TCP" },
	{ "-n h -r null --start_psn 1", &bare, "--start_psn has no effect with -r null" },
	{ "-n h --rdma_cm --start_psn 0", &rdma,
	  "--start_psn 0 does not go with --rdma_cm on: the connection manager chooses the numbers" },
	{ "-n h -c TCP --ph 1", &bare, "--ph has no effect with -c TCP" },
	{ "-n h --ph 1 --tph_core_id 3", &rdma, "--tph_core_id 3 goes with --tph_mem only: give both or neither" },
	{ "-n h --ph 1 --tph_mem vm", &rdma, "--tph_mem vm goes with --tph_core_id only: give both or neither" },
	{ "-n h --tph_mem vm --tph_core_id 3", &rdma,
	  "--tph_core_id 3 and --tph_mem vm have no effect with --ph off (the default): give a hint of 0 to 3" },
	{ "-n h -r null -c XRC", &rdma, "-c XRC does not go with -r null, which takes -c RC, UC or UD" },
	{ "-n h -c XRC --rdma_cm", &rdma, "-c XRC does not go with --rdma_cm on: use -c RC or UD" },
	{ "-n h -c DC --rdma_cm", &rdma, "-c DC does not go with --rdma_cm on: use -c RC or UD" },
	{ "-n h -c DC --wr_api off", &rdma, "-c DC does not go with --wr_api off: a message's target is named by" },
	{ "-n h -r null -c DC", &rdma, "-c DC does not go with -r null" },
	{ "-n h -c XRC --use_ece", &rdma, "--use_ece has no effect with -c XRC" },
	{ "-n h -c UC --use_ece", &rdma, "--use_ece has no effect with -c UC" },
	{ "-n h -r null --use_ece", &rdma, "--use_ece has no effect with -r null" },
	{ "-n h --rdma_cm --use_ece", &rdma,
	  "--use_ece does not go with --rdma_cm on: options are agreed by the control connection" },
	/* legality */
	{ "-n h -r ibv -c TCP", &bare, "-c TCP does not go with -r ibv, which takes -c RC, UC, UD, XRC or DC" },
	{ "-n h -r null -c UDP", &bare, "-c UDP does not go with -r null, which takes -c RC, UC or UD" },
	{ "-n h -r sock -c RC", &rdma, "-c RC does not go with -r sock, which takes -c TCP or UDP" },
	{ "-n h -r ofi -c RC", &rdma, "-c RC does not go with -r ofi, which takes -c RDM, MSG or DGRAM" },
	{ "-n h -r null -c RDM", &bare, "-c RDM does not go with -r null, which takes -c RC, UC or UD" },
	{ "-n h -c DGRAM -v write", &bare, "-v write does not go with -c DGRAM, which takes -v send" },
	{ "-n h -r ofi --cq_mod 2", &bare, "--cq_mod has no effect with -c RDM (the default): it applies to -c RC," },
	{ "-n h -c MSG -g 3", &bare, "-g has no effect with -c MSG: it applies to -c RC, UC, UD, XRC or DC" },
	{ "-n h -c UC -v read", &bare, "-v read does not go with -c UC, which takes -v write, write_imm or send" },
	{ "-n h -c UD --verb write", &bare, "--verb write does not go with -c UD, which takes --verb send" },
	{ "-n h -c TCP -v write", &bare, "-v write does not go with -c TCP, which takes -v send" },
	{ "-n h -r sock -v read", &bare, "-v read does not go with -c TCP (the default), which takes -v send" },
	{ "-c UD -v read", &bare, "-v read does not go with -c UD, which takes -v send" },
	/* sizes */
	{ "-n h -v atomic_fa -s 16", &rdma, "-s 16 does not go with -v atomic_fa: an atomic operation has 8 bytes" },
	{ "-n h -c UD -s 4097", &rdma,
	  "-s 4097 does not go with -c UD: a message is one packet of at most 4096 bytes" },
	{ "-n h -c UDP --msg_size 64K", &bare,
	  "--msg_size 64Ki does not go with -c UDP: a datagram has at most 65507 bytes" },
	{ "-c UDP --msg_size 64K", &bare, "--msg_size 64Ki does not go with -c UDP" },
	/* depths */
	{ "-n h -t 8 --post_batch 9", &rdma, "--post_batch 9 is more than -t 8: it can be at most as much" },
	{ "-n h --post_batch 129", &rdma,
	  "--post_batch 129 is more than -t 128 (the default): it can be at most as much" },
	{ "-n h -t 8 --cq_mod 9", &rdma, "--cq_mod 9 is more than -t 8: it can be at most as much" },
	{ "-n h -t 20 --post_batch 16 --cq_mod 20", &rdma,
	  "--cq_mod 20 and --post_batch 16 do not fit into -t 20: neither divides the other, so their sum can be at "
	  "most 21" },
	{ "-n h -v send --rx_depth 8 --post_batch 9", &rdma, "--post_batch 9 is more than --rx_depth 8" },
	/* workers, intervals */
	{ "-n h -C 1,2 -N 3", &rdma, "-C 1,2 names 2 cores for -N 3: each worker has a core" },
	{ "-n h -C 1,2 --server_cores 1", &rdma, "--server_cores 1 names 1 core for -N 2 (derived): each worker" },
	{ "-C 1,2 -N 1", &rdma, "-C 1,2 names 2 cores for -N 1" },
	{ "-n h -R 1ms", &rdma, "-R 1ms is too short: at least 10ms, or 0 for no live lines" },
};

static void bad_combinations_get_their_sentence(void **state)
{
	(void)state;
	check_refused(refused, LENGTH(refused));
}

/* Every transport x verb x metric is either resolved or refused with exactly the legal verbs. */
static void all_combinations_of_transport_and_verb(void **state)
{
	static const char *const legal[] = {
		[TRANSPORT_RC] = "write write_imm read send atomic_fa atomic_cs",
		[TRANSPORT_UC] = "write write_imm send",
		[TRANSPORT_UD] = "send",
		[TRANSPORT_TCP] = "send",
		[TRANSPORT_UDP] = "send",
		[TRANSPORT_RDM] = "write write_imm read send atomic_fa atomic_cs",
		[TRANSPORT_MSG] = "write write_imm read send atomic_fa atomic_cs",
		[TRANSPORT_DGRAM] = "send",
		[TRANSPORT_XRC] = "write write_imm read send atomic_fa atomic_cs",
		[TRANSPORT_DC] = "write write_imm read send atomic_fa atomic_cs",
	};

	(void)state;
	for (uint32_t transport = TRANSPORT_RC; transport < TRANSPORTS; transport++) {
		for (uint32_t verb = VERB_WRITE; verb <= VERB_ATOMIC_CS; verb++) {
			char words[100], list[100], word[20];
			struct request request;
			struct error err = { 0 };
			bool expected;

			snprintf(list, sizeof(list), " %s ", legal[transport]);
			snprintf(word, sizeof(word), " %s ", verb_name(verb));
			expected = strstr(list, word);
			snprintf(words, sizeof(words), "-n h -c %s -v %s -m %s", transport_name(transport),
				 verb_name(verb), verb % 2 ? "bw" : "lat");
			if (!resolve_line(words, &rdma, &request, &err) != expected)
				fail_msg("fabperf %s: %s", words, err.text);
			assert_int_equal(transport_verbs(transport) >> verb & 1, expected);
		}
	}
	assert_int_equal(transport_verbs(TRANSPORT_AUTO), 0);
	assert_int_equal(transport_verbs(99), 0);
}

static void kinds(void **state)
{
	(void)state;
	assert_true(transport_is_socket(TRANSPORT_TCP) && transport_is_socket(TRANSPORT_UDP));
	assert_false(transport_is_socket(TRANSPORT_RC) || transport_is_socket(TRANSPORT_UD));
	assert_true(verb_is_two_sided(VERB_SEND) && verb_is_two_sided(VERB_WRITE_IMM));
	assert_false(verb_is_two_sided(VERB_WRITE) || verb_is_two_sided(VERB_READ));
	assert_true(verb_is_atomic(VERB_ATOMIC_FA) && verb_is_atomic(VERB_ATOMIC_CS));
	assert_false(verb_is_atomic(VERB_WRITE));
	assert_string_equal(transport_name(TRANSPORT_UDP), "UDP");
	assert_string_equal(verb_name(VERB_ATOMIC_CS), "atomic_cs");
	assert_string_equal(driver_kind_name(DRIVER_NULL), "null");
	assert_string_equal(driver_kind_name(99), "?");
	assert_string_equal(transport_name(99), "?");
	assert_string_equal(verb_name(99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_follow),
		cmocka_unit_test(bad_combinations_get_their_sentence),
		cmocka_unit_test(all_combinations_of_transport_and_verb),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
