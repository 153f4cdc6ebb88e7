/* Checks how command lines are read: good ones by the fields they set, bad ones by their one sentence. */
#include "cli/cli.h"
#include "spec/option.h"
#include "words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

struct line {
	const char *words, *sentence; /* how the refusal begins */
};

static const struct line bad[] = {
	/* unknown, and near a known one */
	{ "--frobnicate", "unknown option --frobnicate: fabperf --help lists them all" },
	{ "--frobnicate 3", "unknown option --frobnicate" },
	{ "--frobnicate=3", "unknown option --frobnicate" },
	{ "--durtion 5", "unknown option --durtion: did you mean --duration?" },
	{ "--duration5", "unknown option --duration5: did you mean --duration?" },
	{ "--dur 5", "unknown option --dur: did you mean --duration?" },
	{ "--msgsize 5", "unknown option --msgsize: did you mean --msg_size?" },
	{ "--mgs-size 5", "unknown option --mgs-size: did you mean --msg_size?" },
	{ "--Iteratoins 5", "unknown option --Iteratoins: did you mean --iterations?" },
	{ "--verbs send", "unknown option --verbs: did you mean --verb?" },
	{ "--metrics lat", "unknown option --metrics: did you mean --metric?" },
	{ "--host-name a", "unknown option --host-name" },
	{ "--num_proceses 2", "unknown option --num_proceses: did you mean --num_processes?" },
	{ "--gid_indx 2", "unknown option --gid_indx: did you mean --gid_index?" },
	{ "--tx_dpeth 2", "unknown option --tx_dpeth: did you mean --tx_depth?" },
	{ "--server_exec x", "unknown option --server_exec: did you mean --server_exe?" },
	{ "--Once_", "unknown option --Once_: did you mean --once?" },
	{ "--launche_", "unknown option --launche_: fabperf --help lists them all" },
	{ "--gsoo", "unknown option --gsoo: did you mean --gso?" },
	{ "--percentile 50", "unknown option --percentile: did you mean --percentiles?" },
	{ "--warm_up 1", "unknown option --warm_up: did you mean --warmup?" },
	{ "--nullrate 1G", "unknown option --nullrate: did you mean --null_rate?" },
	{ "-Z", "unknown option -Z: fabperf --help lists them all" },
	{ "-Zx", "unknown option -Z" },
	{ "-1", "unknown option -1" },
	{ "-?", "unknown option -?" },
	{ "-=5", "unknown option -=" },
	{ "-\xc3\xa4", "'-\xc3\xa4' is not an option" },
	{ "--", "'--' is not an option" },
	{ "--=5", "'--=5' is not an option" },
	{ "---duration 5", "unknown option ---duration" },
	{ "--xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	  "'--xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is not an option" },
	/* letters of other programs */
	{ "-e", "-e is perftest's completion events: here --events" },
	{ "-F", "-F is perftest's ignoring of the CPU frequency: not needed here, leave it out" },
	{ "-I 64", "-I is perftest's inline size: here --inline_size" },
	{ "-l 16", "-l is perftest's messages a doorbell: here --post_batch" },
	{ "-L 4", "-L is perftest's hop limit: here --hop_limit" },
	{ "-o 4", "-o is perftest's outstanding reads: here --max_rd_atomic" },
	{ "-p 4", "-p is perftest's control port: here --port" },
	{ "-P 4", "-P is iperf3's parallel streams: here -q, or -N for workers" },
	{ "-Q 4", "-Q is perftest's completion moderation: here --cq_mod" },
	{ "-T 4", "-T is perftest's type of service: here --traffic_class" },
	{ "-u 14", "-u is perftest's acknowledgement timeout: here --qp_timeout" },
	{ "-x 3", "-x is perftest's GID index: here -g" },
	{ "-x3", "-x is perftest's GID index: here -g" },
	{ "-z", "-z is perftest's exchange by rdma_cm: here --rdma_cm" },
	{ "-m 1024", "-m: '1024' is not bw or lat (-m is not perftest's MTU: here --mtu)" },
	{ "-r 512",
	  "-r: '512' is not auto, ibv, sock, null, ofi or dv (-r is not perftest's receive depth: here --rx_depth)" },
	{ "-R", "-R needs a value: 0 to 1000000s (-R is not perftest's rdma_cm: here --rdma_cm)" },
	{ "-N", "-N needs a value: 1 to 1024 workers (-N is not perftest's suppression of the peak" },
	{ "-C", "-C needs a value: a list of cores as 5 or 5,7 or 5-9 (-C is not perftest's report in cycles" },
	/* stray words */
	{ "server", "'server' belongs to no option: every value follows its option, and a server is named with -n" },
	{ "-n a b", "'b' belongs to no option" },
	{ "-", "'-' belongs to no option" },
	{ "-q 2 3", "'3' belongs to no option" },
	{ "-h help", "'help' belongs to no option" },
	{ "--once yes", "'yes' belongs to no option" },
	{ "-j file other", "'other' belongs to no option" },
	{ " -q 2", "'' belongs to no option" },
	/* long names after one dash */
	{ "-duration 5", "'-duration' is ambiguous: the long option is --duration" },
	{ "-j=/x", "'-j=/x': write -j /x: only a long option takes its value after '='" },
	{ "-s=64K", "'-s=64K': write -s 64K: only a long option" },
	{ "-qps=5", "'-qps=5' is ambiguous: the long option is --qps" },
	{ "-MSG-SIZE 5", "'-MSG-SIZE' is ambiguous: the long option is --MSG-SIZE" },
	{ "-version", "'-version' is ambiguous: the long option is --version" },
	/* twice */
	{ "-q 2 -q 2", "-q is there twice: an option is given once" },
	{ "-q 2 --qps 3", "--qps is there twice" },
	{ "--qps=2 -q3", "-q is there twice" },
	{ "--once --once", "--once is there twice" },
	{ "-j -j", "-j is there twice" },
	{ "--gso --gso=off", "--gso is there twice" },
	{ "--msg-size 1 --msg_size 1", "--msg_size is there twice" },
	/* missing and superfluous values */
	{ "-n", "-n needs a value: a text" },
	{ "-s", "-s needs a value: 1 to 1Gi bytes or auto" },
	{ "--duration", "--duration needs a value: 100ms to 1000000s" },
	{ "--duration=", "--duration needs a value: 100ms to 1000000s" },
	{ "--device= -q 1", "--device needs a value: a text of 1 to 63 bytes" },
	{ "-d  -q 1", "-d needs a value" },
	{ "-j ", "-j needs a value: a text of 1 to 255 bytes" },
	{ "--gso=", "--gso needs a value: on, off or auto" },
	{ "-s -q 1", "-s needs a value, but the option -q follows it" },
	{ "--verb --metric lat", "--verb needs a value, but the option --metric follows it" },
	{ "-n -", "-n needs a value, but the option - follows it" },
	{ "-h=1", "-h takes no value, but '=1' follows it" },
	{ "-h1", "-h takes no value, but '1' follows it" },
	{ "-hV", "-h takes no value, but 'V' follows it" },
	{ "--help=", "--help takes no value, but '' follows it" },
	{ "--once=on", "--once takes no value, but 'on' follows it" },
	{ "--print_json_results=1", "--print_json_results takes no value, but '1' follows it" },
	/* numbers */
	{ "-q two", "-q: 'two' is not a whole number: digits" },
	{ "-q 2.0", "-q: '2.0' is not a whole number" },
	{ "-q 2e3", "-q: '2e3' is not a whole number" },
	{ "-q +2", "-q: '+2' is not a whole number" },
	{ "-q -2", "-q: '-2' is not a whole number" },
	{ "-q 2k", "-q: '2k' is not a whole number" },
	{ "-q 0x", "-q: '0x' is not a whole number" },
	{ "-q 2,x", "-q: item 2: 'x' is not a whole number" },
	{ "-i 2,3", "-i: '2,3' is not a whole number" },
	{ "-q auto", "-q: 'auto' is not a whole number" },
	{ "-q 0", "-q: '0' is out of range: 1 to 16384 queue pairs" },
	{ "-q 16385", "-q: '16385' is out of range: 1 to 16384 queue pairs" },
	{ "-q 99999999999999999999999", "-q: '99999999999999999999999' is too large" },
	{ "-t 0", "-t: '0' is out of range: 1 to 32768 messages or auto" },
	{ "-t 18446744073709551615", "-t: '18446744073709551615' is out of range" },
	{ "-i -1", "-i: '-1' is not a whole number" },
	{ "-N 0", "-N: '0' is out of range: 1 to 1024 workers" },
	{ "-N 1025", "-N: '1025' is out of range" },
	{ "-S 16", "-S: '16' is out of range: 0 to 15" },
	{ "-g 256", "-g: '256' is out of range: 0 to 255 or auto" },
	{ "--qp_timeout 32", "--qp_timeout: '32' is out of range: 0 to 31" },
	{ "--retry_count 8", "--retry_count: '8' is out of range: 0 to 7 times" },
	{ "--mtu 1000", "--mtu: '1000' is out of range: 256, 512, 1024, 2048 or 4096 bytes or auto" },
	{ "--mtu 8192", "--mtu: '8192' is out of range" },
	{ "--port 65536", "--port: '65536' is out of range: 0 to 65535" },
	{ "--port http", "--port: 'http' is not a whole number" },
	{ "--flow_label 0x100000", "--flow_label: '0x100000' is out of range: 0 to 1048575 or auto" },
	/* sizes, times, rates, reals */
	{ "-s 0", "-s: '0' is out of range: 1 to 1Gi bytes or auto" },
	{ "-s 2G", "-s: '2G' is out of range" },
	{ "-s 64q", "-s: '64q' is not a size" },
	{ "-s 64KK", "-s: '64KK' is not a size" },
	{ "-s 64kib", "-s: '64kib' is not a size" },
	{ "-s 1.5K", "-s: '1.5K' is not a size" },
	{ "-s K", "-s: 'K' is not a size" },
	{ "-s 1:8", "-s: item 1, '1:8': a range has a start, an end and a step, as 1:64:*2 or 8:64:+8" },
	{ "-D 0", "-D: '0' is out of range: 100ms to 1000000s" },
	{ "-D 99ms", "-D: '99ms' is out of range" },
	{ "-D 1000001", "-D: '1000001' is out of range" },
	{ "-D 10sec", "-D: '10sec' is not a time" },
	{ "-D 1e3", "-D: '1e3' is not a time" },
	{ "-D 5.", "-D: '5.' is not a time" },
	{ "-D inf", "-D: 'inf' is not a time" },
	{ "-w -1", "-w: '-1' is not a time: a number with ns us ms s m or h; without one it means seconds" },
	{ "--connect_timeout 0", "--connect_timeout: '0' is out of range: 100ms to 3600s" },
	{ "--null_rate 100Gb", "--null_rate: '100Gb' is not a rate" },
	{ "--null_rate fast", "--null_rate: 'fast' is not a rate" },
	{ "--null_loss 2", "--null_loss: '2' is out of range: 0 to 1" },
	{ "--null_loss 1%", "--null_loss: '1%' is not a number" },
	{ "--null_loss nan", "--null_loss: 'nan' is not a number" },
	{ "--bw_threshold 10G", "--bw_threshold: '10G' is not a number" },
	/* words */
	{ "-v writ", "-v: 'writ' is not auto, write, write_imm, read, send, atomic_fa or atomic_cs" },
	{ "-v write,read", "-v: 'write,read' is not auto, write" },
	{ "-c RD", "-c: 'RD' is not auto, RC, UC, UD, TCP, UDP, RDM, MSG, DGRAM, XRC or DC" },
	{ "--connection tcp6", "--connection: 'tcp6' is not auto, RC" },
	{ "-m bandwidth", "-m: 'bandwidth' is not bw or lat" },
	{ "-m auto", "-m: 'auto' is not bw or lat" },
	{ "-M gpu", "-M: 'gpu' is not host" },
	{ "--events=1", "--events: '1' is not on, off or auto" },
	{ "--events sometimes", "--events: 'sometimes' is not on, off or auto" },
	{ "--zerocopy auto", "--zerocopy: 'auto' is not on or off" },
	{ "--launch_server never", "--launch_server: 'never' is not on or off" },
	/* cores, percentiles, texts */
	{ "-C a", "-C: " },
	{ "-C 1,", "-C: " },
	{ "-C 3-1", "-C: " },
	{ "-C 1,1", "-C: " },
	{ "-C -1", "-C: " },
	{ "--exclude_cores 0-99999999", "--exclude_cores: " },
	{ "--percentiles 0", "--percentiles: '0' is out of range: an ascending list of numbers above 0 up to 100" },
	{ "--percentiles 101", "--percentiles: '101' is out of range" },
	{ "--percentiles 50,", "--percentiles: '' is not a number" },
	{ "--percentiles 50,40", "--percentiles: '50,40' is not in ascending order" },
	{ "--percentiles 50;90", "--percentiles: '50;90' is not a number" },
	{ "--percentiles 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "--percentiles: more than 16 percentiles" },
	{ "-n a\nb", "-n: the value has a control character at byte 1" },
	{ "-d 0123456789012345678901234567890123456789012345678901234567890123",
	  "-d: '0123456789012345678901234567890123456789...' is too long: 64 bytes, at most 63" },
};

static void bad_lines_get_their_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct request request;
		struct error err = { 0 };

		if (parse_line(bad[i].words, &request, &err) != -EINVAL || err.code != -EINVAL)
			fail_msg("fabperf %s: taken", bad[i].words);
		if (strncmp(err.text, bad[i].sentence, strlen(bad[i].sentence)) != 0 || strchr(err.text, '\n'))
			fail_msg("fabperf %s: %s", bad[i].words, err.text);
		assert_int_equal(parse_line(bad[i].words, &request, NULL), -EINVAL);
	}
}

