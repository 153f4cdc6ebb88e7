/* Refuses RDMA options whose values exclude each other, with a sentence that names them. */
#include "spec/legal.h"

#include <errno.h>

/* The connection manager brings the queue pairs up with numbers of its own. */
static int check_cm(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->rdma_cm != CHOICE_ON)
		return 0;
	if (spec->use_ece)
		return error_set(err, -EINVAL, "%s does not go with %s: options are agreed by the control connection",
				 name_of(request, ROW(spec.use_ece)).text, naming_of(request, ROW(spec.rdma_cm)).text);
	if (spec->start_psn == SPEC_AUTO)
		return 0;
	return error_set(err, -EINVAL, "%s does not go with %s: the connection manager chooses the numbers",
			 naming_of(request, ROW(spec.start_psn)).text, naming_of(request, ROW(spec.rdma_cm)).text);
}

int request_check_rdma(const struct request *request, struct error *err)
{
	return check_cm(request, err);
}
