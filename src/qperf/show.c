/* The rows of a result: which there are, in qperf's order, and how they are laid out. */
#include "qperf/show.h"

#include "qperf/number.h"

#include <string.h>

#define ROWS_MAX 96

struct row {
	char name[32];
	char value[QPERF_NUMBER], note[QPERF_NUMBER];
	const char *unit; /* NULL: a text, which is not aligned */
};

struct table {
	const struct qperf_outcome *o;
	struct qperf_format format;
	unsigned rows;
	struct row row[ROWS_MAX];
};

static struct row *add(struct table *t, const char *side, const char *name)
{
	struct row *row = &t->row[t->rows < ROWS_MAX - 1 ? t->rows++ : t->rows];

	memset(row, 0, sizeof(*row));
	snprintf(row->name, sizeof(row->name), "%s%s", side, name);
	return row;
}

static void add_number(struct table *t, const char *side, const char *name, double value, enum qperf_unit unit)
{
	struct row *row = add(t, side, name);

	qperf_number_format(value, unit, &t->format, row->value, &row->unit, row->note);
}

/* Rows beside the main one are left out where there is nothing to say. */
static void add_positive(struct table *t, const char *side, const char *name, double value, enum qperf_unit unit)
{
	if (value > 0)
		add_number(t, side, name, value, unit);
}

static int level(const struct table *t, enum qperf_group group)
{
	return t->o->line->view.verbose[group];
}

static void add_main(struct table *t, const struct qperf_figures *f)
{
	switch (t->o->test->figure) {
	case SHOW_LATENCY:
		add_number(t, "", "latency", qperf_latency(t->o, f), UNIT_TIME);
		break;
	case SHOW_RATE:
		add_number(t, "", "msg_rate", f->rate, UNIT_RATE);
		break;
	case SHOW_BW:
		add_number(t, "", "bw", f->recv_bw, UNIT_BANDWIDTH);
		break;
	case SHOW_BOTH_BW:
		add_number(t, "", "send_bw", f->send_bw, UNIT_BANDWIDTH);
		add_number(t, "", "recv_bw", f->recv_bw, UNIT_BANDWIDTH);
		break;
	case SHOW_NOTHING:
		break;
	}
	if (level(t, GROUP_STAT) > 0 && t->o->test->figure != SHOW_RATE)
		add_positive(t, "", "msg_rate", f->rate, UNIT_RATE);
}

/* --- parameters --- */

static void add_param(struct table *t, const char *side, int id, const struct qperf_params *params)
{
	const struct qperf_param *param = &qperf_params[id];
	const uint32_t number = qperf_number(params, (enum qperf_param_id)id);
	struct row *row;

	switch (param->type) {
	case TYPE_TEXT:
		row = ((const char *)params)[param->offset] ? add(t, side, param->name) : NULL;
		if (row)
			snprintf(row->value, sizeof(row->value), "%s", (const char *)params + param->offset);
		break;
	case TYPE_SIZE:
		add_positive(t, side, param->name, number, UNIT_SIZE);
		break;
	case TYPE_TIME:
		add_positive(t, side, param->name, id == PARAM_TIME ? (double)params->time_ns / 1e9 : number,
			     UNIT_TIME);
		break;
	case TYPE_CPU:
		if (number)
			add_number(t, side, param->name, number - 1, UNIT_NONE);
		break;
	default:
		add_positive(t, side, param->name, number, UNIT_NONE);
	}
}

static bool same(int id, const struct qperf_params *a, const struct qperf_params *b)
{
	const struct qperf_param *param = &qperf_params[id];
	const size_t size = param->type == TYPE_TEXT ? QPERF_TEXT : sizeof(uint32_t);

	return !memcmp((const char *)a + param->offset, (const char *)b + param->offset, size);
}

static void add_params(struct table *t)
{
	const struct qperf_outcome *o = t->o;
	const uint32_t given = o->line->given_loc | o->line->given_rem;
	const uint32_t uses = qperf_test_uses(o->test, o->loc);

	for (int id = 0; level(t, GROUP_USED) > 0 && id < PARAMS; id++) {
		if (id == PARAM_STATIC_RATE || !(uses & PARAM_BIT(id)) ||
		    (level(t, GROUP_USED) < 2 && !(given & PARAM_BIT(id))))
			continue;
		if (same(id, o->loc, o->rem)) {
			add_param(t, "", id, o->loc);
			continue;
		}
		add_param(t, "loc_", id, o->loc);
		add_param(t, "rem_", id, o->rem);
	}
}

