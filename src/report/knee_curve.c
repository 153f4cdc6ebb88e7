/* The curve of a knee as a picture: what was lost over the size of bursts, what the buffer found would lose, and where loss begins. */
#include "base/units.h"
#include "report/knee.h"

#include <math.h>

#define LEFT   70.0 /* of the diagram in the picture, pixels */
#define TOP    60.0
#define WIDTH  780.0
#define HEIGHT 360.0

struct curve {
	FILE *to;
	double first, last; /* sizes at the left and the right end; between them it goes by powers */
};

/* One queue's share of the picture. */
struct hand {
	const char *colour, *name;
	int line; /* of the legend */
};

static double x_of(const struct curve *curve, double messages)
{
	const double inside = fmin(fmax(messages, curve->first), curve->last);

	return LEFT + WIDTH * log(inside / curve->first) / log(curve->last / curve->first);
}

static double y_of(double share)
{
	return TOP + HEIGHT * (1 - fmin(fmax(share, 0), 1));
}

static void begin(const struct curve *curve, const struct knee *knee)
{
	fprintf(curve->to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
		"font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"%.0f\" y=\"24\" font-size=\"17\">Loss of bursts of %.0f connections into one port</text>\n",
		LEFT + WIDTH + 30, TOP + HEIGHT + 60, LEFT, knee->connections);
}

static void axes(const struct curve *curve)
{
	const double bottom = TOP + HEIGHT;

	for (int percent = 0; percent <= 100; percent += 20)
		fprintf(curve->to,
			"<path d=\"M%.0f %.1fh%.0f\" stroke=\"#ddd\"/><text x=\"%.0f\" y=\"%.1f\" "
			"text-anchor=\"end\">%d %%</text>\n",
			LEFT, y_of(percent / 100.0), WIDTH, LEFT - 8, y_of(percent / 100.0) + 4, percent);
	for (int power = (int)ceil(log2(curve->first)); exp2(power) <= curve->last; power++)
		fprintf(curve->to,
			"<path d=\"M%.1f %.0fv6\" stroke=\"#444\"/><text x=\"%.1f\" y=\"%.0f\" "
			"text-anchor=\"middle\">%.0f</text>\n",
			x_of(curve, exp2(power)), bottom, x_of(curve, exp2(power)), bottom + 20, exp2(power));
	fprintf(curve->to,
		"<path d=\"M%.0f %.0fh%.0f\" stroke=\"#444\"/><text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">"
		"messages of a connection's burst</text>\n",
		LEFT, bottom, WIDTH, LEFT + WIDTH / 2, bottom + 42);
}

/* What the buffer found would have lost of the bursts as they were sent, and dots: what was lost. */
static void losses(const struct curve *curve, const struct knee *knee, const struct hand *hand)
{
	const char *step = "M";

	fputs("<path d=\"", curve->to);
	for (uint32_t i = 0; i < knee->points; i++) {
		const struct knee_point *const point = &knee->point[i];

		if (!isfinite(point->predicted))
			continue;
		fprintf(curve->to, "%s%.1f %.1f", step, x_of(curve, (double)point->messages), y_of(point->predicted));
		step = "L";
	}
	fprintf(curve->to, "\" fill=\"none\" stroke=\"%s\"/>\n", hand->colour);
	for (uint32_t i = 0; i < knee->points; i++) {
		const struct knee_point *const point = &knee->point[i];

		if (point->sent)
			fprintf(curve->to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
				x_of(curve, (double)point->messages), y_of((double)point->lost / (double)point->sent),
				hand->colour);
	}
}

/* The line and the band in which it lies in 95 of 100 cases. */
static void begins(const struct curve *curve, const struct knee *knee, const struct hand *hand)
{
	const struct infer_range *const at = &knee->messages;
	const double low = x_of(curve, at->low), high = x_of(curve, at->high);

	if (!isfinite(at->median))
		return;
	if (isfinite(at->low) && isfinite(at->high))
		fprintf(curve->to,
			"<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\" opacity=\".2\"/>\n",
			low, TOP, fmax(high - low, 1), HEIGHT, hand->colour);
	fprintf(curve->to, "<path d=\"M%.1f %.0fv%.0f\" stroke=\"%s\" stroke-dasharray=\"5 4\"/>\n",
		x_of(curve, at->median), TOP, HEIGHT, hand->colour);
}

static void legend(const struct curve *curve, const struct knee *knee, const struct hand *hand)
{
	char at[UNITS_TEXT], kilobytes[UNITS_TEXT];

	fprintf(curve->to, "<text x=\"%.0f\" y=\"%.0f\" fill=\"%s\">%s: ", LEFT + 12, TOP + 20 + 20 * hand->line,
		hand->colour, hand->name);
	if (knee->estimates)
		fprintf(curve->to, "loss begins at %s messages, buffer of %s kB",
			isfinite(knee->messages.median) ? units_format_figure(knee->messages.median, at) : "-",
			units_format_figure(knee->limit.median / 1e3, kilobytes));
	else
		fputs(knee->lossy ? "no size tells the buffer" : "nothing was lost", curve->to);
	fputs("</text>\n", curve->to);
}

static void queue(const struct curve *curve, const struct knee *knee, const struct hand *hand)
{
	begins(curve, knee, hand);
	losses(curve, knee, hand);
	legend(curve, knee, hand);
}

/* The sizes of a search, which are in order. */
static void cover(struct curve *curve, const struct knee *knee)
{
	if (!knee->points)
		return;
	curve->first = fmin(curve->first, (double)knee->point[0].messages);
	curve->last = fmax(curve->last, (double)knee->point[knee->points - 1].messages);
}

void report_knee_curve(FILE *to, void *of)
{
	const struct hand alone = { "#1565c0", "one queue", 0 }, beside = { "#c62828", "beside a second one", 1 };
	const struct knees *const knees = of;
	struct curve curve = { .to = to, .first = (double)INFINITY };

	cover(&curve, &knees->one);
	cover(&curve, &knees->two);
	curve.last = fmax(curve.last, 2 * curve.first); /* one size has no width */
	begin(&curve, &knees->one);
	axes(&curve);
	queue(&curve, &knees->one, &alone);
	if (knees->two.points)
		queue(&curve, &knees->two, &beside);
	fputs("</svg>\n", to);
}
