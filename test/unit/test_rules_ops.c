/* Checks which lists of operations are taken, what follows from them, and how a refused one is named. */
#include "rules.h"

static const struct rule taken[] = {
	{ "-n h --operations write:64K,send:4096,atomic_fa:8", &rdma,
	  "operations=write:64Ki,send:4Ki,atomic_fa:8 verb=auto msg_size=64Ki tx_depth=128 rx_depth=512" },
	{ "-n h --operations write:64K,send:4096,atomic_fa:8", &rdma, "post_batch=9 cq_mod=9" },
	{ "-n h --operations write:1M,read:1M -t 64", &rdma, "msg_size=1Mi post_batch=1 rx_depth=1" },
	{ "-n h --operations atomic_cs:8,ATOMIC_FA:8 --max_rd_atomic 3", &rdma, "operations=atomic_cs:8,atomic_fa:8" },
	{ "-n h --operations send:64 --rx_depth 16 --inline_size 64", &rdma, "operations=send:64 msg_size=64" },
	{ "-n h --operations write:8,send:64 -c XRC -H", &rdma, "connection=XRC msg_size=64 rx_depth=512" },
	{ "-n h --operations send:64,send:4Ki -c UD", &rdma, "msg_size=4Ki rx_depth=512" },
};

static void defaults_follow(void **state)
{
	(void)state;
	check_taken(taken, LENGTH(taken));
}

static const struct rule refused[] = {
	{ "-n h --operations write:1 -v write", &rdma,
	  "--operations and -v exclude each other: each operation has its own verb" },
	{ "-n h --operations write:1 -s 64", &rdma,
	  "--operations and -s exclude each other: each operation has its own" },
	{ "-n h --operations write", &rdma, "--operations: 'write' is not a list of verb:size, as write:64Ki" },
	{ "-n h --operations write:8,", &rdma, "--operations: '' is not a list of verb:size" },
	{ "-n h --operations auto:8", &rdma,
	  "--operations: 'auto' is no verb: write, write_imm, read, send, atomic_fa or" },
	{ "-n h --operations write:0", &rdma, "--operations: '0' is no size of a message: 1 byte to 1Gi" },
	{ "-n h --operations write:1G,read:1", &rdma,
	  "--operations write:1Gi,read:1 is too much: an iteration has at most" },
	{ "-n h --operations write:8,atomic_fa:16", &rdma,
	  "--operations write:8,atomic_fa:16 cannot be: an atomic operation has 8 bytes" },
	{ "-n h --operations send:8,write:8 -c UD", &rdma,
	  "--operations send:8,write:8 does not go with -c UD, which takes -v send" },
	{ "-n h --operations write:8,read:8 -c UC", &rdma,
	  "--operations write:8,read:8 does not go with -c UC, which takes -v write, write_imm or send" },
	{ "-n h --operations send:8,send:5000 -c UD", &rdma,
	  "--operations send:8,send:5000 does not go with -c UD: a message is one packet of at most 4096 bytes" },
	{ "-n h --operations write:8 -m lat", &rdma,
	  "--operations does not go with -m lat: a round trip is of one verb and one size" },
	{ "-n h --operations write:1 -s 8,64", &rdma,
	  "--operations and -s exclude each other: each operation has its" },
	{ "-n h --operations write:1 -a", &rdma, "--operations and -a exclude each other: each operation has its own" },
	{ "-n h --operations write:1 -b", &rdma, "--operations and -b exclude each other: each operation is counted" },
	{ "-n h --operations send:8,send:9 -c UD -H", &rdma,
	  "-H does not go with --operations and -c UD: which message was lost is not known" },
	{ "-n h --operations write:8 --rx_depth 8", &rdma,
	  "--rx_depth has no effect with --operations write:8: it applies to -v write_imm or send" },
	{ "-n h --operations write:8 -r null", &bare, "--operations has no effect with -r null: it applies to -r ibv" },
	{ "-n h --operations send:8 -c TCP", &bare, "--operations has no effect with" },
	{ "-n h --operations send:8,write:8 --rate 1Mpps", &rdma, "--rate 1Mpps does not go with several operations" },
};

static void bad_lists_get_their_sentence(void **state)
{
	(void)state;
	check_refused(refused, LENGTH(refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_follow),
		cmocka_unit_test(bad_lists_get_their_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
