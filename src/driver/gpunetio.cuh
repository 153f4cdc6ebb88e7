/* What a GPU does by itself: a thread for each queue pair writes and polls, or asks, or answers, as the box says. */
#ifndef DRIVER_GPUNETIO_CUH
#define DRIVER_GPUNETIO_CUH

#include "driver/gpunetio.h"

#include <cuda_runtime.h>
#include <doca_gpunetio_device.h>
#include <errno.h>
#include <stdint.h>

/* 0: so far it is well, -1: a completion carries an error. */
__device__ static int take_completions(struct doca_gpu_dev_verbs_cq *cq, uint64_t first, uint64_t *done, uint64_t posted)
{
	while (*done < posted) {
		const int rc = doca_gpu_dev_verbs_poll_one_cq_at<DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE>(
			cq, first + *done);

		if (rc == EBUSY)
			return 0;
		if (rc)
			return -1;
		++*done;
	}
	return 0;
}

__device__ static void prepare(struct doca_gpu_dev_verbs_qp *qp, const struct gpunetio_work *work, uint64_t first,
			       uint64_t message)
{
	const uint64_t local = work->local + message % work->local_slots * work->local_stride;
	const uint64_t remote = work->remote + message % work->remote_slots * work->remote_stride;

	doca_gpu_dev_verbs_wqe_prepare_write(qp, doca_gpu_dev_verbs_get_wqe_ptr(qp, first + message), first + message,
					     DOCA_GPUNETIO_IB_MLX5_OPCODE_RDMA_WRITE,
					     DOCA_GPUNETIO_IB_MLX5_WQE_CTRL_CQ_UPDATE, 0, remote, work->rkey, local,
					     work->lkey, work->size);
}

__device__ static void post(struct doca_gpu_dev_verbs_qp *qp, uint64_t end)
{
	doca_gpu_dev_verbs_submit<DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE>(
		qp, end, DOCA_GPUNETIO_VERBS_GPU_CODE_OPT_CPU_PROXY_UPDATE_PI);
}

__device__ static void tell(uint64_t *where, uint64_t value)
{
	*(volatile uint64_t *)where = value;
	__threadfence_system();
}

/* Work request number `first` + k carries message k; keys are in the network's byte order. */
__global__ void drive(struct doca_gpu_dev_verbs_qp *qp, struct gpunetio_box *box, struct gpunetio_work work,
		      uint64_t first)
{
	struct doca_gpu_dev_verbs_cq *cq = doca_gpu_dev_verbs_qp_get_cq_sq(qp);
	uint64_t posted = 0, done = 0;

	while (!DOCA_GPUNETIO_VOLATILE(box->stop)) {
		const uint64_t target = DOCA_GPUNETIO_VOLATILE(box->target), before = posted, had = done;

		while (posted < target && posted - done < work.depth)
			prepare(qp, &work, first, posted++);
		if (posted != before)
			post(qp, first + posted);
		if (take_completions(cq, first, &done, posted)) {
			tell(&box->failed, 1);
			break;
		}
		if (done != had)
			tell(&box->done, done);
	}
	tell(&box->posted, posted);
}

__device__ static uint64_t now(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* Some GPUs' clock goes on in steps of 32 ns, that of others in steps of 1 us. */
__device__ static uint64_t smallest_step(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		const uint64_t from = now();
		uint64_t to;

		while ((to = now()) == from)
			;
		least = to - from < least ? to - from : least;
	}
	return least;
}

/* A side of a ping-pong: what it watches, and how far it is. */
struct side {
	struct gpunetio_box *box;
	struct doca_gpu_dev_verbs_cq *cq;
	const volatile uint8_t *watched;
	uint64_t first, posted, done;
};

/* A look at the host's memory takes longer than many at the GPU's own. */
__device__ static bool look(const struct side *s, uint8_t number, bool is_it)
{
	for (int i = 0; i < 1000; i++)
		if ((*s->watched == number) == is_it)
			return true;
	return false;
}

/* Takes and tells completions, and asks whether to go on. */
__device__ static bool goes_on(struct side *s)
{
	const uint64_t had = s->done;

	if (take_completions(s->cq, s->first, &s->done, s->posted)) {
		tell(&s->box->failed, 1);
		return false;
	}
	if (s->done != had)
		tell(&s->box->done, s->done);
	return !DOCA_GPUNETIO_VOLATILE(s->box->stop);
}

/* Until there is something to send: another number to answer, or one more to ask with. */
__device__ static bool await_turn(struct side *s, const struct gpunetio_work *work, uint8_t *number)
{
	if (work->part == GPUNETIO_ASKS) {
		while (DOCA_GPUNETIO_VOLATILE(s->box->target) == s->posted)
			if (!goes_on(s))
				return false;
		++*number;
		return true;
	}
	while (!look(s, *number, false))
		if (!goes_on(s))
			return false;
	*number = *s->watched;
	return true;
}

/* One message, and its answer where this side asks. */
__device__ static bool send_one(struct side *s, struct doca_gpu_dev_verbs_qp *qp, const struct gpunetio_work *work,
				uint8_t number)
{
	const uint64_t begin = now();

	*(volatile uint8_t *)(work->local + work->size - 1) = number;
	__threadfence_system();
	prepare(qp, work, s->first, s->posted++);
	post(qp, s->first + s->posted);
	if (work->part == GPUNETIO_ASKS) {
		while (!look(s, number, true))
			if (!goes_on(s))
				return false;
		tell(&s->box->took, now() - begin);
	}
	tell(&s->box->trips, s->posted);
	while (s->done != s->posted)
		if (!goes_on(s))
			return false;
	return true;
}

__global__ void ping_pong(struct doca_gpu_dev_verbs_qp *qp, struct gpunetio_box *box, struct gpunetio_work work,
			  uint64_t first)
{
	struct side s = { box, doca_gpu_dev_verbs_qp_get_cq_sq(qp), (const volatile uint8_t *)work.watched, first, 0, 0 };
	uint8_t number = 0;

	*(volatile uint8_t *)work.watched = number;
	__threadfence_system();
	tell(&box->tick, smallest_step());
	while (await_turn(&s, &work, &number) && send_one(&s, qp, &work, number))
		;
	tell(&box->posted, s.posted);
}

#endif
