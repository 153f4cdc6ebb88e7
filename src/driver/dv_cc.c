/* Congestion control groups: the hints of --cc_group_hints, in the vendor's format that the device has, for all queue pairs of a port. */
#include "driver/dv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The block is as long as the option says. */
int dv_cc_check(const struct spec *spec, struct cc_hints *ret, struct error *err)
{
	struct stat file;
	int rc = spec->cc_group_hints[0] ? cc_hints_parse(spec->cc_group_hints, ret, err) : 0;

	if (rc || !spec->cc_group_hints[0])
		return rc;
	if (stat(ret->path, &file))
		return error_sys(err, -errno, "--cc_group_hints: cannot read %s", ret->path);
	if (!S_ISREG(file.st_mode) || (uint64_t)file.st_size != ret->size)
		return error_set(err, -EINVAL, "--cc_group_hints: %s has %lld bytes, not %llu", ret->path,
				 (long long)file.st_size, (unsigned long long)ret->size);
	return 0;
}

static int read_hints(const struct cc_hints *hints, void *ret, struct error *err)
{
	FILE *file = fopen(hints->path, "rb");
	size_t got;

	if (!file)
		return error_sys(err, -errno, "--cc_group_hints: cannot read %s", hints->path);
	got = fread(ret, 1, hints->size, file);
	fclose(file);
	return got == hints->size ? 0 : error_set(err, -EIO, "--cc_group_hints: cannot read %s", hints->path);
}

/* Only the format that the device has: it would take another for what it is not. */
static int check_format(struct dv_port *p, struct error *err)
{
	struct doca_verbs_cc_group_caps *caps = NULL;
	uint32_t vendor, format;
	int rc = DOCA(p, verbs_query_cc_group_caps, p->context, &caps);

	if (rc)
		return ib_fail(err, rc, p->failed, "RDMA device %s has no congestion control groups (--cc_group_hints)",
			       p->ib.name);
	vendor = p->call.verbs_cc_group_caps_get_vendor_id(caps);
	format = p->call.verbs_cc_group_caps_get_format_id(caps);
	p->call.verbs_cc_group_caps_free(caps);
	if (p->hints.vendor == vendor && p->hints.format == format)
		return 0;
	return error_set(
		err, -EINVAL,
		"--cc_group_hints: RDMA device %s takes hints of vendor %u in format %u, not of vendor %llu in "
		"format %llu",
		p->ib.name, vendor, format, (unsigned long long)p->hints.vendor, (unsigned long long)p->hints.format);
}

static int create(struct dv_port *p, const void *hints)
{
	struct doca_verbs_cc_group_attr *attr = NULL;
	int rc = DOCA(p, verbs_cc_group_attr_create, &attr);

	if (rc)
		return rc;
	DOCA_STEP(rc, p, verbs_cc_group_attr_set_hint, attr, hints, p->hints.size);
	DOCA_STEP(rc, p, verbs_cc_group_create, p->context, attr, &p->cc_group);
	p->call.verbs_cc_group_attr_destroy(attr);
	return rc;
}

int dv_cc_open(struct dv_port *p, struct error *err)
{
	void *hints = malloc(p->hints.size);
	int rc;

	if (!hints)
		return error_set(err, -ENOMEM, "no memory for the hints of --cc_group_hints");
	rc = read_hints(&p->hints, hints, err);
	if (!rc)
		rc = check_format(p, err);
	if (!rc) {
		rc = create(p, hints);
		if (rc)
			rc = ib_fail(err, rc, p->failed,
				     "RDMA device %s refuses a congestion control group with these --cc_group_hints",
				     p->ib.name);
	}
	free(hints);
	return rc;
}

void dv_cc_close(struct dv_port *p)
{
	if (p->cc_group)
		ib_kept(&p->ib, DOCA(p, verbs_cc_group_destroy, p->cc_group), p->failed, "a congestion control group");
	p->cc_group = NULL;
}
