/* Stands in for libibverbs' calls of enhanced connection establishment: what a device offers, takes, refuses or cuts. */
#include "double.h"

#include <errno.h>

#define VENDOR  0xfabu
#define OFFERED 0xffu /* by a device that keeps a part only */

int ibv_query_ece(struct ibv_qp *base, struct ibv_ece *ret)
{
	int code = fails(CALL_ibv_query_ece);
	const struct d_qp *qp = d_qp_of(base);

	if (!code && config->ece == ECE_NONE)
		code = EOPNOTSUPP;
	if (code)
		return code;
	*ret = qp->ece;
	if (!ret->vendor_id)
		*ret = (struct ibv_ece){ .vendor_id = VENDOR,
					 .options = config->ece == ECE_REDUCE ? OFFERED : config->ece_options };
	return 0;
}

int ibv_set_ece(struct ibv_qp *base, struct ibv_ece *ece)
{
	int code = fails(CALL_ibv_set_ece);
	struct d_qp *qp = d_qp_of(base);

	if (!code && config->ece == ECE_NONE)
		code = EOPNOTSUPP;
	if (!code && (config->ece == ECE_REFUSE || base->qp_type != IBV_QPT_RC || base->state != IBV_QPS_RESET ||
		      ece->vendor_id != VENDOR || ece->comp_mask))
		code = EINVAL;
	if (code)
		return code;
	qp->ece = *ece;
	if (config->ece == ECE_REDUCE)
		qp->ece.options &= config->ece_options;
	return 0;
}
