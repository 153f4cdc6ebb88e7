/* Progress on a terminal: a spinner while preparing, a bar while traffic runs, live lines that scroll past both. */
#include "report/report.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR_CELLS  40
#define CLEAR_LINE "\r\033[K"

enum shown { SHOWN_NOTHING, SHOWN_PREPARING, SHOWN_TRAFFIC }; /* values of last_phase */

static bool is_terminal(FILE *to)
{
	const char *term = getenv("TERM");
	const int fd = fileno(to);

	return fd >= 0 && isatty(fd) && !(term && strcmp(term, "dumb") == 0);
}

void progress_init(struct progress_view *view, FILE *to, bool interactive)
{
	*view = (struct progress_view){ .to = to, .enabled = interactive && is_terminal(to), .live = true };
}

void progress_test(struct progress_view *view, unsigned number, unsigned of)
{
	view->test = number;
	view->tests = of;
}

static void begin(struct progress_view *view, enum shown shown)
{
	fputs(CLEAR_LINE, view->to);
	if (view->tests > 1)
		fprintf(view->to, "Test %u of %u. ", view->test, view->tests);
	view->last_phase = (int)shown;
	view->line_open = true;
}

void progress_preparing(struct progress_view *view, const char *what, double seconds)
{
	static const char spinner[] = "|/-\\";

	if (!view->enabled)
		return;
	begin(view, SHOWN_PREPARING);
	fprintf(view->to, "%s %c (%.0fs)", what, spinner[view->spin++ % 4], floor(seconds));
	view->spin %= 4;
	fflush(view->to);
}

/* "=====>    ": the head of the arrow is the cell that is being filled. */
static void bar(double fraction, char ret[BAR_CELLS + 1])
{
	const int full = (int)(fraction * BAR_CELLS);

	memset(ret, ' ', BAR_CELLS);
	memset(ret, '=', (size_t)full);
	if (full < BAR_CELLS)
		ret[full] = '>';
	ret[BAR_CELLS] = '\0';
}

void progress_traffic(struct progress_view *view, double elapsed, double total)
{
	double fraction = total > 0 ? elapsed / total : 0;
	char cells[BAR_CELLS + 1];

	if (!view->enabled)
		return;
	if (total <= 0) { /* by iterations: nobody knows how long */
		progress_preparing(view, "Running traffic", elapsed);
		return;
	}
	fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
	bar(fraction, cells);
	begin(view, SHOWN_TRAFFIC);
	if (fraction < 1)
		fprintf(view->to, "Running traffic [%s] %d%% (%.0f/%.0fs, ~%.0fs remaining)", cells,
			(int)(100 * fraction), floor(elapsed), ceil(total), ceil(total - elapsed));
	else
		fprintf(view->to, "Running traffic [%s] 100%% (%.0f seconds)", cells, total);
	fflush(view->to);
}

static void clear(struct progress_view *view)
{
	if (!view->line_open)
		return;
	fputs(CLEAR_LINE, view->to);
	fflush(view->to);
	view->line_open = false;
}

void progress_live(struct progress_view *view, FILE *out, const struct live_line *line)
{
	char rate[UNITS_TEXT], messages[UNITS_TEXT], forth[UNITS_TEXT], back[UNITS_TEXT];

	if (!view->live)
		return;
	clear(view);
	fprintf(out, "[%5.1fs]  %s Gb/s  %s Mpps", line->at, units_format_figure(line->gbps, rate),
		units_format_figure(line->mpps, messages));
	if (line->both)
		fprintf(out, "  (to server %s, to client %s Gb/s)", units_format_figure(line->to_server, forth),
			units_format_figure(line->to_client, back));
	fputc('\n', out);
	fflush(out);
}

void progress_end(struct progress_view *view)
{
	if (view->enabled)
		clear(view);
	view->last_phase = SHOWN_NOTHING;
}
