/* The queue pairs' bandwidth as bars: all of them, or the fastest and the slowest when they are many. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/units.h"
#include "spec/result.h"

#include <math.h>
#include <stdlib.h>

#define CELLS 40 /* of the longest bar */
#define SHOWN 64 /* queue pairs; of more than that half as many of each end */

struct bar {
	uint32_t worker, qp;
	double gbps;
};

/* The fastest first, then as they are numbered. */
static int compare(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;

	if (x->gbps < y->gbps || x->gbps > y->gbps)
		return x->gbps < y->gbps ? 1 : -1;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->qp > y->qp) - (x->qp < y->qp);
}

static void fill(const struct result *result, const struct rank_result *rank, struct bar *bar)
{
	for (uint32_t w = 0; w < rank->workers; w++)
		for (uint32_t qp = 0; worker_has_window(&rank->worker[w]) && qp < rank->worker[w].qp_count; qp++)
			*bar++ = (struct bar){ .worker = w, .qp = qp, .gbps = rank_qp_gbps(result, rank, w, qp) };
}

static void line(const struct page *page, const struct qp_rates *all, const struct bar *bar, bool workers)
{
	const int cells = all->largest > 0 ? (int)lround(CELLS * bar->gbps / all->largest) : 0;
	char name[32], figure[UNITS_TEXT], cell[CELLS + 1], deviation[32] = "";

	for (int i = 0; i < CELLS; i++)
		cell[i] = i < cells ? '#' : ' ';
	cell[CELLS] = '\0';
	if (workers)
		snprintf(name, sizeof(name), "%u.%u", bar->worker, bar->qp);
	else
		snprintf(name, sizeof(name), "%u", bar->qp);
	if (all->mean > 0)
		snprintf(deviation, sizeof(deviation), "  %+.2f %%", qp_deviation(all, bar->gbps));
	page_line(page, TONE_PLAIN, "  QP %-8s %s %10s Gbit/sec%s", name, cell, units_format_figure(bar->gbps, figure),
		  deviation);
}

static void lines(const struct page *page, const struct rank_result *rank, const struct qp_rates *all, struct bar *bars)
{
	const bool all_shown = all->count <= SHOWN;

	if (!all_shown)
		qsort(bars, all->count, sizeof(*bars), compare);
	for (uint64_t i = 0; i < all->count; i++) {
		if (!all_shown && i == SHOWN / 2) {
			const uint64_t left_out = all->count - SHOWN;

			page_line(page, TONE_DIM, "  %llu between these are in the JSON document",
				  (unsigned long long)left_out);
			i += left_out;
		}
		line(page, all, &bars[i], rank->workers > 1);
	}
}

static void histogram(const struct page *page, const struct result *result)
{
	const struct rank_result *rank = result_authority(result);
	const char *way = result->direction == 1 ? ", to server" : result->direction == 2 ? ", to client" : "";
	char mean[UNITS_TEXT];
	struct qp_rates all;
	struct bar *bars;

	if (!rank_qp_rates(result, rank, &all))
		return;
	page_blank(page);
	page_line(page, TONE_HEADING, "  Queue pairs%s: mean %s Gbit/sec of %llu, deviation from it", way,
		  units_format_figure(all.mean, mean), (unsigned long long)all.count);
	bars = calloc(all.count, sizeof(*bars));
	if (!bars) {
		page_line(page, TONE_BAD, "  there is no memory to sort them");
		return;
	}
	fill(result, rank, bars);
	lines(page, rank, &all, bars);
	free(bars);
}

void block_qps(const struct page *page, const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		histogram(page, &way.result);
	}
}
