/* A prediction for people: what bursts do to the port that most send to, with the simulations beside it. */
#include "report/predict.h"

#include "base/units.h"
#include "report/page.h"
#include "spec/spec.h"

#include <math.h>

#define MB   1e6
#define GBIT (1e9 / 8)
#define USEC 1e-6

/* A figure; nothing where it is not known, words where it has no bound. */
static void figure(const struct page *page, const char *label, double value, double scale, const char *unit,
		   const char *remark)
{
	char text[UNITS_TEXT];

	if (isfinite(value))
		page_text(page, label, units_format_figure(value / scale, text), unit, remark);
	else if (!isnan(value))
		page_text(page, label, "-", unit, remark);
}

static void heading(const struct page *page, const struct plan_prediction *prediction)
{
	const struct predict_case *const of = &prediction->is.of;
	char rate[UNITS_TEXT], skew[UNITS_TEXT];

	page_line(page, TONE_HEADING, "Prediction: %s, %u sender%s into a port, at %u port%s at a time",
		  burst_name(prediction->profile), of->senders, of->senders == 1 ? "" : "s", of->ports,
		  of->ports == 1 ? "" : "s");
	page_condition(page, "Port", "%s Gbit/s of payload (%s)", units_format_figure(of->link / GBIT, rate),
		       prediction->headers ? "--link_rate without headers of --mtu"
					   : "--link_rate; headers are not known without --mtu");
	if (of->sender < of->link || of->sender > of->link)
		page_condition(page, "Senders' ports", "%s Gbit/s", units_format_figure(of->sender / GBIT, rate));
	if (of->free_phases)
		page_condition(page, "Starts", "each connection in a rhythm of its own; at worst all at once");
	else
		page_condition(page, "Starts", "%s us from the first to the last",
			       units_format_figure(of->skew / USEC, skew));
}

static void growth(const struct page *page, const struct prediction *is)
{
	const bool limited = isfinite(is->burst.limit);
	char text[UNITS_TEXT], remark[2 * UNITS_TEXT + 64];

	figure(page, "Burst", is->length, USEC, "usec",
	       is->of.sent > 1 && !is->of.free_phases ? "of a connection, which shares its port" : NULL);
	figure(page, "Cycle", is->of.cycle, USEC, "usec", is->overload ? "brings more than drains in it" : NULL);
	figure(page, "All senders at once", is->overlap, USEC, "usec", NULL);
	figure(page, "Net fill rate", is->fill_rate, GBIT, "Gbit/sec", NULL);
	snprintf(remark, sizeof(remark), "of %s MB that the queue may hold",
		 units_format_figure(limited ? is->burst.limit / MB : 0, text));
	figure(page, "Time to fill", is->fill, USEC, "usec", limited ? NULL : "no --buffer or --buffer_limit");
	figure(page, isnan(is->usual) ? "Peak" : "Peak at worst", is->peak, MB, "MB", limited ? remark : NULL);
	figure(page, "Peak of chance", is->usual, MB, "MB", "simulated");
}

static void loss(const struct page *page, const struct prediction *is)
{
	const double offered = is->burst.senders * is->burst.bytes;
	char share[UNITS_TEXT], all[UNITS_TEXT], remark[2 * UNITS_TEXT + 64];

	snprintf(remark, sizeof(remark), "%s %% of %s MB%s", units_format_figure(100 * is->share, share),
		 units_format_figure(offered / MB, all), is->overload ? ", each burst in the long run" : "");
	figure(page, "Lost", is->drop, MB, "MB", remark);
	if (is->hit > is->share)
		figure(page, "Messages hit", 100 * is->hit, 1, "%", "at most: not whole when the queue is full");
	figure(page, "Loss begins at", is->knee, 1, "messages", isinf(is->knee) ? "never" : "of a connection's burst");
	figure(page, "Drain", is->drain, USEC, "usec", NULL);
	figure(page, "Sender's average", is->sender_average, GBIT, "Gbit/sec", "what a graph of seconds shows");
	figure(page, "Receiver's average", is->receiver_average, GBIT, "Gbit/sec", NULL);
	if (isfinite(is->in_flight))
		figure(page, "In flight at most", is->in_flight, MB, "MB",
		       is->in_flight > is->burst.limit ? "unacknowledged messages; more than the queue may hold"
						       : "unacknowledged messages; no loss below the queue's limit");
}

static void reaction(const struct page *page, const struct prediction *is)
{
	figure(page, "Marking begins", is->mark, USEC, "usec", isinf(is->mark) ? "never" : NULL);
	figure(page, "Sent before a CNP", is->uncontrolled, MB, "MB", "of all senders, 5 us behind the mark");
	figure(page, "PFC headroom", is->headroom, 1024, "KiB", "a port and priority, beyond its threshold");
}

static void row(const struct page *page, const char *name, const struct sim_outcome *out, uint64_t work)
{
	const double offered = out->offered > 0 ? out->offered : 1;
	char cell[6][UNITS_TEXT];

	units_format_figure(out->peak / MB, cell[0]);
	units_format_figure(out->dropped / MB, cell[1]);
	units_format_figure(100 * out->dropped / offered, cell[2]);
	units_format_figure(100 * out->marked / offered, cell[3]);
	units_format_figure(out->paused / USEC, cell[4]);
	snprintf(cell[5], sizeof(cell[5]), "-");
	if (out->first_drop >= 0)
		units_format_figure(out->first_drop / USEC, cell[5]);
	page_line(page, TONE_PLAIN, "  %-7s %10s %10s %10s %10s %10s %14s %10llu", name, cell[0], cell[1], cell[2],
		  cell[3], cell[4], cell[5], (unsigned long long)work);
}

static void simulations(const struct page *page, const struct prediction *is, const struct simulation *simulation)
{
	page_blank(page);
	page_line(page, TONE_HEADING, "Simulation of %llu burst%s a sender", (unsigned long long)simulation->bursts,
		  simulation->bursts == 1 ? "" : "s");
	page_line(page, TONE_PLAIN, "  %-7s %10s %10s %10s %10s %10s %14s %10s", "", "peak MB", "lost MB", "lost %",
		  "marked %", "paused us", "first loss us", "steps");
	row(page, "fluid", &simulation->fluid, simulation->events);
	if (simulation->packets)
		row(page, "packets", &simulation->packet, simulation->packets);
	else
		page_line(page, TONE_DIM, "  packets too many to follow one by one");
	if (simulation->fluid.peak > is->in_flight)
		page_line(page, TONE_DIM, "  Here senders don't wait for acknowledgements, as those of the test do.");
}

void report_predict(FILE *to, const struct plan_prediction *prediction)
{
	struct page page;

	if (!prediction->there)
		return;
	page_init(&page, to);
	heading(&page, prediction);
	growth(&page, &prediction->is);
	loss(&page, &prediction->is);
	reaction(&page, &prediction->is);
	if (prediction->is.unfollowed)
		page_line(&page, TONE_DIM,
			  "A simulation would be too long here: peak and loss are closed forms', which the truth may "
			  "exceed.");
	else if (!prediction->is.exact && !prediction->is.of.free_phases)
		page_line(&page, TONE_DIM,
			  "Gaps open between the starts: peak and loss are simulated, the knee is a closed form's.");
	if (prediction->simulated)
		simulations(&page, &prediction->is, &prediction->simulation);
}
