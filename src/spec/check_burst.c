/* Refuses what does not go with bursts, what only bursts give an effect, and bursts that lack what they need. */
#include "spec/legal.h"
#include "spec/words.h"

#include <errno.h>

#define BIT(n)     (1u << (n))
#define MIN_RATE   1000 /* bit/s */
#define LONGEST_NS 3600000000000LL /* of a burst on a link */

#define ALL_PROFILES (BIT(BURST_TRAINING) | BIT(BURST_STORAGE) | BIT(BURST_SYNC))

/* Options that have an effect with some profiles only. */
static const struct {
	size_t field; /* in struct request */
	uint32_t profiles;
} takers[] = {
	{ offsetof(struct request, spec.burst_size), BIT(BURST_STORAGE) | BIT(BURST_SYNC) },
	{ offsetof(struct request, spec.burst_pause_ns), BIT(BURST_SYNC) },
	{ offsetof(struct request, spec.rate_limit), BIT(BURST_STORAGE) },
	{ offsetof(struct request, spec.rate_limit_type), BIT(BURST_STORAGE) },
	{ offsetof(struct request, spec.burst_ns), BIT(BURST_TRAINING) },
	{ offsetof(struct request, spec.pause_min_ns), BIT(BURST_TRAINING) },
	{ offsetof(struct request, spec.pause_max_ns), BIT(BURST_TRAINING) },
	{ offsetof(struct request, spec.burst_count), ALL_PROFILES },
	{ offsetof(struct request, spec.link_rate), ALL_PROFILES },
	{ offsetof(struct request, spec.sender_rate), ALL_PROFILES },
	{ offsetof(struct request, spec.buffer), ALL_PROFILES },
	{ offsetof(struct request, spec.buffer_limit), ALL_PROFILES },
	{ offsetof(struct request, spec.alpha), ALL_PROFILES },
	{ offsetof(struct request, spec.start_skew_ns), BIT(BURST_TRAINING) | BIT(BURST_SYNC) },
	{ offsetof(struct request, spec.ecn_kmin), ALL_PROFILES },
	{ offsetof(struct request, spec.ecn_kmax), ALL_PROFILES },
	{ offsetof(struct request, spec.ecn_pmax), ALL_PROFILES },
	{ offsetof(struct request, spec.pfc_xoff), ALL_PROFILES },
	{ offsetof(struct request, spec.cable), ALL_PROFILES },
	{ offsetof(struct request, burst_log), ALL_PROFILES },
};

int request_check_burst(const struct request *request, struct error *err)
{
	const int profile = ROW(spec.burst_profile);
	char names[OPTION_VALUE_MAX];

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		const int row = option_row_at(takers[i].field);

		if (!option_given(request, row) || (takers[i].profiles & BIT(request->spec.burst_profile)))
			continue;
		if (!spec_bursts(&request->spec))
			return error_set(err, -EINVAL, "%s has no effect without %s: there are no bursts",
					 name_of(request, row).text, name_of(request, profile).text);
		return error_set(err, -EINVAL, "%s has no effect with %s: it applies to %s %s",
				 name_of(request, row).text, naming_of(request, profile).text,
				 name_of(request, profile).text, option_names(burst_names, takers[i].profiles, names));
	}
	return 0;
}

static int needs(const struct request *request, int row, const char *why, struct error *err)
{
	return error_set(err, -EINVAL, "%s needs %s: %s", naming_of(request, ROW(spec.burst_profile)).text,
			 name_of(request, row).text, why);
}

/* What a profile cannot be without. */
static int check_needs(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->burst_profile == BURST_TRAINING)
		return spec->burst_ns ? 0 : needs(request, ROW(spec.burst_ns), "how long a burst lasts", err);
	if (!spec->burst_size)
		return needs(request, ROW(spec.burst_size), "how many messages a burst has", err);
	if (spec->burst_profile == BURST_STORAGE && spec->rate_limit < MIN_RATE)
		return needs(request, ROW(spec.rate_limit), "the average rate of a queue pair, at least 1k", err);
	return 0;
}

/* What bursts exclude, with the reason. */
static int check_company(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const struct {
		bool there;
		int row;
		const char *why;
	} company[] = {
		{ spec->metric != METRIC_BW, ROW(spec.metric), "a ping-pong has no bursts" },
		{ spec_is_paced(spec), ROW(spec.load), "a schedule of single messages or of bursts" },
		{ spec->iterations, ROW(spec.iterations), "bursts are counted by --burst_count" },
		{ spec->warmup_iterations, ROW(spec.warmup_iterations), "bursts warm up by time" },
		{ spec->bidirectional, ROW(spec.bidirectional),
		  "both directions have bursts of their own with --dual_unidir" },
		{ spec_has_list(spec), ROW(spec.op), "a burst has one kind of message" },
		{ spec->validate, ROW(spec.validate), "filling and comparing would move the instants" },
		{ *request->ptini_file != '\0', ROW(ptini_file), "messages of all bursts have one size" },
		{ request->peer_shifting, ROW(peer_shifting), "rounds follow one another, bursts are of all at once" },
		{ request->iteration_sync, ROW(iteration_sync), "bursts have instants and wait for nobody" },
		{ spec->engine != ENGINE_CPU, ROW(spec.engine), "the processor keeps the instants" },
	};

	for (size_t i = 0; i < sizeof(company) / sizeof(company[0]); i++)
		if (company[i].there)
			return error_set(err, -EINVAL, "%s does not go with %s: %s",
					 naming_of(request, company[i].row).text,
					 naming_of(request, ROW(spec.burst_profile)).text, company[i].why);
	return 0;
}

/* A burst on its link. */
static int check_length(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->burst_profile == BURST_SYNC && spec_burst_period_ns(spec) - spec->burst_pause_ns > LONGEST_NS)
		return error_set(err, -EINVAL, "%s of %s takes longer than an hour at %s: give less of them",
				 naming_of(request, ROW(spec.burst_size)).text, naming_of(request, ROW(spec.size)).text,
				 naming_of(request, ROW(spec.link_rate)).text);
	return 0;
}

int request_check_burst_values(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (!spec_bursts(spec))
		return 0;
	if (check_company(request, err) || check_needs(request, err))
		return -EINVAL;
	if (spec->pause_min_ns > spec->pause_max_ns)
		return error_set(err, -EINVAL, "%s is more than %s: it can be at most as much",
				 naming_of(request, ROW(spec.pause_min_ns)).text,
				 naming_of(request, ROW(spec.pause_max_ns)).text);
	if (spec->link_rate && spec->link_rate < MIN_RATE)
		return error_set(err, -EINVAL, "%s is too slow for a link: at least 1k, or 0",
				 naming_of(request, ROW(spec.link_rate)).text);
	if (spec->sender_rate && spec->sender_rate < MIN_RATE)
		return error_set(err, -EINVAL, "%s is too slow for a link: at least 1k, or 0",
				 naming_of(request, ROW(spec.sender_rate)).text);
	if (spec->tx_depth != SPEC_AUTO && spec->tx_depth < spec->burst_size)
		return error_set(err, -EINVAL, "%s is more than %s: a burst does not wait for its own completions",
				 naming_of(request, ROW(spec.burst_size)).text,
				 naming_of(request, ROW(spec.tx_depth)).text);
	return check_length(request, err) ? -EINVAL : request_check_switch(request, err);
}
