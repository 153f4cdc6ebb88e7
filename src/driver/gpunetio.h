/* What the GPUNetIO plug-in offers to the DOCA Verbs driver: queue pairs that a GPU posts to and polls by itself; plain C, also for nvcc. */
#ifndef DRIVER_GPUNETIO_H
#define DRIVER_GPUNETIO_H

#include <stddef.h>
#include <stdint.h>

struct doca_verbs_qp;
struct ibv_pd;

#define GPUNETIO_PLUGIN  "fabperf-gpunetio.so"
#define GPUNETIO_SYMBOL  "fabperf_gpunetio" /* a struct gpunetio */
#define GPUNETIO_VERSION 2u
#define GPUNETIO_WHY     200 /* room for why a call failed: the call and what it answered */

/* The plug-in's own. */
struct gpunetio_gpu;
struct gpunetio_qp;

/*
 * Between this host's processor and the thread on the GPU that drives a queue pair, in host memory that both see; each line
 * of the cache has one writer. Messages are counted from 0 at qp_start.
 */
struct gpunetio_box {
	uint64_t target __attribute__((aligned(64))); /* processor: how many may be posted in all */
	uint64_t stop; /* processor: the thread ends */
	uint64_t done __attribute__((aligned(64))); /* GPU: how many have completed */
	uint64_t failed; /* GPU: a completion carried an error; done stays */
	uint64_t posted; /* GPU: how many it posted in all, once its thread has ended */
	uint64_t tick; /* GPU, of a ping-pong: smallest step of its clock in ns; 0 until its thread runs */
	uint64_t trips; /* GPU, of a ping-pong: questions that were answered, or answers given */
	uint64_t took; /* GPU, of one that asks: ns from post to answer of the last one, before trips counts it */
} __attribute__((aligned(64)));

/*
 * A ping-pong has one message under way, whose last byte is its number modulo 256. The one that asks counts from 1, waits
 * for its number to come back and takes the time; the one that answers sends each new number back, whatever the target.
 */
enum gpunetio_part { GPUNETIO_WRITES, GPUNETIO_ASKS, GPUNETIO_ANSWERS };

/* RDMA writes, message k from slot k % local_slots to slot k % remote_slots, each with a completion. */
struct gpunetio_work {
	enum gpunetio_part part;
	uint64_t watched; /* of a ping-pong: where the last byte of the peer's message arrives; 0 at first */
	uint64_t local, remote; /* addresses of slots 0 */
	uint32_t local_slots, local_stride, remote_slots, remote_stride; /* strides in bytes */
	uint32_t lkey, rkey; /* as verbs has them: in this host's byte order */
	uint32_t size; /* bytes a message */
	uint32_t depth; /* most that are posted and not completed */
};

/* Those that return an int: 0, or a negative errno with `why` filled in. Destructors take NULL. */
struct gpunetio {
	uint32_t version; /* GPUNETIO_VERSION */
	int (*open)(int gpu, struct gpunetio_gpu **ret, char why[GPUNETIO_WHY]); /* CUDA's number of it */
	void (*close)(struct gpunetio_gpu *gpu);
	/* A queue pair in RESET; handle is for doca_verbs_qp_modify of the library that the plug-in brings with it. */
	int (*qp_open)(struct gpunetio_gpu *gpu, struct ibv_pd *pd, uint32_t depth, struct gpunetio_qp **ret,
		       struct doca_verbs_qp **handle, char why[GPUNETIO_WHY]);
	/* Once connected, and again for other work when all is done: a thread on the GPU that obeys the box until it is told to stop. */
	int (*qp_start)(struct gpunetio_qp *qp, const struct gpunetio_work *work, struct gpunetio_box **ret,
			char why[GPUNETIO_WHY]);
	/* After failed: an enum ibv_wc_status and the vendor's code. */
	int (*qp_status)(struct gpunetio_qp *qp, uint32_t *vendor);
	void (*qp_close)(struct gpunetio_qp *qp);
};

#endif
