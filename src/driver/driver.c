/* The drivers there are, and the defaults for what one of them does not have. */
#include "driver/driver.h"
#include "driver/dv.h"
#include "driver/ibv.h"
#include "driver/null.h"
#include "driver/ofi.h"
#include "driver/sock.h"
#include "spec/counter.h"

#include <errno.h>
#include <string.h>

const struct driver *const drivers[] = { &driver_ibv, &driver_dv, &driver_ofi, &driver_sock, &driver_null, NULL };

const struct driver *driver_find(enum driver_kind kind)
{
	for (size_t i = 0; drivers[i]; i++) {
		if (drivers[i]->kind == kind)
			return drivers[i];
	}
	return NULL;
}

const struct spec *port_test(const struct port_conf *conf, unsigned i)
{
	if (!conf->tests)
		return i == 0 ? conf->spec : NULL;
	return i < conf->test_count ? &conf->tests[i] : NULL;
}

uint64_t port_most(const struct port_conf *conf, size_t offset)
{
	const struct spec *test;
	uint64_t most = 0, value;

	for (unsigned i = 0; (test = port_test(conf, i)); i++) {
		memcpy(&value, (const char *)test + offset, sizeof(value));
		most = value > most ? value : most;
	}
	return most;
}

int port_peer(const struct port_conf *conf, struct error *err)
{
	if (!conf->gone || !*conf->gone)
		return 0;
	return error_set(err, -ECONNRESET, "the other side is gone");
}

uint64_t driver_no_message(const struct spec *spec)
{
	(void)spec;
	return 0;
}

int driver_no_half(struct ep *ep)
{
	(void)ep;
	return 0;
}

int driver_no_wait(struct port *port, int64_t timeout_ns)
{
	(void)timeout_ns;
	return error_set(&port->err, -EOPNOTSUPP, "the %s driver cannot wait: it polls", port->drv->name);
}

int driver_no_reg(struct port *port, struct mem *mem, struct region **ret, struct error *err)
{
	(void)port;
	(void)mem;
	(void)err;
	*ret = NULL;
	return 0;
}

void driver_no_unreg(struct region *region)
{
	(void)region;
}

void driver_no_nic(const struct port *port, struct nic *ret)
{
	(void)port;
	*ret = (struct nic){ 0 };
}
