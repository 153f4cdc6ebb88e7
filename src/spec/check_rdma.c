/* Refuses RDMA options whose values exclude each other, with a sentence that names them. */
#include "spec/legal.h"

#include <errno.h>

/* The connection manager brings the queue pairs up with numbers of its own. */
static int check_cm(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->rdma_cm != CHOICE_ON)
		return 0;
	if (spec->transport == TRANSPORT_XRC || spec->transport == TRANSPORT_DC)
		return error_set(err, -EINVAL, "%s does not go with %s: use -c RC or UD",
				 naming_of(request, ROW(spec.transport)).text,
				 naming_of(request, ROW(spec.rdma_cm)).text);
	if (spec->use_ece)
		return error_set(err, -EINVAL, "%s does not go with %s: options are agreed by the control connection",
				 name_of(request, ROW(spec.use_ece)).text, naming_of(request, ROW(spec.rdma_cm)).text);
	if (spec->start_psn == SPEC_AUTO)
		return 0;
	return error_set(err, -EINVAL, "%s does not go with %s: the connection manager chooses the numbers",
			 naming_of(request, ROW(spec.start_psn)).text, naming_of(request, ROW(spec.rdma_cm)).text);
}

/* Only those calls can name the target of each message. */
static int check_dc(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->transport != TRANSPORT_DC || spec->post_api != CHOICE_OFF)
		return 0;
	return error_set(err, -EINVAL, "%s does not go with %s: a message's target is named by ibv_wr_* calls",
			 naming_of(request, ROW(spec.transport)).text, naming_of(request, ROW(spec.post_api)).text);
}

/* A steering tag is of a core and a kind of memory, and it goes with a hint. */
static int check_hints(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int ph = ROW(spec.ph), core = ROW(spec.tph_core), mem = ROW(spec.tph_mem);
	const bool has_core = spec->tph_core != SPEC_AUTO, has_mem = spec->tph_mem != TPH_MEM_NONE;

	if (has_core != has_mem)
		return error_set(err, -EINVAL, "%s goes with %s only: give both or neither",
				 naming_of(request, has_core ? core : mem).text,
				 name_of(request, has_core ? mem : core).text);
	if (has_core && !spec->ph)
		return error_set(err, -EINVAL, "%s and %s have no effect with %s: give a hint of 0 to 3",
				 naming_of(request, core).text, naming_of(request, mem).text,
				 naming_of(request, ph).text);
	return 0;
}

int request_check_rdma(const struct request *request, struct error *err)
{
	int rc = check_cm(request, err);

	if (!rc)
		rc = check_dc(request, err);
	return rc ? rc : check_hints(request, err);
}