/* The same fields from several spellings: what option_get says of one option. */
static const struct {
	const char *words, *key, *value;
} good[] = {
	{ "", "msg_size", "auto" },
	{ "-s 64K", "msg_size", "64Ki" },
	{ "-s64K", "msg_size", "64Ki" },
	{ "--msg_size 64K", "msg_size", "64Ki" },
	{ "--msg_size=64K", "msg_size", "64Ki" },
	{ "--msg-size=64K", "msg_size", "64Ki" },
	{ "--Msg-Size 65536", "msg_size", "64Ki" },
	{ "-s 64kb", "msg_size", "64000" },
	{ "-s auto", "msg_size", "auto" },
	{ "-v WRITE_IMM", "verb", "write_imm" },
	{ "-c udp", "connection", "UDP" },
	{ "-D 0.5", "duration", "500ms" },
	{ "-D 2m", "duration", "120s" },
	{ "-w 0", "warmup", "0" },
	{ "-n ::1", "host", "::1" },
	{ "-n h -d mlx5_0", "device", "mlx5_0" },
	{ "--host=-h", "host", "-h" },
	{ "--device=a=b", "device", "a=b" },
	{ "-C 5,7-9", "cores", "5,7-9" },
	{ "--gso", "gso", "on" },
	{ "--gso=off", "gso", "off" },
	{ "--gso off", "gso", "off" },
	{ "--gso -q 2", "gso", "on" },
	{ "--gso -q 2", "qps", "2" },
	{ "--events --once", "events", "on" },
	{ "--launch_server disable", "launch_server", "off" },
	{ "--launch_server enable", "launch_server", "on" },
	{ "-j", "json", "" },
	{ "-j out.json", "json", "out.json" },
	{ "-jout.json", "json", "out.json" },
	{ "--json=out.json", "json", "out.json" },
	{ "-j -q 3", "qps", "3" },
	{ "-j -q 3", "json", "" },
	{ "--percentiles 50,99.5", "percentiles", "50,99.5" },
	{ "--once -h -V", "version", "on" },
	{ "--null_rate 100G", "null_rate", "100G" },
	{ "--null_loss 1e-3", "null_loss", "0.001" },
	{ "--ssh=ssh -q 2", "ssh", "ssh" },
};

