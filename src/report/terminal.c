/* The report for people: figures first, then what limits them, then the conditions under which they hold. */
#include "report/report.h"

#include "report/blocks.h"
#include "report/page.h"

#include <strings.h>

static void title(const struct page *page, const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	const struct rank_result *sender = result_sender(result), *receiver = result_receiver(result);
	char text[OPERATION_TEXT];
	const bool hosts = sender && receiver && *sender->host && *receiver->host;

	const char *arrow = spec->bidirectional ? " <-> " : " -> ";

	page_line(page, TONE_HEADING, "%s: %s %s%s%s%s%s", spec->metric == METRIC_LAT ? "Latency" : "Bandwidth",
		  transport_name(spec->transport), operation_text(&result->request, "", text), hosts ? ", " : "",
		  hosts ? sender->host : "", hosts ? arrow : "", hosts ? receiver->host : "");
}

/* Why the run did not go as asked. */
static void outcome(const struct page *page, const struct result *result)
{
	const bool failed = result->status == RUN_FAILED;
	const char *reason = strcasecmp(result->error.text, "interrupted") ? result->error.text : "";

	if (!failed && result->status != RUN_INTERRUPTED)
		return;
	page_line(page, TONE_BAD, "%s%s%s", failed ? "Failed" : "Interrupted", *reason ? ": " : "", reason);
	page_line(page, TONE_PLAIN, "%s", result->measured ? "Until then this was measured:" : "Nothing was measured.");
}

void report_terminal(FILE *to, const struct result *result)
{
	struct page page;

	page_init(&page, to);
	if (result->measured)
		title(&page, result);
	outcome(&page, result);
	if (result->measured) {
		block_figures(&page, result);
		block_validity(&page, result);
		block_operations(&page, result);
		block_workers(&page, result);
		block_qps(&page, result);
		block_notes(&page, result);
	}
	block_threshold(&page, result);
	if (result->measured)
		block_conditions(&page, result);
	fflush(to);
}
