/* What a request asks for when it is a test of many hosts, and what does not go with that. */
#include "base/units.h"
#include "spec/legal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

bool request_is_scenario(const struct request *request)
{
	return request->traffic_pattern != PATTERN_NONE || *request->input_file;
}

enum pattern request_pattern(const struct request *request)
{
	static const enum pattern meant[] = {
		[WORD_O2O] = PATTERN_ONE_TO_ONE,       [WORD_O2M] = PATTERN_ONE_TO_MANY,
		[WORD_M2O] = PATTERN_MANY_TO_ONE,      [WORD_A2A] = PATTERN_ALL_TO_ALL,
		[WORD_B] = PATTERN_BISECTION,          [WORD_R] = PATTERN_RING,
		[WORD_INCAST] = PATTERN_MANY_TO_ONE,   [WORD_ALL2ALL] = PATTERN_ALL_TO_ALL,
		[WORD_ALL_2_ALL] = PATTERN_ALL_TO_ALL, [WORD_ALLREDUCE] = PATTERN_RING,
	};
	const uint32_t word = request->traffic_pattern;

	return word < PATTERNS ? (enum pattern)word : meant[word];
}

enum partition request_partition(const struct request *request)
{
	return request->traffic_partition <= PARTITION_REMOTE ? (enum partition)request->traffic_partition
							      : PARTITION_NONE;
}

/* An allreduce is a ring with both neighbours. */
enum traffic_direction request_direction(const struct request *request)
{
	if (request->spec.bidirectional)
		return DIRECTION_BIDIR;
	return request->dual_unidir || request->traffic_pattern == WORD_ALLREDUCE ? DIRECTION_DUAL_UNIDIR
										  : DIRECTION_UNIDIR;
}

static int needs(const struct request *request, int row, const char *what, struct error *err)
{
	return error_set(err, -EINVAL, "%s takes %s", name_of(request, row).text, what);
}

/* What only a mesh can be. */
static int check_mesh(const struct request *request, struct error *err)
{
	const int rows[] = { ROW(iteration_sync), ROW(peer_shifting), ROW(ptini_file) };
	const bool asked[] = { request->iteration_sync, request->peer_shifting, *request->ptini_file };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (asked[i] && request_pattern(request) != PATTERN_ALL_TO_ALL)
			return error_set(err, -EINVAL, "%s takes %s all_to_all, not %s", name_of(request, rows[i]).text,
					 name_of(request, ROW(traffic_pattern)).text,
					 naming_of(request, ROW(traffic_pattern)).text);
	return 0;
}

static int check_directions(const struct request *request, struct error *err)
{
	const enum traffic_direction direction = request_direction(request);

	if (direction == DIRECTION_UNIDIR)
		return 0;
	if (*request->ptini_file)
		return needs(
			request, ROW(ptini_file),
			"one direction only: each directed pair has its own size, and a connection of both has one",
			err);
	if (request->peer_shifting)
		return needs(request, ROW(peer_shifting),
			     "one direction only: the rounds have each pair in both orders", err);
	if (request->iteration_sync && direction == DIRECTION_DUAL_UNIDIR)
		return needs(request, ROW(iteration_sync),
			     "UNIDIR or BIDIR: all_to_all has both directions on queue pairs of their own as it is",
			     err);
	return 0;
}

static int check_sync(const struct request *request, struct error *err)
{
	const int sync = ROW(iteration_sync);

	if (!request->iteration_sync)
		return 0;
	if (option_given(request, ROW(spec.duration_ns)))
		return error_set(err, -EINVAL, "%s and %s exclude each other: its end is %s",
				 name_of(request, sync).text, name_of(request, ROW(spec.duration_ns)).text,
				 name_of(request, ROW(spec.iterations)).text);
	if (!request->spec.iterations)
		return error_set(err, -EINVAL, "%s needs %s: everybody waits for everybody so many times",
				 name_of(request, sync).text, name_of(request, ROW(spec.iterations)).text);
	if (option_given(request, ROW(spec.warmup_ns)) && request->spec.warmup_ns)
		return error_set(err, -EINVAL, "%s does not go with %s: give %s, which counts iterations, or none",
				 name_of(request, sync).text, naming_of(request, ROW(spec.warmup_ns)).text,
				 name_of(request, ROW(spec.warmup_iterations)).text);
	return 0;
}

