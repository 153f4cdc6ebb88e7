/* What goes together: transports by driver, and the rows of the fields that rules speak of. */
#ifndef SPEC_LEGAL_H
#define SPEC_LEGAL_H

#include "base/error.h"
#include "spec/option.h"
#include "spec/spec.h"

/* Transports that a driver runs as a mask (1 << enum transport). */
uint32_t driver_transports(enum driver_kind driver);

/* The row of a field of struct request. */
#define ROW(field) option_row_at(offsetof(struct request, field))
int option_row_at(size_t offset);

/* An option in a sentence: as the user wrote it, with its value, "(the default)" behind it when it was not given. */
struct naming {
	char text[OPTION_VALUE_MAX + 64];
};
struct naming name_of(const struct request *request, int row); /* "-s" */
struct naming naming_of(const struct request *request, int row); /* "-s 64Ki" */

/* check.c: the driver runs the transport and the transport has the verb. 0 or -EINVAL. */
int request_check_legality(const struct request *request, struct error *err);
/* check_validate.c: with --validate, all messages can be compared. 0 or -EINVAL. */
int request_check_validate(const struct request *request, struct error *err);
/* check_ops.c: the transport has the verbs; sizes fit verbs and transport. 0 or -EINVAL. */
int request_check_verbs(const struct request *request, struct error *err);
int request_check_sizes(const struct request *request, struct error *err);
/* check.c: legality and relations between values; a value that is still "auto" is passed over. 0 or -EINVAL. */
int request_check_values(const struct request *request, struct error *err);
int request_check_interfaces(const struct request *request,
			     struct error *err); /* many.c: of --mpi_tcp_network_interfaces */
int request_check_interval(const struct request *request, struct error *err); /* of live lines */
/* check_load.c: what only a schedule or chance gives an effect; what goes with --rate. 0 or -EINVAL. */
int request_check_load(const struct request *request, struct error *err);
int request_check_paced(const struct request *request, struct error *err);
/* check_burst.c: what only bursts give an effect; what goes with them, and what they need. 0 or -EINVAL. */
int request_check_burst(const struct request *request, struct error *err);
int request_check_burst_values(const struct request *request, struct error *err);
/* check_switch.c: what is said of a switch is whole and of one kind. 0 or -EINVAL. */
int request_check_switch(const struct request *request, struct error *err);
/* doca.c: what -r dv, --cc_group_hints and --engine need of the test. 0 or -EINVAL. */
int request_check_doca(const struct request *request, struct error *err);
/* check_rdma.c: RDMA options whose values exclude each other. 0 or -EINVAL. */
int request_check_rdma(const struct request *request, struct error *err);
/* check_side.c: no option that belongs elsewhere. 0 or -EINVAL. */
int request_check_side(const struct request *request, struct error *err);
/* check.c: every option given has an effect on the driver, transport, verb and metric. 0 or -EINVAL. */
int request_check_scope(const struct request *request, struct error *err);
/* check.c: no two options that exclude each other. 0 or -EINVAL. */
int request_check_pairs(const struct request *request, struct error *err);

/* many.c: what does not go with a scenario, before and after the transport is known. 0 or -EINVAL. */
int request_check_many(const struct request *request, struct error *err);
int request_check_sync_transport(const struct request *request, struct error *err);

/* memory.c: both sides' kinds of memory serve the test, and options about memory have an effect. 0 or -EINVAL. */
/* memory.c: what --cuda stands for. */
void request_resolve_cuda(struct request *request);
int request_check_memory(const struct request *request, struct error *err);

#endif
