/* What data validation found: messages compared, wrong ones, and where the first of them are wrong. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/units.h"
#include "spec/result.h"

#include <stdio.h>

#define SHOWN 10

static void position(const struct page *page, const struct invalid *at)
{
	page_line(page, TONE_BAD, "  worker %u QP %u message %llu: byte %u is 0x%02x, not 0x%02x (%u wrong)",
		  at->worker, at->qp, (unsigned long long)at->message, at->byte, at->found, at->expected, at->bytes);
}

void block_validity(const struct page *page, const struct result *result)
{
	struct validity v;
	char text[UNITS_TEXT], remark[3 * UNITS_TEXT] = "none invalid";

	if (!result_validity(result, &v))
		return;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)v.messages);
	if (v.invalid)
		snprintf(remark, sizeof(remark), "%llu invalid, with %llu wrong bytes", (unsigned long long)v.invalid,
			 (unsigned long long)v.invalid_bytes);
	page_text(page, "Validated", text, "messages", remark);
	for (uint32_t i = 0; i < v.logged && i < SHOWN; i++)
		position(page, &v.log[i]);
	if (v.logged > SHOWN)
		page_line(page, TONE_DIM, "  %u more are in the JSON document", v.logged - SHOWN);
}