static int check_ptini(const struct request *request, struct error *err)
{
	if (option_given(request, ROW(ptini_datatype)) && !*request->ptini_file)
		return error_set(err, -EINVAL, "%s has no effect without %s: it says what that file counts",
				 name_of(request, ROW(ptini_datatype)).text, name_of(request, ROW(ptini_file)).text);
	if (*request->ptini_file && request->iteration_sync && request->spec.bw_threshold > 0)
		return error_set(
			err, -EINVAL,
			"%s does not go with %s and %s: iterations of different sizes in step have no bandwidth",
			naming_of(request, ROW(spec.bw_threshold)).text, name_of(request, ROW(ptini_file)).text,
			name_of(request, ROW(iteration_sync)).text);
	return 0;
}

/* Options that describe a test stand beside the pattern, or in the file. */
static int check_file(const struct request *request, struct error *err)
{
	for (int row = 0; row < (int)option_count; row++) {
		const uint32_t flags = option_rows[row].flags;
		const bool of_test = flags & (OPTION_WIRE | OPTION_TEST) || row == ROW(host) || row == ROW(all);

		if (of_test && row != ROW(no_matrix) && row != ROW(spec.report_interval_ns) &&
		    option_given(request, row))
			return error_set(err, -EINVAL, "%s and %s exclude each other: the file describes the tests",
					 name_of(request, row).text, name_of(request, ROW(input_file)).text);
	}
	return 0;
}

static int check_word(const struct request *request, struct error *err)
{
	const int direction = ROW(spec.bidirectional);

	if (request->traffic_pattern == WORD_ALLREDUCE && option_given(request, direction) &&
	    !request->spec.bidirectional)
		return error_set(err, -EINVAL, "%s does not go with %s UNIDIR: it is a ring with both neighbours",
				 naming_of(request, ROW(traffic_pattern)).text, name_of(request, direction).text);
	if (!request->in_file && !*request->host)
		return error_set(err, -EINVAL, "%s needs -n with the hosts that take part, as -n node[1-4]",
				 name_of(request, ROW(traffic_pattern)).text);
	return 0;
}

/* "10.7.8.0/24"; what has no slash is the name of an interface. */
static bool is_interface(const char *text)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN] = "";
	unsigned char bytes[16];
	uint64_t bits;

	if (!slash)
		return *text != '\0';
	if (slash - text >= (ptrdiff_t)sizeof(address) || units_parse_int(slash + 1, &bits, NULL))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	return (inet_pton(AF_INET, address, bytes) == 1 && bits <= 32) ||
	       (inet_pton(AF_INET6, address, bytes) == 1 && bits <= 128);
}

int request_check_interfaces(const struct request *request, struct error *err)
{
	char list[SPEC_TEXT], *rest = list, *item;

	memcpy(list, request->mpi_interfaces, sizeof(list));
	while (*list && (item = strsep(&rest, ",")))
		if (!is_interface(item))
			return error_set(err, -EINVAL,
					 "%s: '%.60s' is no subnet, as 10.7.8.0/24, and no interface, as eth0",
					 naming_of(request, ROW(mpi_interfaces)).text, item);
	return 0;
}

int request_check_many(const struct request *request, struct error *err)
{
	int rc = request_check_interfaces(request, err);

	if (rc < 0)
		return rc;
	if (*request->input_file)
		return check_file(request, err);
	rc = check_word(request, err);
	if (rc == 0)
		rc = check_mesh(request, err);
	if (rc == 0)
		rc = check_directions(request, err);
	if (rc == 0)
		rc = check_sync(request, err);
	return rc ? rc : check_ptini(request, err);
}

/* In step the ends tell each other by write_imm, which must arrive. */
int request_check_sync_transport(const struct request *request, struct error *err)
{
	const struct spec *const spec = &request->spec;
	const bool tells = transport_verbs(spec->transport) & VERB_BIT(VERB_WRITE_IMM);

	if (!request->iteration_sync)
		return 0;
	if (spec->driver == DRIVER_NULL || spec->driver == DRIVER_DV)
		return error_set(err, -EINVAL,
				 "%s does not go with %s: it takes %s ibv or ofi, by which a message can be announced",
				 name_of(request, ROW(iteration_sync)).text, naming_of(request, ROW(spec.driver)).text,
				 name_of(request, ROW(spec.driver)).text);
	if (tells && transport_is_reliable(spec->transport))
		return 0;
	return error_set(err, -EINVAL,
			 "%s does not go with %s: it takes %s RC, XRC, DC, RDM or MSG, which have write_imm",
			 name_of(request, ROW(iteration_sync)).text, naming_of(request, ROW(spec.transport)).text,
			 name_of(request, ROW(spec.transport)).text);
}
