/* Finds and opens RDMA devices, and says which there are when the wanted one is missing or its port is down. */
#include "driver/ibv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool ib_dev_exists(const char *name)
{
	int count = 0;
	struct ibv_device **list;
	bool found;

	errno = 0;
	list = ibv_get_device_list(&count);
	if (!list)
		return errno && errno != ENOSYS; /* there may be some: opening one says why the list cannot be read */
	found = count > 0 && !*name;
	for (int i = 0; i < count && !found; i++)
		found = strcmp(ibv_get_device_name(list[i]), name) == 0;
	ibv_free_device_list(list);
	return found;
}

static int no_device(struct ibv_device **list, int count, const char *name, struct error *err)
{
	char text[300] = "";
	size_t len = 0;

	if (!list || !count)
		return error_set(err, -ENODEV,
				 "this host has no RDMA device%s%s: check 'rdma link' and its kernel driver",
				 *name ? ", so no " : "", name);
	for (int i = 0; i < count && len + SPEC_NAME + 2 < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "",
					ibv_get_device_name(list[i]));
	return error_set(err, -ENODEV, "this host has no RDMA device %s; it has: %s", name, text);
}

static int read_port(struct ib_port *p, struct ibv_context *context, struct error *err)
{
	const char *name = ibv_get_device_name(context->device);
	int rc = ibv_query_device(context, &p->dev);

	if (rc)
		return ib_fail(err, rc, "ibv_query_device", "cannot query RDMA device %s", name);
	if (p->num < 1 || p->num > p->dev.phys_port_cnt)
		return error_set(err, -EINVAL, "RDMA device %s has no port %u: it has 1 to %u", name, p->num,
				 p->dev.phys_port_cnt);
	rc = ibv_query_port(context, p->num, &p->attr);
	if (rc)
		return ib_fail(err, rc, "ibv_query_port", "cannot query port %u of RDMA device %s", p->num, name);
	if (p->attr.state != IBV_PORT_ACTIVE)
		return error_set(err, -ENETDOWN,
				 "port %u of RDMA device %s is not active but %s: check the cable and '%s'", p->num,
				 name, ibv_port_state_str(p->attr.state),
				 p->attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "ip link" : "ibstat");
	return 0;
}

void ib_dev_close(const struct ib_port *p, struct ibv_context *context)
{
	char name[SPEC_NAME];

	snprintf(name, sizeof(name), "%s", ibv_get_device_name(context->device));
	errno = 0;
	if (ibv_close_device(context))
		ib_fail(p->conf.closing, errno, "ibv_close_device", "RDMA device %s does not close", name);
}

/* Opens one device; with a name given it must do, without one the next is tried. */
static int try_device(struct ib_port *p, struct ibv_device *device, struct error *err)
{
	struct ibv_context *context = ibv_open_device(device);
	int rc;

	if (!context)
		return ib_fail(err, errno, "ibv_open_device", "cannot open RDMA device %s",
			       ibv_get_device_name(device));
	rc = read_port(p, context, err);
	if (rc) {
		ib_dev_close(p, context);
		return rc;
	}
	p->context = context;
	p->name = ibv_get_device_name(context->device);
	return 0;
}

int ib_dev_open(struct ib_port *p, struct error *err)
{
	const char *name = p->spec->device;
	struct ibv_device **list;
	int count = 0, rc = -ENODEV;

	p->num = (uint8_t)ib_knob(p->spec->port, 1);
	errno = 0;
	list = ibv_get_device_list(&count);
	if (!list && errno && errno != ENOSYS)
		return ib_fail(err, errno, "ibv_get_device_list", "cannot list the RDMA devices of this host");
	for (int i = 0; list && i < count && !p->context; i++)
		if (!*name || strcmp(ibv_get_device_name(list[i]), name) == 0)
			rc = try_device(p, list[i], err);
	if (p->context) {
		error_clear(err);
		rc = 0;
	} else if (rc == -ENODEV) {
		rc = no_device(list, count, name, err);
	}
	if (list)
		ibv_free_device_list(list);
	return rc;
}

uint64_t ib_dev_message(const struct spec *spec)
{
	struct ib_port p = { .spec = spec };

	if (ib_dev_open(&p, NULL))
		return 0;
	ib_dev_close(&p, p.context);
	return ib_max_message(&p);
}
