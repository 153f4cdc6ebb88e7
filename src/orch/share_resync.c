/* Keeps bursts on rank 0's clock: in gaps of the traffic this rank asks for it again, and its workers' slots move with what it hears. */
#include "base/pages.h"
#include "engine/burst.h"
#include "orch/share.h"
#include "spec/arrivals.h"

#include <stdlib.h>

#define EVERY_NS      250000000LL /* drift of some us */
#define EVERY_RANK_NS 1000000LL /* rank 0 answers one after another */
#define FAR_NS        4000000000LL /* from a burst, points tell of another drift */
#define BAD           3 /* times the best bound: another ping-pong was luckier */

static bool follows(const struct group *group)
{
	return spec_bursts(&group->spec) && group->spec.burst_profile != BURST_STORAGE;
}

/* The slots that all tests' gaps are thought to be those of; NULL: no burst has a common instant. */
static const struct spec *slots_of(const struct share *share)
{
	for (uint32_t i = 0; i < share->groups; i++)
		if (follows(&share->group[i]))
			return &share->group[i].spec;
	return NULL;
}

/* What is known of this rank's clock in rank 0's time, seen from here: rank 0's clock minus ours in ours. */
static struct clock_offset from_here(struct clock_offset point)
{
	point.at_ns += point.offset_ns;
	point.offset_ns = -point.offset_ns;
	return point;
}

static void add(struct resync *r, const struct clock_offset *point)
{
	clockfit_add(&r->fit, point);
	r->track[r->points++ % RESYNC_TRACK] = *point;
}

static const struct clock_offset *latest(const struct clockfit *fit)
{
	return &fit->point[(fit->next + CLOCKFIT_POINTS - 1) % CLOCKFIT_POINTS];
}

/* The first instant from ns on that is in a gap, at another place for each rank: behind the middle, where all is quiet. */
static int64_t in_gap(struct many *many, int64_t ns)
{
	const int64_t shift = flow_shift(&many->share.control, ns);
	struct burst_grid *slots = &many->resync.slots;

	for (burst_grid_skip(slots, ns - shift);; burst_grid_next(slots)) {
		const int64_t gap = (int64_t)(slots->step >> 64) - slots->length_ns;
		const int64_t begin = burst_due(slots) + shift + slots->length_ns;
		const int64_t at = begin + gap / 2 + gap / 64 * (many->comm->rank % 16);

		if (at >= ns)
			return at;
	}
}

void resync_begin(struct many *many, int64_t start_ns)
{
	const unsigned rank = many->comm->rank;
	const struct clockfit *known = &many->clocks.fit[rank];
	const struct spec *spec = slots_of(&many->share);
	struct resync *r = &many->resync;

	flow_shift_set(&many->share.control, start_ns, 0, 0);
	r->on = spec && rank && !many->volley;
	r->next_ns = INT64_MAX;
	if (!r->on)
		return;
	pages_touch(r->track, sizeof(r->track));
	r->fit = (struct clockfit){ 0 };
	r->points = 0;
	for (unsigned i = known->points; i; i--) {
		const struct clock_offset point =
			from_here(known->point[(known->next + CLOCKFIT_POINTS - i) % CLOCKFIT_POINTS]);

		add(r, &point);
	}
	r->shared = many->clocks.shared[rank];
	r->offset_ns = start_ns - clocks_root(&many->clocks, rank, start_ns);
	burst_grid_init(&r->slots, spec, 0, start_ns);
	r->every_ns = EVERY_RANK_NS * many->comm->size;
	r->every_ns = r->every_ns < EVERY_NS ? EVERY_NS : r->every_ns;
	r->next_ns = in_gap(many, start_ns);
}

/* A point that is much worse than what there is would only add to the scatter. */
static bool is_worth(const struct resync *r, const struct clock_offset *found)
{
	int64_t best = INT64_MAX;

	for (unsigned i = 0; i < r->fit.points; i++)
		best = r->fit.point[i].error_ns < best ? r->fit.point[i].error_ns : best;
	return found->error_ns / BAD <= best || found->at_ns - latest(&r->fit)->at_ns > FAR_NS / 2;
}