static void good_lines_set_their_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(good); i++) {
		struct request request;
		struct error err = { 0 };
		char value[OPTION_VALUE_MAX];

		if (parse_line(good[i].words, &request, &err))
			fail_msg("fabperf %s: %s", good[i].words, err.text);
		option_get(&request, option_find(good[i].key), value, sizeof(value));
		if (strcmp(value, good[i].value) != 0)
			fail_msg("fabperf %s: %s is '%s'", good[i].words, good[i].key, value);
	}
}

static void json_without_a_path_is_remembered(void **state)
{
	struct request request;

	(void)state;
	assert_int_equal(parse_line("-q 2", &request, NULL), 0);
	assert_false(request.json);
	assert_int_equal(parse_line("-j", &request, NULL), 0);
	assert_true(request.json);
	assert_true(option_given(&request, option_find("json")));
	assert_false(option_given(&request, option_find("qps")));
}

/* Any bytes as words: read or refused with one line. */
static void random_words_do_no_harm(void **state)
{
	static const char *const parts[] = { "-", "--", "=", " ",    "q", "qps", "duration",
					     "5", "-j", "K", "\x80", ",", "n" };
	unsigned seed = 1, refused = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char line[256] = "";
		struct request request;
		struct error err = { 0 };

		for (int i = 0; i < 8; i++) {
			seed = seed * 1103515245u + 12345u;
			strcat(line, parts[(seed >> 16) % LENGTH(parts)]);
		}
		if (parse_line(line, &request, &err)) {
			assert_true(*err.text && !strchr(err.text, '\n'));
			refused++;
		}
	}
	assert_in_range(refused, 10000, 19999);
}

static char *help_text(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	cli_help(to);
	assert_int_equal(fclose(to), 0);
	return text;
}

static void help_has_every_option_within_the_width(void **state)
{
	char *const text = help_text(), *rest = text;
	char name[64];

	(void)state;
	for (const struct option_row *row = option_rows; row < option_rows + option_count; row++) {
		const bool hidden = row->flags & OPTION_HIDDEN;

		snprintf(name, sizeof(name), "--%s%s", row->key, *row->metavar ? " " : "");
		if (!strstr(text, name) != hidden)
			fail_msg("%s is %s the help", name, hidden ? "in" : "missing in");
	}
	for (char *line; (line = strsep(&rest, "\n"));) {
		const size_t len = strlen(line);

		if (len > 100 || (len && line[len - 1] == ' '))
			fail_msg("%zu columns: '%s'", len, line);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_lines_get_their_sentence),           cmocka_unit_test(good_lines_set_their_fields),
		cmocka_unit_test(json_without_a_path_is_remembered),      cmocka_unit_test(random_words_do_no_harm),
		cmocka_unit_test(help_has_every_option_within_the_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
