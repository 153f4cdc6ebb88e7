/* Reads FABPERF_DOUBLE, the shape of the stand-in device and the faults asked for; a mistake in it ends the process. */
#include "double.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct config parsed = {
	.devices = 1,
	.inline_max = 256,
	.max_qp = 8192,
	.max_qp_wr = 16384,
	.max_cqe = 4194303,
	.max_rd_atomic = 16,
	.atomics = true,
	.wr_api = true,
	.xrc = true,
	.dc = true,
	.pacing_percent = 100,
	.pacing_rc = true,
	.pacing_bursts = true,
	.null_mr = true,
	.dmabuf = true,
	.peermem = true,
	.dm = 256 << 10,
	.mtu = IBV_MTU_4096,
	.gone_after = UINT64_MAX,
};
const struct config *const config = &parsed;

#define CALL_NAME(name, when) #name,
const char *const call_name[] = { DOUBLE_CALLS(CALL_NAME) };

#define STATUS(name) [IBV_WC_##name] = #name
static const char *const status_name[] = {
	STATUS(SUCCESS),        STATUS(LOC_LEN_ERR),       STATUS(LOC_QP_OP_ERR),  STATUS(LOC_EEC_OP_ERR),
	STATUS(LOC_PROT_ERR),   STATUS(WR_FLUSH_ERR),      STATUS(MW_BIND_ERR),    STATUS(BAD_RESP_ERR),
	STATUS(LOC_ACCESS_ERR), STATUS(REM_INV_REQ_ERR),   STATUS(REM_ACCESS_ERR), STATUS(REM_OP_ERR),
	STATUS(RETRY_EXC_ERR),  STATUS(RNR_RETRY_EXC_ERR), STATUS(REM_ABORT_ERR),  STATUS(FATAL_ERR),
	STATUS(GENERAL_ERR),    STATUS(RESP_TIMEOUT_ERR),
};

static bool to_number(const char *text, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*ret = strtoull(text, &end, 10);
	return !*end;
}

/* A number, or the position of the name in the table. */
static bool to_name(const char *text, const char *const *names, size_t count, uint64_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (names[i] && strcmp(names[i], text) == 0) {
			*ret = i;
			return true;
		}
	}
	return to_number(text, ret) && *ret < count;
}

static bool to_errno(const char *text, uint64_t *ret)
{
	for (int i = 1; i < 134; i++) {
		const char *name = strerrorname_np(i);

		if (name && strcmp(name, text) == 0) {
			*ret = (uint64_t)i;
			return true;
		}
	}
	return to_number(text, ret) && *ret > 0 && *ret < 134;
}

/* Cuts text at the first colon and returns what follows it, "" when nothing does. */
static char *rest_of(char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return text + strlen(text);
	*colon = '\0';
	return colon + 1;
}

static bool add(const struct fault *fault)
{
	if (parsed.fault_count == FAULTS_MAX)
		return false;
	parsed.faults[parsed.fault_count++] = *fault;
	return true;
}

/* CALL:ERRNO[:NTH] or, for a slow one, CALL:MICROSECONDS[:NTH] */
static bool add_call(enum fault_kind kind, char *text)
{
	struct fault fault = { .kind = kind, .nth = 1 };
	char *value = rest_of(text), *nth = rest_of(value);
	uint64_t call;

	if (!to_name(text, call_name, CALL_COUNT, &call))
		return false;
	if (kind == FAULT_FAIL ? !to_errno(value, &fault.value) : !to_number(value, &fault.value))
		return false;
	if (*nth && !to_number(nth, &fault.nth))
		return false;
	if (kind == FAULT_SLOW)
		fault.value *= 1000; /* us to ns */
	fault.call = (enum call)call;
	return add(&fault);
}

/* What follows the number of a message; nothing for drop and dup. */
static bool to_value(enum fault_kind kind, const char *text, uint64_t *ret)
{
	switch (kind) {
	case FAULT_STATUS:
	case FAULT_RECV_STATUS:
		return to_name(text, status_name, sizeof(status_name) / sizeof(*status_name), ret);
	case FAULT_FLIP:
		return to_number(text, ret);
	case FAULT_DELAY:
		if (!to_number(text, ret))
			return false;
		*ret *= 1000; /* us to ns */
		return true;
	default:
		return !*text;
	}
}

/* N[:VALUE]; drop also takes P%. */
static bool add_message(enum fault_kind kind, char *text)
{
	struct fault fault = { .kind = kind };
	char *value = rest_of(text), *end;

	if (kind == FAULT_DROP && strchr(text, '%')) {
		fault.share = strtod(text, &end) / 100;
		return strcmp(end, "%") == 0 && fault.share > 0 && fault.share <= 1 && add(&fault);
	}
	return to_number(text, &fault.nth) && to_value(kind, value, &fault.value) && add(&fault);
}

static bool set_mtu(const char *text)
{
	for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		uint64_t bytes;

		if (to_number(text, &bytes) && bytes == UINT64_C(128) << mtu) {
			parsed.mtu = (enum ibv_mtu)mtu;
			return true;
		}
	}
	return false;
}

