/* Checks what follows from the options of bursts, and how what does not go with them is refused. */
#include "rules.h"

static const struct rule taken[] = {
	{ "-n h --burst_profile sync_burst --burst_size 200", &rdma,
	  "tx_depth=200 post_batch=200 cq_mod=200 burst_pause=2ms events=off" },
	{ "-n h --burst_profile sync-burst --burst_size 8 --sync-pause-ms 0.5", &rdma,
	  "tx_depth=128 post_batch=8 burst_pause=500us" },
	{ "-n h --burst_profile sync_burst --burst_size 2000 -v send", &rdma,
	  "tx_depth=2000 rx_depth=2000 post_batch=1024 cq_mod=1024" },
	{ "-n h -c TCP --burst_profile storage --burst_size 61 --rate_limit 25", &rdma,
	  "rate_limit=25G events=off tx_depth=128 post_batch=61" },
	{ "-n h -c UDP --burst_profile training --burst_ms 1 --pause_min 5", &rdma,
	  "burst_ms=1ms pause_min=5ms pause_max=5ms" },
	{ "-n h -r null --burst_profile training --burst_ms 1 --pause_max 500 --seed 7", &rdma,
	  "pause_min=0 pause_max=500ms seed=7" },
	{ "-n h --burst_profile storage --burst_size 100 --rate_limit 1 --rate_limit_type hw", &rdma,
	  "rate_limit_type=hw tx_depth=200 post_batch=100" },
	{ "-n h --burst_profile storage --burst_size 20000 --rate_limit 1 --rate_limit_type auto", &rdma,
	  "rate_limit_type=auto tx_depth=32768" },
	{ "-n h --burst_profile storage --burst_size 61 --rate_limit 10M --link_rate 400 --burst_count 5", &rdma,
	  "link_rate=400G rate_limit=10M" },
};

static void defaults_follow(void **state)
{
	(void)state;
	check_taken(taken, LENGTH(taken));
}

static const struct rule refused[] = {
	{ "-n h --burst_profile storage --burst_size 8 --rate_limit 2.36666666666666666666666666666666666666", &bare,
	  "--rate_limit: '2.36666666666666666666666666666666666666' has too many digits" },
	{ "-n h -c TCP --burst_size 8", &bare,
	  "--burst_size has no effect without --burst_profile: there are no bursts" },
	{ "-n h -c TCP --burst_log f", &bare,
	  "--burst_log has no effect without --burst_profile: there are no bursts" },
	{ "-n h -r null --null_delay_every 5", &bare, "--null_delay_every has no effect without --null_delay" },
	{ "-n h -c TCP --sync_pause_ms 1", &bare, "--burst_pause has no effect without --burst_profile" },
	{ "-n h -c TCP --burst_profile training --burst_ms 1 --burst_size 8", &bare,
	  "--burst_size has no effect with --burst_profile training: it applies to --burst_profile storage or "
	  "sync_burst" },
	{ "-n h -c TCP --burst_profile storage --burst_size 8 --rate_limit 1 --pause_min 1", &bare,
	  "--pause_min has no effect with --burst_profile storage: it applies to --burst_profile training" },
	{ "-n h[1-3] --traffic_pattern all2all --ptini_file f -c TCP --burst_profile sync_burst --burst_size 8", &bare,
	  "--ptini_file f does not go with --burst_profile sync_burst: messages of all bursts have one size" },
	{ "-n h -c TCP --burst_profile sync_burst", &bare, "--burst_profile sync_burst needs --burst_size" },
	{ "-n h -c TCP --burst_profile training", &bare, "--burst_profile training needs --burst_ms" },
	{ "-n h -c TCP --burst_profile storage --burst_size 8 --rate_limit 1 --rate_limit_type hw", &bare,
	  "--rate_limit_type has no effect with -c TCP: it applies to" },
	{ "-n h -r dv --burst_profile storage --burst_size 8 --rate_limit 1 --rate_limit_type hw", &rdma,
	  "--rate_limit_type has no effect with -r dv: it applies to -r ibv" },
	{ "-n h --burst_profile sync_burst --burst_size 8 --rate_limit_type auto", &rdma,
	  "--rate_limit_type has no effect with --burst_profile sync_burst: it applies to --burst_profile storage" },
	{ "-n h -c TCP --burst_profile storage --burst_size 8", &bare, "--burst_profile storage needs --rate_limit" },
	{ "-n h -c TCP --burst_profile training --burst_ms 1 --pause_min 5 --pause_max 4", &bare,
	  "--pause_min 5ms is more than --pause_max 4ms" },
	{ "-n h --burst_profile sync_burst --burst_size 200 -t 100", &rdma,
	  "--burst_size 200 is more than -t 100: a burst does not wait for its own completions" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 -b", &bare,
	  "-b on does not go with --burst_profile sync_burst" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 -i 5", &bare,
	  "-i 5 does not go with --burst_profile sync_burst: bursts are counted by --burst_count" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 -D 5 --burst_count 5", &bare,
	  "-D and --burst_count exclude each other: a test ends by time or by count" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 --rate 1G", &bare,
	  "--rate 1G does not go with --burst_profile sync_burst" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 --link_rate 0.0000001", &bare, "--link_rate" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 --link_rate 1 --sender_rate 0.0000001", &bare,
	  "--sender_rate 0.100k is too slow for a link" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 32768 -s 1G --link_rate 0.001", &bare,
	  "--burst_size 32768 of -s 1Gi takes longer than an hour at --link_rate 1M" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 --sender_rate 1", &bare,
	  "--sender_rate 1G needs --link_rate: nothing is predicted without it" },
	{ "-n h --sender_rate 1", &bare, "--sender_rate has no effect without --burst_profile" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 -m lat", &bare,
	  "--burst_profile has no effect with -m lat" },
	{ "-n h -c TCP --burst_profile sync_burst --burst_size 8 --seed 3", &bare, "--seed has no effect" },
};

static void bad_combinations_get_their_sentence(void **state)
{
	(void)state;
	check_refused(refused, LENGTH(refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_follow),
		cmocka_unit_test(bad_combinations_get_their_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
