/* The operations of a test: in words, and a line for each of a list with what was counted of it. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/units.h"
#include "spec/legal.h"
#include "spec/result.h"

#include <stdio.h>

char *operation_text(const struct request *request, const char *between, char ret[OPERATION_TEXT])
{
	const struct spec *spec = &request->spec;
	char list[OPTION_VALUE_MAX];

	if (spec_has_list(spec))
		snprintf(ret, OPERATION_TEXT, "%s%s", option_get(request, ROW(spec.op), list, sizeof(list)), between);
	else
		snprintf(ret, OPERATION_TEXT, "%s%s, %llu bytes", verb_name(spec->verb), between,
			 (unsigned long long)spec->size);
	return ret;
}

void block_operations(const struct page *page, const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(spec, op);

	if (!spec_has_list(spec) || rank_rate(result, result_sender(result)).seconds <= 0)
		return;
	page_blank(page);
	page_line(page, TONE_HEADING, "  %-10s %12s %14s %14s %14s", "operation", "bytes", "messages", "Gbit/sec",
		  "Mpps");
	for (unsigned i = 0; i < ops; i++) {
		const struct rate rate = result_op_rate(result, i);
		char gbps[UNITS_TEXT], mpps[UNITS_TEXT];

		page_line(page, TONE_PLAIN, "  %-10s %12llu %14llu %14s %14s", verb_name(op[i].verb),
			  (unsigned long long)op[i].size, (unsigned long long)rate.messages,
			  units_format_figure(rate.gbps, gbps), units_format_figure(rate.mpps, mpps));
	}
}