int resync_step(struct many *many, struct error *err)
{
	struct resync *r = &many->resync;
	struct clock_reading reading;
	struct clock_offset found;
	int rc;

	if (!r->on || clock_now(many->conf->clock) < r->next_ns)
		return 0;
	rc = clocksync_measure(many->comm, 0, CLOCKS_GAP_ROUNDS, &found, many_deadline(many), err);
	if (rc < 0)
		return rc;
	if (!clock_settle(&many->clocks, &r->shared, &found)) {
		r->fit = (struct clockfit){ 0 };
		r->points = 0;
	}
	r->next_ns = in_gap(many, found.at_ns + r->every_ns);
	if (!is_worth(r, &found))
		return 0;
	add(r, &found);
	clockfit_at(&r->fit, found.at_ns, &reading);
	flow_shift_set(&many->share.control, found.at_ns, -reading.offset_ns - r->offset_ns, -reading.drift);
	return 0;
}

static uint64_t track_begin(const struct resync *r)
{
	return r->points > RESYNC_TRACK ? r->points - RESYNC_TRACK : 0;
}

/* The points nearest to an instant, as many before as behind: at is the first one behind. */
static void read_track(const struct resync *r, uint64_t at, int64_t ns, struct clock_reading *ret)
{
	const uint64_t first = track_begin(r);
	const uint64_t begin = at > first + CLOCKFIT_POINTS / 2 ? at - CLOCKFIT_POINTS / 2 : first;
	struct clockfit fit = { 0 };

	for (uint64_t i = begin; i < r->points && fit.points < CLOCKFIT_POINTS; i++) {
		const struct clock_offset *point = &r->track[i % RESYNC_TRACK];

		if (i + 1 == at || i == at || llabs(point->at_ns - ns) < FAR_NS)
			clockfit_add(&fit, point);
	}
	clockfit_at(&fit, ns, ret);
}

/* Instants that only go on; at: where the one before lies. */
static void read_on(const struct resync *r, uint64_t *at, int64_t ns, struct clock_reading *ret)
{
	while (*at < r->points && r->track[*at % RESYNC_TRACK].at_ns < ns)
		++*at;
	read_track(r, *at, ns, ret);
}

static void look_back_arrivals(const struct resync *r, struct burst_arrivals *arrivals)
{
	uint64_t at = track_begin(r);

	arrivals->followed = true;
	for (uint64_t i = arrivals_first_kept(arrivals); i < arrivals->kept; i++) {
		struct burst_arrival *record = &arrivals->record[i % BURST_KEPT];
		struct clock_reading reading;

		read_on(r, &at, record->first_ns, &reading);
		record->offset_ns = -reading.offset_ns;
	}
}

static void look_back(const struct resync *r, struct burst_stats *stats)
{
	uint64_t at = track_begin(r);

	stats->followed = true;
	for (uint64_t i = burst_first_kept(stats); i < stats->kept; i++) {
		struct burst_record *record = &stats->record[i % BURST_KEPT];
		struct clock_reading reading;

		read_on(r, &at, record->rung_ns, &reading);
		record->offset_ns = -reading.offset_ns;
		if (reading.bound_ns > stats->clock_error_ns)
			stats->clock_error_ns = reading.bound_ns;
		if (reading.u95_ns > stats->clock_u95_ns)
			stats->clock_u95_ns = reading.u95_ns;
	}
}

void resync_end(struct many *many)
{
	struct share *share = &many->share;
	struct resync *r = &many->resync;
	struct clock_offset after;

	if (!r->on)
		return;
	r->on = false;
	after = from_here(*latest(&many->clocks.fit[many->comm->rank]));
	add(r, &after);
	for (uint32_t i = 0; i < share->groups; i++)
		for (uint32_t j = 0; follows(&share->group[i]) && j < share->group[i].workers; j++) {
			struct worker_result *worker = &share->group[i].result.worker[j];

			if (worker->bursts)
				look_back(r, worker->bursts);
			if (worker->arrivals)
				look_back_arrivals(r, worker->arrivals);
		}
}