/* --- nodes --- */

static double cpus(const struct qperf_stat *stat, const int *clocks, unsigned count)
{
	const double real = qperf_seconds(stat, CLOCK_REAL);
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += qperf_seconds(stat, clocks[i]);
	return real > 0 ? sum / real : 0;
}

static void add_times(struct table *t, const char *side, const struct qperf_stat *stat)
{
	static const int user[] = { CLOCK_USER, CLOCK_NICE }, intr[] = { CLOCK_IRQ, CLOCK_SOFTIRQ },
			 kernel[] = { CLOCK_SYSTEM, CLOCK_STEAL }, iowait[] = { CLOCK_IOWAIT };
	const double all = cpus(stat, user, 2) + cpus(stat, intr, 2) + cpus(stat, kernel, 2) + cpus(stat, iowait, 1);
	const double real = qperf_seconds(stat, CLOCK_REAL);

	if (level(t, GROUP_TIME) > 0)
		add_positive(t, side, "cpus_used", all, UNIT_CPUS);
	if (level(t, GROUP_TIME) < 2)
		return;
	add_positive(t, side, "cpus_user", cpus(stat, user, 2), UNIT_CPUS);
	add_positive(t, side, "cpus_intr", cpus(stat, intr, 2), UNIT_CPUS);
	add_positive(t, side, "cpus_kernel", cpus(stat, kernel, 2), UNIT_CPUS);
	add_positive(t, side, "cpus_iowait", cpus(stat, iowait, 1), UNIT_CPUS);
	add_positive(t, side, "real_time", real, UNIT_TIME);
	add_positive(t, side, "cpu_time", all * real, UNIT_TIME);
}

static void add_count(struct table *t, const char *side, const char *prefix, const struct qperf_count *count)
{
	char name[24];

	snprintf(name, sizeof(name), "%sbytes", prefix);
	add_positive(t, side, name, (double)count->bytes, UNIT_SIZE);
	snprintf(name, sizeof(name), "%smsgs", prefix);
	add_positive(t, side, name, (double)count->msgs, UNIT_NONE);
}

/* One end sends, the other receives: each has one count. */
static void add_one_way(struct table *t, const char *side, const struct qperf_stat *stat,
			const struct qperf_count *count)
{
	add_times(t, side, stat);
	if (level(t, GROUP_STAT) < 2)
		return;
	add_positive(t, side, "errors", (double)count->errs, UNIT_NONE);
	add_count(t, side, "", count);
	add_positive(t, side, "max_cqe", stat->max_cqes, UNIT_NONE);
}

static void add_both_ways(struct table *t, const char *side, const struct qperf_stat *stat)
{
	add_times(t, side, stat);
	if (level(t, GROUP_STAT) < 2)
		return;
	add_positive(t, side, "send_errors", (double)stat->send.errs, UNIT_NONE);
	add_positive(t, side, "recv_errors", (double)stat->recv.errs, UNIT_NONE);
	add_positive(t, side, "send_bytes", (double)stat->send.bytes, UNIT_SIZE);
	add_positive(t, side, "recv_bytes", (double)stat->recv.bytes, UNIT_SIZE);
	add_positive(t, side, "send_msgs", (double)stat->send.msgs, UNIT_NONE);
	add_positive(t, side, "recv_msgs", (double)stat->recv.msgs, UNIT_NONE);
	add_positive(t, side, "max_cqe", stat->max_cqes, UNIT_NONE);
}

static bool only_sends(const struct qperf_stat *a, const struct qperf_stat *b)
{
	return a->send.bytes && !a->recv.bytes && !b->send.bytes && b->recv.bytes;
}

static void add_nodes(struct table *t)
{
	const struct qperf_stat *loc = &t->o->here, *rem = &t->o->there;

	if (!t->o->line->view.unify_nodes && only_sends(loc, rem)) {
		add_one_way(t, "send_", loc, &loc->send);
		add_one_way(t, "recv_", rem, &rem->recv);
	} else if (!t->o->line->view.unify_nodes && only_sends(rem, loc)) {
		add_one_way(t, "send_", rem, &rem->send);
		add_one_way(t, "recv_", loc, &loc->recv);
	} else {
		add_both_ways(t, "loc_", loc);
		add_both_ways(t, "rem_", rem);
	}
}

