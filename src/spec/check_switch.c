/* Refuses descriptions of a switch that lack a part, or that say the same thing twice. */
#include "spec/legal.h"

#include <errno.h>

/* One option is there, and another without which it says nothing is not. */
static int lacks(const struct request *request, int row, int needed, const char *why, struct error *err)
{
	return error_set(err, -EINVAL, "%s needs %s: %s", naming_of(request, row).text, name_of(request, needed).text,
			 why);
}

static int check_buffer(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->buffer_limit && (spec->buffer || spec->alpha > 0))
		return error_set(err, -EINVAL, "%s and %s exclude each other: a queue's limit is its own or shared",
				 name_of(request, ROW(spec.buffer_limit)).text,
				 name_of(request, spec->buffer ? ROW(spec.buffer) : ROW(spec.alpha)).text);
	if (spec->buffer && !(spec->alpha > 0))
		return lacks(request, ROW(spec.buffer), ROW(spec.alpha), "how much of it one queue may take", err);
	if (spec->alpha > 0 && !spec->buffer)
		return lacks(request, ROW(spec.alpha), ROW(spec.buffer), "what it is a share of", err);
	return 0;
}

static int check_marks(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (!spec->ecn_kmin && !option_is_default(request, ROW(spec.ecn_pmax)))
		return lacks(request, ROW(spec.ecn_pmax), ROW(spec.ecn_kmin), "where marking begins", err);
	if (!spec->ecn_kmin && spec->ecn_kmax)
		return lacks(request, ROW(spec.ecn_kmax), ROW(spec.ecn_kmin), "where marking begins", err);
	if (spec->ecn_kmin && !spec->ecn_kmax)
		return lacks(request, ROW(spec.ecn_kmin), ROW(spec.ecn_kmax), "where all packets are marked", err);
	if (spec->ecn_kmin && spec->ecn_kmax <= spec->ecn_kmin)
		return error_set(err, -EINVAL, "%s is not above %s", naming_of(request, ROW(spec.ecn_kmax)).text,
				 naming_of(request, ROW(spec.ecn_kmin)).text);
	return 0;
}

int request_check_switch(const struct request *request, struct error *err)
{
	static const size_t fields[] = {
		offsetof(struct request, spec.buffer),      offsetof(struct request, spec.buffer_limit),
		offsetof(struct request, spec.ecn_kmin),    offsetof(struct request, spec.pfc_xoff),
		offsetof(struct request, spec.cable),       offsetof(struct request, spec.start_skew_ns),
		offsetof(struct request, spec.sender_rate),
	};
	const struct spec *const spec = &request->spec;

	if (!spec_bursts(spec))
		return 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const int row = option_row_at(fields[i]);

		if (!spec->link_rate && !option_is_default(request, row))
			return lacks(request, row, ROW(spec.link_rate), "nothing is predicted without it", err);
	}
	return check_buffer(request, err) ? -EINVAL : check_marks(request, err);
}
