/* Private to the stand-in for DOCA's verbs library: its objects, each around one of the stand-in device's verbs. */
#ifndef DOUBLE_DOCA_H
#define DOUBLE_DOCA_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The prototypes are those of NVIDIA's headers, which nothing here needs. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))

#define NOT_SUPPORTED 4
#define INVALID_VALUE 6
#define NO_MEMORY     7
#define DRIVER        21

enum kind { CONTEXT, PD, CQ, QP, CC_GROUP, ATTR, KINDS }; /* ATTR: of any kind */

struct doca_verbs_context {
	struct ibv_context *verbs;
};

struct doca_verbs_pd {
	struct ibv_pd *verbs;
};

struct doca_verbs_cq_attr {
	uint32_t size;
	int entry, external;
};

struct doca_verbs_cq {
	struct ibv_cq *verbs;
};

struct doca_verbs_qp_init_attr {
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *send_cq, *receive_cq;
	uint32_t type, sq_wr, rq_wr, send_sges, receive_sges, inline_data;
	int external, signal_all;
};

struct doca_verbs_ah_attr {
	struct ibv_context *verbs;
	struct ibv_ah_attr path;
	int type;
	bool gid_set;
};

struct doca_verbs_cc_group {
	uint8_t hint[64];
	size_t size;
};

struct doca_verbs_qp_attr {
	struct ibv_qp_attr verbs;
	const struct doca_verbs_ah_attr *ah;
	struct doca_verbs_cc_group *cc_group;
	int next_state, remote_write, remote_read, atomic_mode, mtu;
	int set; /* attributes that were set, as bits of doca_verbs_qp_modify's mask */
};

struct doca_verbs_qp {
	struct ibv_qp *verbs;
	uint32_t type;
	int state;
};

/* Whether a queue pair has that attribute on its way to INIT: not in the open library. */
extern const bool has_atomic_mode;

/* A code that FABPERF_DOCA plants for this call, else 0. */
int planted(const char *call);
#define ENTER                                                                                                          \
	do {                                                                                                           \
		int code = planted(__func__);                                                                          \
		if (code)                                                                                              \
			return code;                                                                                   \
	} while (0)

/* Attributes: an object that is made, filled in and thrown away. */
#define ATTRIBUTES(type)                                                                                               \
	EXPORT int doca_verbs_##type##_create(struct doca_verbs_##type **ret)                                          \
	{                                                                                                              \
		ENTER;                                                                                                 \
		*ret = made(ATTR, sizeof(**ret));                                                                      \
		return 0;                                                                                              \
	}                                                                                                              \
	EXPORT int doca_verbs_##type##_destroy(struct doca_verbs_##type *attr)                                         \
	{                                                                                                              \
		gone(ATTR, attr);                                                                                      \
		return 0;                                                                                              \
	}

/* SET(type, name, C type, field) */
#define SET(type, name, value, field)                                                                                  \
	EXPORT int doca_verbs_##type##_set_##name(struct doca_verbs_##type *attr, value to)                            \
	{                                                                                                              \
		ENTER;                                                                                                 \
		attr->field = to;                                                                                      \
		return 0;                                                                                              \
	}

void *made(enum kind kind, size_t size); /* zeroed */
void gone(enum kind kind, void *object);

/* FABPERF_DOCA's word of that name: its number, or otherwise. */
unsigned word(const char *name, unsigned otherwise);
/* Counted for the last line of the process. */
void counted(const char *call, int n);
/* A queue pair joined a group with so many bytes of hints. */
void joined(size_t hint);

#endif
