/* Fits a line to the measured offsets of a clock; its bound follows from theirs, its u95 from their scatter as well. */
#include "orch/clockfit.h"

#include <math.h>
#include <stdlib.h>

#define MAX_DRIFT (CLOCK_DRIFT_PPM / 1e6)

/* Two-sided 95 % of Student's t, by degrees of freedom from 1. */
static const double student[] = { 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23 };

static double student_of(unsigned degrees)
{
	const unsigned known = sizeof(student) / sizeof(student[0]);

	return degrees < known ? student[degrees - 1] : student[known - 1];
}

/* About the means, which are kept apart: squares of instants would lose the nanoseconds. */
struct line {
	int64_t at0, offset0; /* of the first point: all others are seen from there */
	double at, offset; /* means */
	double squares; /* of the instants about their mean */
	double slope, scatter; /* of the points about the line: their standard deviation, -1 with less than three */
};

static double x_of(const struct line *line, const struct clock_offset *point)
{
	return (double)(point->at_ns - line->at0) - line->at;
}

static double y_of(const struct line *line, const struct clock_offset *point)
{
	return (double)(point->offset_ns - line->offset0) - line->offset;
}

static void draw(const struct clockfit *fit, struct line *ret)
{
	double products = 0, rest = 0;

	*ret = (struct line){ .at0 = fit->point[0].at_ns, .offset0 = fit->point[0].offset_ns, .scatter = -1 };
	for (unsigned i = 0; i < fit->points; i++) {
		ret->at += (double)(fit->point[i].at_ns - ret->at0) / fit->points;
		ret->offset += (double)(fit->point[i].offset_ns - ret->offset0) / fit->points;
	}
	for (unsigned i = 0; i < fit->points; i++) {
		ret->squares += x_of(ret, &fit->point[i]) * x_of(ret, &fit->point[i]);
		products += x_of(ret, &fit->point[i]) * y_of(ret, &fit->point[i]);
	}
	if (ret->squares <= 0)
		return;
	ret->slope = products / ret->squares;
	for (unsigned i = 0; i < fit->points; i++) {
		const double off = y_of(ret, &fit->point[i]) - ret->slope * x_of(ret, &fit->point[i]);

		rest += off * off;
	}
	if (fit->points > 2)
		ret->scatter = sqrt(rest / (fit->points - 2));
}

/* The nearest point alone, and as much drift as there can be. */
static void read_point(const struct clockfit *fit, int64_t at_ns, struct clock_reading *ret)
{
	*ret = (struct clock_reading){ .bound_ns = INT64_MAX };
	for (unsigned i = 0; i < fit->points; i++) {
		const struct clock_offset *point = &fit->point[i];
		const int64_t away = llabs(at_ns - point->at_ns);
		const int64_t bound = point->error_ns + away / 1000000 * CLOCK_DRIFT_PPM +
				      away % 1000000 * CLOCK_DRIFT_PPM / 1000000 + 1;

		if (bound < ret->bound_ns)
			*ret = (struct clock_reading){ .offset_ns = point->offset_ns, .bound_ns = bound };
	}
	ret->u95_ns = ret->bound_ns;
}

/*
 * A reading of the line is a sum of the points with weights that do not depend on what was measured: with them their bounds
 * add up to its own, as long as the drift does not change. A difference between the ways there and back that never
 * changes is no more than half of the best round trip of all; the rest scatters.
 */
static void read_line(const struct clockfit *fit, const struct line *line, int64_t at_ns, struct clock_reading *ret)
{
	const double x = (double)(at_ns - line->at0) - line->at;
	double bound = 0, least = INFINITY, chance;

	for (unsigned i = 0; i < fit->points; i++) {
		const double error = (double)fit->point[i].error_ns;

		bound += fabs(1.0 / fit->points + x * x_of(line, &fit->point[i]) / line->squares) * error;
		least = error < least ? error : least;
	}
	ret->offset_ns = line->offset0 + llround(line->offset + line->slope * x);
	ret->bound_ns = llround(ceil(bound)) + 1;
	ret->u95_ns = ret->bound_ns;
	if (line->scatter < 0)
		return;
	chance = student_of(fit->points - 2) * line->scatter * sqrt(1.0 / fit->points + x * x / line->squares);
	if (least + chance + 1 < bound)
		ret->u95_ns = llround(ceil(least + chance)) + 1;
}

void clockfit_add(struct clockfit *fit, const struct clock_offset *point)
{
	fit->point[fit->next] = *point;
	fit->next = (fit->next + 1) % CLOCKFIT_POINTS;
	fit->points += fit->points < CLOCKFIT_POINTS;
}

void clockfit_at(const struct clockfit *fit, int64_t at_ns, struct clock_reading *ret)
{
	struct clock_reading by_line = { .bound_ns = INT64_MAX, .u95_ns = INT64_MAX };
	struct line line;

	read_point(fit, at_ns, ret);
	draw(fit, &line);
	if (line.squares <= 0)
		return;
	if (fabs(line.slope) <= MAX_DRIFT)
		read_line(fit, &line, at_ns, &by_line);
	if (by_line.bound_ns < ret->bound_ns || by_line.u95_ns < ret->u95_ns)
		*ret = by_line;
	ret->drift = fabs(line.slope) <= MAX_DRIFT ? line.slope : 0;
}
