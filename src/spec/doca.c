/* What DOCA's options ask for: congestion control hints in four fields, and all that the GPUNetIO engine needs of a test. */
#include "spec/doca.h"

#include "base/units.h"
#include "spec/legal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HINT_MOST 65536 /* bytes of a block of hints */
#define ID_MOST   UINT32_MAX

/* The number behind the last comma, which is cut off. */
static int cut_number(char *text, const char *what, uint64_t most, uint64_t *ret, struct error *err)
{
	char *comma = strrchr(text, ',');
	struct error why = { 0 };

	if (!comma)
		return error_set(err, -EINVAL, "it needs four fields, path,size,vendorId,formatId: %s is missing",
				 what);
	if (units_parse_int(comma + 1, ret, &why))
		return error_set(err, -EINVAL, "its %s: %s", what, why.text);
	if (*ret > most)
		return error_set(err, -EINVAL, "its %s %llu is more than %llu", what, (unsigned long long)*ret,
				 (unsigned long long)most);
	*comma = '\0';
	return 0;
}

int cc_hints_parse(const char *text, struct cc_hints *ret, struct error *err)
{
	struct cc_hints hints = { 0 };
	int rc;

	snprintf(hints.path, sizeof(hints.path), "%s", text);
	rc = cut_number(hints.path, "formatId", ID_MOST, &hints.format, err);
	if (!rc)
		rc = cut_number(hints.path, "vendorId", ID_MOST, &hints.vendor, err);
	if (!rc)
		rc = cut_number(hints.path, "size", HINT_MOST, &hints.size, err);
	if (!rc && !hints.path[0])
		rc = error_set(err, -EINVAL, "its path is empty");
	if (!rc && !hints.size)
		rc = error_set(err, -EINVAL, "its size is 0");
	if (!rc)
		*ret = hints;
	return rc;
}

static int check_hints(const struct request *request, struct error *err)
{
	const int row = ROW(spec.cc_group_hints);
	struct cc_hints hints;
	int rc = 0;

	if (!request->spec.cc_group_hints[0])
		return 0;
	rc = cc_hints_parse(request->spec.cc_group_hints, &hints, err);
	if (rc)
		error_prefix(err, "%s", naming_of(request, row).text);
	return rc;
}

static int engine_needs(const struct request *request, int row, const char *needed, struct error *err)
{
	return error_set(err, -EINVAL, "%s does not go with %s: it needs %s", naming_of(request, ROW(spec.engine)).text,
			 naming_of(request, row).text, needed);
}

/* The graphics processor posts and polls by itself, out of its own memory, and only writes. */
static int check_engine_test(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->driver != DRIVER_DV)
		return engine_needs(request, ROW(spec.driver), "-r dv", err);
	if (spec->transport != TRANSPORT_RC)
		return engine_needs(request, ROW(spec.transport), "-c RC", err);
	if (spec_verbs(spec) != VERB_BIT(VERB_WRITE))
		return engine_needs(request, ROW(spec.verb), "-v write", err);
	if (spec_has_list(spec))
		return engine_needs(request, ROW(spec.op), "messages of one kind", err);
	if (spec->metric == METRIC_LAT && !latency_is_ping_pong(spec))
		return engine_needs(request, ROW(spec.lat_mode), "a round trip, which the GPU times by itself", err);
	if (spec->bidirectional)
		return engine_needs(request, ROW(spec.bidirectional), "one direction", err);
	if (spec->cq_mod != 1)
		return engine_needs(request, ROW(spec.cq_mod), "a completion of each message, --cq_mod 1", err);
	if (spec->end_margin_ns)
		return engine_needs(request, ROW(spec.end_margin_ns), "no traffic after the window", err);
	if (spec->cc_group_hints[0])
		return engine_needs(request, ROW(spec.cc_group_hints), "queue pairs of no such group", err);
	return 0;
}

static int check_engine_memory(const struct request *request, struct error *err)
{
	if (strncmp(mem_name(request->spec.mem), "cuda", 4) != 0)
		return engine_needs(request, ROW(spec.mem), "CUDA memory (-M cuda)", err);
	if (request->server_mem != MEM_AUTO && strncmp(mem_name(request->server_mem), "cuda", 4) != 0)
		return engine_needs(request, ROW(server_mem), "CUDA memory on both sides", err);
	return 0;
}

static int check_engine(const struct request *request, struct error *err)
{
	if (request->spec.engine != ENGINE_GPUNETIO)
		return 0;
	return check_engine_test(request, err) ? -EINVAL : check_engine_memory(request, err);
}

int request_check_doca(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;

	if (spec->driver == DRIVER_DV && spec_verbs(spec) & ATOMIC_VERBS)
		return error_set(err, -EINVAL, "%s does not go with %s, which takes write, write_imm, read or send",
				 naming_of(request, ROW(spec.verb)).text, naming_of(request, ROW(spec.driver)).text);
	return check_engine(request, err) ? -EINVAL : check_hints(request, err);
}
