/* Fuzz target: the result that a server sends: read, computed and written as JSON and text, or refused whole. */
#include "base/buf.h"
#include "report/report.h"
#include "spec/result.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(struct result *result)
{
	const struct results results = { .request = result->request, .asked = 1, .begun = 1, .result = result };
	char *text = NULL, *json = report_json(&results);
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	if (to) {
		report_terminal(to, result);
		fclose(to);
	}
	free(text);
	free(json);
}

/* First byte: bandwidth or latency, validated or not, in bursts or not; the rest: the packed result of one rank, which then stands for both. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request request;
	struct result result;
	struct cursor from;

	if (size < 1)
		return 0;
	request_init(&request);
	request.spec.metric = data[0] & 1;
	request.spec.validate = data[0] & 2;
	request.spec.burst_profile = data[0] >> 2 & 3;
	request.spec.burst_size = 1;
	request.spec.size = 64;
	request.spec.transport = TRANSPORT_RC;
	request.spec.verb = VERB_SEND;
	result_init(&result, &request, 2);
	for (unsigned i = 0; i < 2; i++) {
		cursor_init(&from, data + 1, size - 1);
		if (rank_result_unpack(&result.rank[i], &from) == 0)
			result.measured = true;
	}
	if (result.measured)
		render(&result);
	result_release(&result);
	return 0;
}