/* --- what qperf does not know: its own rows, laid out by themselves --- */

static void add_losses(struct table *t)
{
	const struct qperf_stat *stat[] = { &t->o->here, &t->o->there };

	for (int i = 0; i < 2; i++) {
		if (stat[i]->lost != UINT64_MAX)
			add_positive(t, "", "lost_msgs", (double)stat[i]->lost, UNIT_NONE);
		if (stat[i]->duplicated != UINT64_MAX)
			add_positive(t, "", "duplicated_msgs", (double)stat[i]->duplicated, UNIT_NONE);
	}
}

static void add_percentiles(struct table *t)
{
	static const struct {
		const char *name;
		double p;
	} wanted[] = { { "latency_p50", 50 }, { "latency_p99", 99 }, { "latency_p99.9", 99.9 } };
	const struct hist *hist = t->o->hist;
	const double unit = t->o->whole ? 1e9 : 2e9;

	if (!hist || !hist->count || level(t, GROUP_STAT) < 1)
		return;
	add_number(t, "", "latency_min", (double)hist->min / unit, UNIT_TIME);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		add_number(t, "", wanted[i].name, (double)hist_percentile(hist, wanted[i].p) / unit, UNIT_TIME);
	add_number(t, "", "latency_max", (double)hist->max / unit, UNIT_TIME);
}

/* --- layout --- */

static void print(FILE *to, const struct table *t)
{
	int name_width = 0, value_width = 0;

	for (unsigned i = 0; i < t->rows; i++) {
		const int name = (int)strlen(t->row[i].name), value = (int)strlen(t->row[i].value);

		name_width = name > name_width ? name : name_width;
		value_width = t->row[i].unit && value > value_width ? value : value_width;
	}
	for (unsigned i = 0; i < t->rows; i++) {
		const struct row *row = &t->row[i];

		fprintf(to, "    %-*s  =  ", name_width, row->name);
		if (row->unit)
			fprintf(to, "%*s %s", value_width, row->value, row->unit);
		else
			fputs(row->value, to);
		if (row->note[0])
			fprintf(to, " (%s)", row->note);
		fputc('\n', to);
	}
}

double qperf_latency(const struct qperf_outcome *o, const struct qperf_figures *figures)
{
	const uint64_t lost = o->here.lost == UINT64_MAX ? 0 : o->here.lost;

	if (!lost || !o->hist || !o->hist->count)
		return figures->latency;
	return hist_mean(o->hist) / (o->whole ? 1e9 : 2e9);
}

void qperf_show(FILE *to, const struct qperf_outcome *outcome)
{
	const struct qperf_view *view = &outcome->line->view;
	struct table t = { .o = outcome,
			   .format = { .precision = view->precision, .unify = view->unify_units, .bits = view->bits } };
	struct qperf_figures figures;

	qperf_figure(&outcome->here, &outcome->there, &figures);
	add_main(&t, &figures);
	add_params(&t);
	if (level(&t, GROUP_TIME) > 0) {
		add_positive(&t, "", "send_cost", figures.send_cost, UNIT_COST);
		add_positive(&t, "", "recv_cost", figures.recv_cost, UNIT_COST);
	}
	add_nodes(&t);
	print(to, &t);
	t.rows = 0;
	add_losses(&t);
	add_percentiles(&t);
	print(to, &t);
}

void qperf_show_conf(FILE *to, const struct qperf_line *line, const struct qperf_conf *loc,
		     const struct qperf_conf *rem)
{
	const struct qperf_conf *conf[] = { loc, rem };
	const struct qperf_outcome none = { .line = line };
	struct table t = { .o = &none };

	for (int i = 0; i < 2; i++) {
		const char *side = i ? "rem_" : "loc_";

		snprintf(add(&t, side, "node")->value, QPERF_NUMBER, "%s", conf[i]->node);
		snprintf(add(&t, side, "cpu")->value, QPERF_NUMBER, "%s", conf[i]->cpu);
		snprintf(add(&t, side, "os")->value, QPERF_NUMBER, "%s", conf[i]->os);
		snprintf(add(&t, side, "qperf")->value, QPERF_NUMBER, "%s", conf[i]->version);
	}
	print(to, &t);
}
