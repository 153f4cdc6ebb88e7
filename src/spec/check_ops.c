/* Refuses messages that a transport or verb does not take: by verb, by size, each operation of a list by itself. */
#include "spec/legal.h"

#include <errno.h>

#define UD_MAX      4096 /* largest MTU; the device's own is the driver's business */
#define MESSAGE_MAX (1u << 30)
#define UDP_MAX     65507 /* bytes of payload in an IPv4 datagram */
#define ATOMIC_LEN  8
#define OPS_MAX     (1ull << 30) /* bytes of an iteration */

/* The option that says which verbs and sizes. */
static int verb_row(const struct spec *spec)
{
	return spec_has_list(spec) ? ROW(spec.op) : ROW(spec.verb);
}

static int size_row(const struct spec *spec)
{
	return spec_has_list(spec) ? ROW(spec.op) : ROW(spec.size);
}

int request_check_verbs(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const uint32_t legal = transport_verbs(spec->transport);
	const int verb = ROW(spec.verb);
	char names[OPTION_VALUE_MAX];

	if (!legal || !(spec_verbs(spec) & ~(legal | VERB_BIT(VERB_AUTO))))
		return 0;
	return error_set(err, -EINVAL, "%s does not go with %s, which takes %s %s",
			 naming_of(request, verb_row(spec)).text, naming_of(request, ROW(spec.transport)).text,
			 name_of(request, verb).text, option_names(option_rows[verb].names, legal, names));
}

uint64_t spec_max_size(const struct spec *spec)
{
	if (spec->transport == TRANSPORT_UD)
		return UD_MAX;
	return spec->transport == TRANSPORT_UDP ? UDP_MAX : MESSAGE_MAX;
}

static int check_size(const struct request *request, const struct spec_op *op, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int size = size_row(spec);

	if (verb_is_atomic((enum verb)op->verb) && op->size != ATOMIC_LEN)
		return spec_has_list(spec)
			       ? error_set(err, -EINVAL, "%s cannot be: an atomic operation has 8 bytes",
					   naming_of(request, size).text)
			       : error_set(err, -EINVAL, "%s does not go with %s: an atomic operation has 8 bytes",
					   naming_of(request, size).text, naming_of(request, ROW(spec.verb)).text);
	if (spec->transport == TRANSPORT_UD && op->size > UD_MAX)
		return error_set(err, -EINVAL, "%s does not go with %s: a message is one packet of at most %d bytes",
				 naming_of(request, size).text, naming_of(request, ROW(spec.transport)).text, UD_MAX);
	if (spec->transport == TRANSPORT_UDP && op->size > UDP_MAX)
		return error_set(err, -EINVAL, "%s does not go with %s: a datagram has at most %d bytes",
				 naming_of(request, size).text, naming_of(request, ROW(spec.transport)).text, UDP_MAX);
	return 0;
}

/* What holds for a list only: round trips have no use for one, and its largest size stands for the test's. */
static int check_list(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int list = ROW(spec.op);

	if (!spec_has_list(spec))
		return 0;
	if (spec->metric != METRIC_BW)
		return error_set(err, -EINVAL, "%s does not go with %s: a round trip is of one verb and one size",
				 name_of(request, list).text, naming_of(request, ROW(spec.metric)).text);
	if (spec_bytes(spec) > OPS_MAX)
		return error_set(err, -EINVAL, "%s is too much: an iteration has at most 1Gi bytes",
				 naming_of(request, list).text);
	if (spec->qp_histogram && (spec->transport == TRANSPORT_UD || spec->transport == TRANSPORT_UC))
		return error_set(err, -EINVAL, "%s does not go with %s and %s: which message was lost is not known",
				 name_of(request, ROW(spec.qp_histogram)).text, name_of(request, list).text,
				 naming_of(request, ROW(spec.transport)).text);
	if (spec->qp_histogram && spec->driver == DRIVER_OFI)
		return error_set(
			err, -EINVAL,
			"%s does not go with %s and %s: they complete in any order, so how far each queue pair "
			"is in the list is not known",
			name_of(request, ROW(spec.qp_histogram)).text, name_of(request, list).text,
			naming_of(request, ROW(spec.driver)).text);
	if (spec->size != SPEC_AUTO && spec->size != spec_largest(spec))
		return error_set(err, -EINVAL, "%s is not the largest size of %s",
				 naming_of(request, ROW(spec.size)).text, naming_of(request, list).text);
	return 0;
}

int request_check_sizes(const struct request *request, struct error *err)
{
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(&request->spec, op);
	int rc = check_list(request, err);

	for (unsigned i = 0; rc == 0 && i < ops; i++)
		rc = op[i].size == SPEC_AUTO ? 0 : check_size(request, &op[i], err);
	return rc;
}