static bool set_number(const char *key, const char *text)
{
	static const struct {
		const char *key;
		size_t offset;
	} rows[] = {
		{ "devices", offsetof(struct config, devices) },
		{ "inline", offsetof(struct config, inline_max) },
		{ "max_qp", offsetof(struct config, max_qp) },
		{ "max_qp_wr", offsetof(struct config, max_qp_wr) },
		{ "max_cqe", offsetof(struct config, max_cqe) },
		{ "max_rd_atomic", offsetof(struct config, max_rd_atomic) },
		{ "dm", offsetof(struct config, dm) },
		{ "pacing_percent", offsetof(struct config, pacing_percent) },
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].key, key) != 0)
			continue;
		if (!to_number(text, &value) || value > INT32_MAX)
			return false;
		*(uint32_t *)((char *)&parsed + rows[i].offset) = (uint32_t)value;
		return parsed.devices <= DEVICES_MAX;
	}
	return strcmp(key, "gone") == 0 && to_number(text, &parsed.gone_after);
}

/* A word with only these values, or a flag without one. */
static bool set_word(const char *key, const char *text)
{
	static const struct {
		const char *key, *text;
		size_t offset;
		bool value;
	} rows[] = {
		{ "atomic", "none", offsetof(struct config, atomics), false },
		{ "atomic", "hca", offsetof(struct config, atomics), true },
		{ "link", "ib", offsetof(struct config, infiniband), true },
		{ "link", "eth", offsetof(struct config, infiniband), false },
		{ "port", "down", offsetof(struct config, port_down), true },
		{ "port", "up", offsetof(struct config, port_down), false },
		{ "no_xrc", "", offsetof(struct config, xrc), false },
		{ "mlx5", "", offsetof(struct config, mlx5), true },
		{ "no_dc", "", offsetof(struct config, dc), false },
		{ "tph", "", offsetof(struct config, tph), true },
		{ "memlock", "", offsetof(struct config, memlock), true },
		{ "no_wr_api", "", offsetof(struct config, wr_api), false },
		{ "no_dmabuf", "", offsetof(struct config, dmabuf), false },
		{ "no_peermem", "", offsetof(struct config, peermem), false },
		{ "data_direct", "", offsetof(struct config, data_direct), true },
		{ "no_rc_pacing", "", offsetof(struct config, pacing_rc), false },
		{ "pacing_uneven", "", offsetof(struct config, pacing_uneven), true },
		{ "no_paced_bursts", "", offsetof(struct config, pacing_bursts), false },
		{ "no_null_mr", "", offsetof(struct config, null_mr), false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].key, key) == 0 && strcmp(rows[i].text, text) == 0) {
			*(bool *)((char *)&parsed + rows[i].offset) = rows[i].value;
			return true;
		}
	}
	return set_number(key, text);
}

static bool set_cm(const char *text)
{
	static const char *const names[] = {
		[CM_FAULT_ADDR] = "addr_error",   [CM_FAULT_ROUTE] = "route_error",
		[CM_FAULT_REJECTED] = "rejected", [CM_FAULT_UNREACHABLE] = "unreachable",
		[CM_FAULT_SILENT] = "silent",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i] && strcmp(names[i], text) == 0) {
			parsed.cm_fault = (enum cm_fault)i;
			return true;
		}
	}
	return false;
}

/* MODE[:OPTIONS] */
static bool set_ece(char *text)
{
	static const char *const names[] = {
		[ECE_ACCEPT] = "accept", [ECE_REFUSE] = "refuse", [ECE_REDUCE] = "reduce"
	};
	char *options = rest_of(text);
	uint64_t mode, value = 0xff;

	if (!to_name(text, names, sizeof(names) / sizeof(names[0]), &mode))
		return false;
	if (*options && !to_number(options, &value))
		return false;
	parsed.ece = (enum ece_mode)mode;
	parsed.ece_options = (uint32_t)value;
	return true;
}

/* MIN:MAX, kbit/s */
static bool set_pacing(char *text)
{
	const char *most = rest_of(text);
	uint64_t low, high;

	if (!to_number(text, &low) || !to_number(most, &high) || !low || low > high || high > INT32_MAX)
		return false;
	parsed.pacing_min = (uint32_t)low;
	parsed.pacing_max = (uint32_t)high;
	return true;
}

static bool set(const char *key, char *text)
{
	static const struct {
		const char *key;
		enum fault_kind kind;
	} faults[] = {
		{ "status", FAULT_STATUS }, { "recv_status", FAULT_RECV_STATUS },
		{ "flip", FAULT_FLIP },     { "drop", FAULT_DROP },
		{ "dup", FAULT_DUP },       { "delay", FAULT_DELAY },
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (strcmp(faults[i].key, key) == 0)
			return add_message(faults[i].kind, text);
	if (strcmp(key, "fail") == 0)
		return add_call(FAULT_FAIL, text);
	if (strcmp(key, "slow") == 0)
		return add_call(FAULT_SLOW, text);
	if (strcmp(key, "mtu") == 0)
		return set_mtu(text);
	if (strcmp(key, "cm") == 0)
		return set_cm(text);
	if (strcmp(key, "ece") == 0)
		return set_ece(text);
	if (strcmp(key, "pacing") == 0)
		return set_pacing(text);
	if (strcmp(key, "gids") == 0)
		return config_gids(&parsed, text);
	return set_word(key, text);
}

static __attribute__((constructor)) void read_config(void)
{
	const char *text = getenv("FABPERF_DOUBLE");
	char *copy = strdup(text ? text : ""), *save = NULL;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		if (!set(word, value ? value : word + strlen(word))) {
			dprintf(STDERR_FILENO, "FABPERF_DOUBLE: '%s' is wrong in '%s'\n", word, text);
			_exit(125);
		}
	}
	free(copy);
	if (!parsed.gid_count)
		config_gids(&parsed,
			    parsed.infiniband ? "ib/fe80::ad" : "v1/fe80::ad+v2/fe80::ad+v1/10.77.0.1+v2/10.77.0.1");
}
