/* How far a GPU is from an RDMA device by PCIe, and which one to take. */
#ifndef MEM_GPU_H
#define MEM_GPU_H

/* nvidia-smi's classes, the nearest first. */
enum gpu_distance {
	GPU_NV, /* NVLink: between GPUs; sysfs shows none to a NIC */
	GPU_PIX, /* at most one PCIe switch between them */
	GPU_PXB, /* several switches below one root port */
	GPU_PHB, /* through a host bridge */
	GPU_NODE, /* through two host bridges of one NUMA node */
	GPU_SYS, /* through the link between NUMA nodes */
	GPU_UNKNOWN /* one of them has no place on PCIe */
};

const char *gpu_distance_name(enum gpu_distance distance);
/* sysfs: "/sys"; nic: an RDMA device, or NULL; pci: the GPU's address, "0000:18:00.0". */
enum gpu_distance gpu_distance(const char *sysfs, const char *nic, const char *pci);

/* The GPU for the nth worker (from 0): of those that are nearest the one that the workers before it load least, the first of equals. */
unsigned gpu_pick(const enum gpu_distance *distance, unsigned count, unsigned nth);

#endif
