/* Which kinds of memory serve which tests, and which kind the server takes. */
#include "spec/legal.h"

#include <errno.h>
#include <stdio.h>

bool mem_is_visible(uint32_t mem)
{
	return mem == MEM_HOST;
}

bool mem_is_cuda(uint32_t mem)
{
	return mem >= MEM_CUDA && mem <= MEM_CUDA_DATA_DIRECT;
}

#define WRITES    (VERB_BIT(VERB_WRITE) | VERB_BIT(VERB_WRITE_IMM))
#define ONE_SIDED (WRITES | VERB_BIT(VERB_READ) | ATOMIC_VERBS)

/* The verbs by which the peer writes to, reads from or operates on this side's slots, by their remote key. */
static uint32_t targeting(const struct spec *spec, bool active)
{
	const uint32_t verbs = spec_verbs(spec);

	if (!active || spec->bidirectional)
		return verbs & ONE_SIDED;
	return spec->metric == METRIC_LAT && latency_is_ping_pong(spec) ? verbs & WRITES : 0;
}

uint32_t mem_of_server(const struct spec *spec, uint32_t asked, uint32_t own)
{
	if (asked != MEM_AUTO)
		return asked;
	if (own != MEM_AUTO)
		return own;
	return spec->mem == MEM_NULLMR && targeting(spec, false) ? MEM_HOST : spec->mem;
}

/* The end of a write shows in memory only: this side's processor has to look there. */
static bool is_watched(const struct spec *spec)
{
	return spec->engine == ENGINE_CPU && spec->metric == METRIC_LAT && spec_verbs(spec) & VERB_BIT(VERB_WRITE) &&
	       latency_is_ping_pong(spec);
}

static const char *first_verb(uint32_t verbs)
{
	return verb_name((uint32_t)__builtin_ctz(verbs));
}

/* A null memory region has a local key only, and keeps nothing. */
static int check_null(const struct spec *spec, bool active, const char *name, struct error *err)
{
	const uint32_t atomics = spec_verbs(spec) & ATOMIC_VERBS, target = targeting(spec, active);

	if (atomics)
		return error_set(err, -EINVAL,
				 "%s does not go with -v %s: a null memory region keeps nothing: it takes write, "
				 "write_imm, read and send",
				 name, first_verb(atomics));
	if (target)
		return error_set(err, -EINVAL,
				 "%s does not go with -v %s%s: a null memory region has no remote key for the peer: "
				 "use host memory there, or -v send",
				 name, first_verb(target), spec->metric == METRIC_LAT ? " -m lat" : "");
	return 0;
}

/* One side's memory, which the sentence calls `name`. */
static int check_side(const struct spec *spec, uint32_t mem, bool active, const char *name, struct error *err)
{
	if (mem == MEM_HOST)
		return 0;
	if (spec->driver != DRIVER_IBV && spec->driver != DRIVER_DV && spec->driver != DRIVER_AUTO)
		return error_set(err, -EINVAL, "%s does not go with -r %s: only RDMA verbs (-r ibv, -r dv) can use it",
				 name, driver_kind_name(spec->driver));
	if (is_watched(spec))
		return error_set(err, -EINVAL,
				 "%s does not go with the latency of -v write: the CPU cannot see the write arrive "
				 "there: use -v write_imm or send, which end with a receive completion",
				 name);
	return mem == MEM_NULLMR ? check_null(spec, active, name, err) : 0;
}

int spec_check_server_mem(const struct spec *spec, struct error *err)
{
	char name[64];

	snprintf(name, sizeof(name), "the server's memory %s (its -M)", mem_name(spec->mem));
	return check_side(spec, spec->mem, false, name, err);
}

/* Options about CUDA memory when neither side has any. */
static int check_cuda(const struct request *request, uint32_t server_mem, struct error *err)
{
	const int rows[] = { ROW(spec.gpu), ROW(cuda_lib_path) };

	if (mem_is_cuda(request->spec.mem) || mem_is_cuda(server_mem))
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (option_given(request, rows[i]))
			return error_set(err, -EINVAL, "%s has no effect with %s: it is about CUDA memory",
					 name_of(request, rows[i]).text, naming_of(request, ROW(spec.mem)).text);
	return 0;
}

/* Options about memory that none of both sides has. */
static int check_effect(const struct request *request, uint32_t server_mem, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const int pages = ROW(spec.hugepages), inlined = ROW(spec.inline_size);

	if (option_given(request, pages) && !option_is_default(request, pages) && !mem_is_visible(spec->mem) &&
	    !mem_is_visible(server_mem))
		return error_set(err, -EINVAL, "%s has no effect with %s: it is about host memory",
				 naming_of(request, pages).text, naming_of(request, ROW(spec.mem)).text);
	if (option_given(request, inlined) && spec->inline_size && spec->inline_size != SPEC_AUTO &&
	    !mem_is_visible(spec->mem))
		return error_set(err, -EINVAL,
				 "%s has no effect with %s: the CPU cannot copy what lies there into a work request",
				 naming_of(request, inlined).text, naming_of(request, ROW(spec.mem)).text);
	return 0;
}

void request_resolve_cuda(struct request *request)
{
	if (request->cuda == SPEC_AUTO)
		return;
	request->spec.mem = MEM_CUDA_AUTO_DETECT;
	request->spec.gpu = request->cuda;
}

int request_check_memory(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const uint32_t server_mem = mem_of_server(spec, request->server_mem, MEM_AUTO);
	const bool asked = request->server_mem != MEM_AUTO;
	int rc = check_side(spec, spec->mem, true, naming_of(request, ROW(spec.mem)).text, err);

	if (rc == 0)
		rc = check_side(spec, server_mem, false,
				naming_of(request, asked ? ROW(server_mem) : ROW(spec.mem)).text, err);
	if (rc == 0)
		rc = check_cuda(request, server_mem, err);
	return rc ? rc : check_effect(request, server_mem, err);
}
