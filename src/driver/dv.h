/* Private to the DOCA Verbs driver: a verbs port whose queues and queue pairs are DOCA's. */
#ifndef DRIVER_DV_H
#define DRIVER_DV_H

#include "driver/doca_verbs.h"
#include "driver/gpunetio.h"
#include "driver/ibv.h"
#include "spec/doca.h"

extern const struct driver driver_dv;

struct dv_signal;

/* --engine gpunetio only */
struct dv_gpu {
	const struct gpunetio *plugin;
	struct gpunetio_gpu *gpu; /* from the first endpoint on */
	uint64_t tick; /* of its clock, ns; 0 without a ping-pong */
};

struct dv_port {
	struct ib_port ib;
	struct dv_gpu gpu;
	struct doca_calls call;
	char failed[96]; /* the call that failed last, and DOCA's name for the reason */
	struct ibv_context *opened; /* by us; while DOCA has a context of its own, that one is ib.context */
	struct doca_verbs_context *context;
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *cq;
	struct doca_verbs_cc_group *cc_group; /* --cc_group_hints only */
	struct cc_hints hints;
	struct ibv_context path; /* of the objects that ib has: its functions hand on to DOCA's */
	struct ibv_cq verbs_cq;
};

struct dv_qp {
	struct ibv_qp qp; /* what ib has */
	const struct dv_port *port;
	struct doca_verbs_qp *handle;
	struct ibv_qp_attr used; /* what it was set to */

	/* --engine gpunetio only */
	struct gpunetio_qp *gpu;
	struct gpunetio_box *box;
	struct dv_signal *signals; /* a ring: completions that are to be told, in their order */
	uint32_t signal_head, signal_tail, signal_mask;
	uint64_t posted;
};

static inline struct dv_port *dv_port_of(struct ib_port *p)
{
	return (struct dv_port *)p;
}

/* A doca_error_t of a call becomes 0 or an errno, and the port remembers both names. */
int dv_result(struct dv_port *p, const char *call, int code);
#define DOCA(p, function, ...) dv_result(p, "doca_" #function, (p)->call.function(__VA_ARGS__))
/* One of several calls in a row, skipped once one has failed. */
#define DOCA_STEP(rc, p, function, ...)                                                                                \
	do {                                                                                                           \
		if (!(rc))                                                                                             \
			(rc) = DOCA(p, function, __VA_ARGS__);                                                         \
	} while (0)

/* dv_library.c: those for congestion control groups are optional. */
int dv_library_open(bool with_cc, struct doca_calls *ret, struct error *err);

/* The same for the states of queue pairs alone, out of the library that the GPUNetIO plug-in brings with it. */
int dv_library_states(void *plugin, struct doca_calls *ret, struct error *err);

/* dv_gpu.c: --engine gpunetio */
extern const struct ib_calls dv_gpu_calls;
int dv_gpu_open(const struct port_conf *conf, struct dv_gpu *ret, struct doca_calls *call, struct error *err);
int dv_gpu_choose(struct dv_port *p, const struct mem *mem, struct error *err); /* that of the test's memory */
int dv_gpu_start(struct ep *base, const struct work *work, struct error *err); /* for a ring that was prepared */
uint64_t dv_gpu_trips(const struct ep *base, int64_t *ret_ns);

/* dv_qp.c: see struct ib_calls */
struct ibv_qp *dv_qp_create(struct ib_port *p, struct ibv_qp_init_attr_ex *init);
int dv_qp_modify(struct ib_ep *ep, struct ibv_qp_attr *attr, int mask);
int dv_qp_query(const struct ib_ep *ep, struct ibv_qp_attr *ret, int mask);
int dv_qp_destroy(struct ib_port *p, struct ibv_qp *qp);

/* dv_cc.c: the group of --cc_group_hints that all queue pairs of the port join */
int dv_cc_check(const struct spec *spec, struct cc_hints *ret, struct error *err); /* the option and its file */
int dv_cc_open(struct dv_port *p, struct error *err);
void dv_cc_close(struct dv_port *p);

#endif
