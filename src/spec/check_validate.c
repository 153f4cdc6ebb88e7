/* Refuses tests whose messages cannot all be compared with what was sent (--validate), with the reason. */
#include "spec/legal.h"

#include <errno.h>

#define NUMBERED 8 /* bytes by which a message can be told from others */

static int refuse(const struct request *request, int row, const char *why, struct error *err)
{
	return error_set(err, -EINVAL, "%s does not go with %s: %s", name_of(request, ROW(spec.validate)).text,
			 naming_of(request, row).text, why);
}

/* What moves the messages, and how the receiver learns of them. */
static int check_kind(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->driver == DRIVER_NULL)
		return refuse(request, ROW(spec.driver), "nothing arrives there; it takes -r ibv, dv, sock or ofi",
			      err);
	if (spec->metric != METRIC_BW)
		return refuse(request, ROW(spec.metric), "filling and comparing would be part of every sample", err);
	if (spec->verb != VERB_AUTO && !verb_is_two_sided((enum verb)spec->verb))
		return refuse(request, ROW(spec.verb),
			      "the receiver is told of a message with -v send and write_imm only", err);
	if (spec->verb == VERB_WRITE_IMM && spec->transport == TRANSPORT_UC)
		return refuse(
			request, ROW(spec.transport),
			"it may lose messages, and of write_imm then nobody knows where the next one lies: use -v send",
			err);
	if (spec->verb == VERB_WRITE_IMM && spec->driver == DRIVER_OFI)
		return refuse(request, ROW(spec.driver),
			      "a write takes no receive there, so the next ones may lie down on it before it is "
			      "compared: use -v send",
			      err);
	return 0;
}

/* Every message counts, so there is none before the window or behind it. */
static int check_course(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->warmup_iterations)
		return refuse(request, ROW(spec.warmup_iterations), "all messages are compared and counted: give -w 0",
			      err);
	if (spec->warmup_ns)
		return refuse(request, ROW(spec.warmup_ns), "all messages are compared and counted: give -w 0", err);
	if (spec->end_margin_ns)
		return refuse(request, ROW(spec.end_margin_ns), "all messages are compared and counted: leave it out",
			      err);
	return 0;
}

static int check_memory(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (!mem_is_visible(spec->mem))
		return refuse(request, ROW(spec.mem), "the CPU cannot fill it", err);
	if (!mem_is_visible(mem_of_server(spec, request->server_mem, spec->mem)))
		return refuse(request, ROW(server_mem), "the CPU cannot read it", err);
	return 0;
}

/* In step messages are compared between the iterations, which are not timed then. */
static int check_in_step(const struct request *request, struct error *err)
{
	const enum verb verb = (enum verb)request->spec.verb;

	if (verb == VERB_READ || verb_is_atomic(verb))
		return refuse(request, ROW(spec.verb), "what is fetched is not compared: use -v write or send", err);
	return check_memory(request, err);
}

int request_check_validate(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	int rc;

	if (!spec->validate)
		return 0;
	if (request->iteration_sync)
		return check_in_step(request, err);
	rc = check_kind(request, err);
	if (rc == 0)
		rc = check_course(request, err);
	if (rc == 0)
		rc = check_memory(request, err);
	if (rc)
		return rc;
	if (spec->rx_depth != SPEC_AUTO && spec->tx_depth != SPEC_AUTO && spec->rx_depth < spec->tx_depth)
		return error_set(err, -EINVAL, "%s is less than %s: with %s it must be at least as much",
				 naming_of(request, ROW(spec.rx_depth)).text,
				 naming_of(request, ROW(spec.tx_depth)).text,
				 name_of(request, ROW(spec.validate)).text);
	if (spec->size < NUMBERED &&
	    (!transport_is_reliable((enum transport)spec->transport) || spec->driver == DRIVER_OFI))
		return refuse(request, ROW(spec.size),
			      "where messages may be lost or overtake each other each must have 8 bytes to be told "
			      "from the others",
			      err);
	return 0;
}
