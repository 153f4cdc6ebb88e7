/* Refuses what does not go with --rate, and what only a schedule or chance gives an effect. */
#include "spec/legal.h"

#include <errno.h>

/* The instants of a schedule, lost messages, a link's jitter and payload that is compared follow from the seed. */
static bool draws_lots(const struct spec *spec)
{
	return spec->validate || spec->burst_profile == BURST_TRAINING || spec->burst_profile == BURST_STORAGE ||
	       spec->null_loss > 0 || spec->null_jitter_ns > 0 ||
	       (spec_is_paced(spec) && spec->arrivals == ARRIVALS_POISSON);
}

int request_check_load(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int arrivals = ROW(spec.arrivals), depth = ROW(spec.tx_depth), seed = ROW(spec.seed);

	if (option_given(request, arrivals) && !spec_is_paced(spec))
		return error_set(err, -EINVAL, "%s has no effect without %s: there is no schedule",
				 name_of(request, arrivals).text, name_of(request, ROW(spec.load)).text);
	if (option_given(request, ROW(spec.null_delay_every)) && !spec->null_delay_ns)
		return error_set(err, -EINVAL, "%s has no effect without %s: no post is held up",
				 name_of(request, ROW(spec.null_delay_every)).text,
				 name_of(request, ROW(spec.null_delay_ns)).text);
	if (option_given(request, depth) && spec->metric == METRIC_LAT && !spec_is_paced(spec))
		return error_set(err, -EINVAL,
				 "%s has no effect with %s without %s: one message is under way at a time",
				 name_of(request, depth).text, naming_of(request, ROW(spec.metric)).text,
				 name_of(request, ROW(spec.load)).text);
	if (option_given(request, seed) && !draws_lots(spec))
		return error_set(err, -EINVAL,
				 "%s has no effect: nothing is drawn by lot without --arrivals poisson, --null_loss, "
				 "--null_jitter, --validate, or --burst_profile training or storage",
				 name_of(request, seed).text);
	return 0;
}

/* Several messages of a ping-pong are under way at once: which one an answer belongs to must be plain. */
static int check_answers(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int rate = ROW(spec.load), verb = ROW(spec.verb), transport = ROW(spec.transport);

	if (spec->metric != METRIC_LAT || !latency_is_ping_pong(spec))
		return 0;
	if (spec->verb == VERB_WRITE)
		return error_set(err, -EINVAL,
				 "%s does not go with %s and a round trip: several writes under way overwrite each "
				 "other; use -v send or -v write_imm, or --lat_mode one_way",
				 naming_of(request, rate).text, naming_of(request, verb).text);
	if (!transport_is_reliable(spec->transport))
		return error_set(err, -EINVAL,
				 "%s does not go with %s and a round trip: behind a lost message no answer could be "
				 "told from the next; use -c RC or -c TCP, or --lat_mode one_way",
				 naming_of(request, rate).text, naming_of(request, transport).text);
	return 0;
}

int request_check_paced(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int rate = ROW(spec.load), batch = ROW(spec.post_batch);
	struct spec_op op[SPEC_OPS];

	if (!spec_is_paced(spec))
		return 0;
	if (spec->post_batch != SPEC_AUTO && spec->post_batch != 1)
		return error_set(err, -EINVAL, "%s does not go with %s: each message is posted when it is due",
				 naming_of(request, batch).text, naming_of(request, rate).text);
	if (spec_ops(spec, op) > 1)
		return error_set(err, -EINVAL,
				 "%s does not go with several operations: a schedule has one kind of message",
				 naming_of(request, rate).text);
	if (spec->bidirectional)
		return error_set(err, -EINVAL, "%s does not go with %s: the requestor alone has a schedule",
				 naming_of(request, rate).text, naming_of(request, ROW(spec.bidirectional)).text);
	return check_answers(request, err);
}
