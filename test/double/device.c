/* Stands in for libibverbs' calls about devices: the list, opening, and what a device, its port and tables look like. */
#include "double.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port

struct ibv_device **ibv_get_device_list(int *count)
{
	int code = fails(CALL_ibv_get_device_list);
	struct ibv_device **list;

	if (count)
		*count = 0;
	if (code)
		return fails_pointer(code);
	list = calloc(config->devices + 1, sizeof(struct ibv_device *));
	for (unsigned i = 0; list && i < config->devices; i++) {
		struct d_device *d = calloc(1, sizeof(*d));

		if (!d)
			break;
		d->index = i;
		d->device.node_type = IBV_NODE_CA;
		d->device.transport_type = IBV_TRANSPORT_IB;
		snprintf(d->device.name, sizeof(d->device.name), "double%u", i);
		snprintf(d->device.dev_name, sizeof(d->device.dev_name), "uverbs%u", i);
		list[i] = &d->device;
	}
	if (list && count)
		*count = (int)config->devices;
	return list;
}

/* An opened device outlives its list: the context has a copy. */
void ibv_free_device_list(struct ibv_device **list)
{
	for (unsigned i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htonl(0xfab0u + ((struct d_device *)device)->index);
}

/* The real one looks behind the public part of the device, where ours has none: librdmacm and libfabric ask. */
int ibv_get_device_index(struct ibv_device *device)
{
	return (int)((struct d_device *)device)->index;
}

static int query_device(struct ibv_context *context, struct ibv_device_attr *ret)
{
	(void)context;
	*ret = (struct ibv_device_attr){
		.fw_ver = "1.2.3",
		.vendor_id = config->mlx5 ? 0x2c9 : 0xfab,
		.vendor_part_id = 7,
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.max_qp = (int)config->max_qp,
		.max_qp_wr = (int)config->max_qp_wr,
		.max_sge = SGE_MAX,
		.max_cq = 4096,
		.max_cqe = (int)config->max_cqe,
		.max_mr = FABRIC_MRS,
		.max_pd = 4096,
		.max_qp_rd_atom = (int)config->max_rd_atomic,
		.max_qp_init_rd_atom = (int)config->max_rd_atomic,
		.atomic_cap = config->atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
		.device_cap_flags = config->xrc ? IBV_DEVICE_XRC : 0,
		.max_ah = 65536,
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *ret)
{
	int code = fails(CALL_ibv_query_device);

	return code ? code : query_device(context, ret);
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *ret, size_t size)
{
	int code = fails(CALL_ibv_query_device_ex);

	(void)input;
	if (code)
		return code;
	memset(ret, 0, size);
	ret->max_dm_size = config->dm;
	ret->packet_pacing_caps = pacer_caps();
	return query_device(context, &ret->orig_attr);
}

static int query_port(struct ibv_context *context, uint8_t num, struct ibv_port_attr *ret, size_t size)
{
	int code = fails(CALL_ibv_query_port);
	struct ibv_port_attr attr = {
		.state = config->port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = config->mtu,
		.gid_tbl_len = (int)config->gid_count,
		.max_msg_sz = 1u << 30,
		.pkey_tbl_len = 1,
		.lid = config->infiniband ? 1 : 0,
		.active_width = 2,
		.active_speed = 32,
		.phys_state = config->port_down ? 3 : 5,
		.link_layer = config->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET,
	};

	(void)context;
	if (code)
		return code;
	if (num != 1)
		return EINVAL;
	memcpy(ret, &attr, size < sizeof(attr) ? size : sizeof(attr));
	return 0;
}

/* The old form, for programs built before there was a link layer in it. */
int ibv_query_port(struct ibv_context *context, uint8_t num, struct _compat_ibv_port_attr *ret)
{
	return query_port(context, num, (struct ibv_port_attr *)ret, offsetof(struct ibv_port_attr, link_layer));
}

int ibv_query_gid(struct ibv_context *context, uint8_t num, int index, union ibv_gid *ret)
{
	int code = fails(CALL_ibv_query_gid);

	(void)context;
	if (!code && (num != 1 || index < 0 || (uint32_t)index >= config->gid_count))
		code = EINVAL;
	if (code) {
		errno = code;
		return -1;
	}
	*ret = config->gids[index].gid;
	return 0;
}

static bool empty(const struct ibv_gid_entry *entry)
{
	static const union ibv_gid zero;

	return memcmp(&entry->gid, &zero, sizeof(zero)) == 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t num, uint32_t index, struct ibv_gid_entry *ret,
		      uint32_t flags, size_t size)
{
	int code = fails(CALL_ibv_query_gid_ex);

	(void)context;
	if (code)
		return code;
	if (num != 1 || flags || size != sizeof(*ret))
		return EINVAL;
	if (index >= config->gid_count || empty(&config->gids[index]))
		return ENODATA;
	*ret = config->gids[index];
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *ret, size_t max, uint32_t flags,
			     size_t size)
{
	int code = fails(CALL_ibv_query_gid_table);
	size_t count = 0;

	(void)context;
	if (code)
		return -code;
	if (flags || size != sizeof(*ret))
		return -EINVAL;
	for (uint32_t i = 0; i < config->gid_count; i++) {
		if (empty(&config->gids[i]))
			continue;
		if (count == max)
			return -EINVAL;
		ret[count++] = config->gids[i];
	}
	return (ssize_t)count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t num, int index, __be16 *ret)
{
	int code = fails(CALL_ibv_query_pkey);

	(void)context;
	if (!code && (num != 1 || index))
		code = EINVAL;
	if (code) {
		errno = code;
		return -1;
	}
	*ret = 0xffff;
	return 0;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	int code = fails(CALL_ibv_create_qp_ex);

	if (!code && !config->wr_api && init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		code = EOPNOTSUPP;
	if (!code && init->qp_type == IBV_QPT_DRIVER) /* mlx5dv_create_qp makes those */
		code = EOPNOTSUPP;
	return code ? fails_pointer(code) : qp_create(context, init);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int code = fails(CALL_ibv_open_device);
	struct verbs_context *v;
	struct d_device *copy;

	if (code)
		return fails_pointer(code);
	if (!fabric_map())
		return NULL;
	v = calloc(1, sizeof(*v));
	copy = malloc(sizeof(*copy));
	if (!v || !copy) {
		free(v);
		free(copy);
		return fails_pointer(ENOMEM);
	}
	*copy = *(struct d_device *)device;
	v->sz = sizeof(*v);
	v->query_port = query_port;
	v->query_device_ex = query_device_ex;
	v->create_qp_ex = create_qp_ex;
	v->open_xrcd = xrcd_open;
	v->close_xrcd = xrcd_close;
	v->create_srq_ex = srq_create;
	v->get_srq_num = srq_number;
	if (config->pacing_max)
		v->modify_qp_rate_limit = pacer_set;
	v->context.ops.post_srq_recv = srq_post;
	if (config->null_mr)
		v->alloc_null_mr = null_mr_alloc;
	if (config->dm) {
		v->alloc_dm = dm_alloc;
		v->free_dm = dm_free;
		v->reg_dm_mr = dm_reg;
	}
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->context.device = &copy->device;
	v->context.cmd_fd = v->context.async_fd = -1;
	v->context.num_comp_vectors = 1;
	v->context.ops.poll_cq = cq_poll;
	v->context.ops.req_notify_cq = cq_notify;
	v->context.ops.post_send = post_send;
	v->context.ops.post_recv = post_recv;
	pthread_mutex_init(&v->context.mutex, NULL);
	count_add(COUNT_CONTEXT, 1);
	return &v->context;
}

int ibv_close_device(struct ibv_context *context)
{
	int code = fails_to_end(CALL_ibv_close_device, context);

	if (code) {
		count_write();
		errno = code;
		return -1;
	}
	free(context->device);
	free(verbs_get_ctx(context));
	count_add(COUNT_CONTEXT, -1);
	count_write();
	return 0;
}
