/* Estimates a buffer from each size of burst that lost some messages, and takes the median of the estimates. */
#include "model/knee.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_LOST 0.005 /* shares of what was sent that say something of the buffer */
#define MOST_LOST  0.6
#define MOST       32768 /* messages */
#define ENOUGH     6 /* estimates, of which the middle 95 % lie within */
#define CLOSE      0.04 /* of the median */

int knee_add(struct knee *knee, const struct knee_point *point, struct error *err)
{
	if (knee->points == knee->cap) {
		const uint32_t cap = 2 * knee->cap + 16;
		struct knee_point *more = realloc(knee->point, cap * sizeof(*more));

		if (!more)
			return error_set(err, -ENOMEM, "no memory for %u sizes of bursts", cap);
		knee->point = more;
		knee->cap = cap;
	}
	knee->point[knee->points] = *point;
	knee->point[knee->points++].limit = (double)NAN;
	return 0;
}

void knee_release(struct knee *knee)
{
	for (uint32_t i = 0; i < knee->points; i++)
		free(knee->point[i].arrival);
	free(knee->point);
	*knee = (struct knee){ 0 };
}

static int by_size(const void *a, const void *b)
{
	const struct knee_point *const x = a, *const y = b;

	return (x->messages > y->messages) - (x->messages < y->messages);
}

static double link_of(const struct knee *knee)
{
	return knee->sender > 0 ? knee->sender : knee->drain / knee->workers;
}

/* Its bursts in frames; slow: none is shorter than its link allows. */
static int follow(const struct knee *knee, const struct knee_point *point, bool slow, struct infer *ret,
		  struct error *err)
{
	struct arrival *arrival = calloc(point->count + 1, sizeof(*arrival));
	int rc;

	if (!arrival)
		return error_set(err, -ENOMEM, "no memory for %u bursts", point->count);
	for (uint32_t i = 0; i < point->count; i++) {
		arrival[i] = point->arrival[i];
		if (slow)
			arrival[i].end = fmax(arrival[i].end, arrival[i].start + arrival[i].bytes / link_of(knee));
	}
	rc = infer_init(ret, arrival, point->count, knee->drain, err);
	free(arrival);
	return rc;
}

bool knee_tells(uint64_t lost, uint64_t sent)
{
	return (double)lost > LEAST_LOST * (double)sent;
}

static bool says_something(const struct knee_point *point)
{
	return point->count && !point->calm && knee_tells(point->lost, point->sent) &&
	       (double)point->lost < MOST_LOST * (double)point->sent;
}

/* Each point's limit, and their median; *ret_spread: how far they disagree, in parts of it. */
static int estimate(struct knee *knee, bool slow, double *ret_spread, struct error *err)
{
	double *value = calloc(knee->points + 1, sizeof(*value));
	int rc = value ? 0 : error_set(err, -ENOMEM, "no memory for %u estimates", knee->points);

	knee->slow = slow;
	knee->estimates = 0;
	for (uint32_t i = 0; rc == 0 && i < knee->points; i++) {
		struct knee_point *const point = &knee->point[i];
		struct infer infer = { 0 };

		point->limit = (double)NAN;
		if (!says_something(point))
			continue;
		rc = follow(knee, point, slow, &infer, err);
		if (rc)
			break;
		point->limit = value[knee->estimates++] = infer_limit(&infer, (double)point->lost * knee->frame);
		infer_release(&infer);
	}
	if (rc == 0) {
		const uint32_t n = knee->estimates;

		infer_median(value, n, &knee->limit);
		*ret_spread = n ? (value[(3 * n - 1) / 4] - value[n / 4]) / knee->limit.median : 0;
	}
	free(value);
	return rc;
}

static void find_bracket(struct knee *knee)
{
	knee->clean = knee->lossy = 0;
	for (uint32_t i = 0; i < knee->points && !knee->lossy; i++) {
		if (knee->point[i].lost)
			knee->lossy = knee->point[i].messages;
	}
	for (uint32_t i = 0; i < knee->points; i++) {
		const uint64_t messages = knee->point[i].messages;

		if (!knee->point[i].lost && messages > knee->clean && (!knee->lossy || messages < knee->lossy))
			knee->clean = messages;
	}
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* s of a burst, for each message of a connection: the median of all. */
static double pace(const struct knee *knee)
{
	uint64_t all = 0, n = 0;
	double *value, ret;

	for (uint32_t i = 0; i < knee->points; i++)
		all += knee->point[i].count;
	value = calloc(all + 1, sizeof(*value));
	for (uint32_t i = 0; value && i < knee->points; i++) {
		const struct knee_point *const point = &knee->point[i];

		for (uint32_t k = 0; k < point->count; k++) {
			const struct arrival *const one = &point->arrival[k];
			const double least = knee->slow ? one->bytes / link_of(knee) : 0;

			value[n++] = fmax(one->end - one->start, least) / (double)point->messages;
		}
	}
	if (value)
		qsort(value, n, sizeof(*value), by_value);
	ret = n ? value[n / 2] : 0;
	free(value);
	return ret;
}

/* N S - C S t = L, solved for S. */
static double messages_of(const struct knee *knee, double limit, double seconds)
{
	const double grows = knee->connections * knee->frame - knee->drain * seconds;

	return grows > 0 ? limit / grows : (double)INFINITY;
}

static int predict_points(struct knee *knee, struct error *err)
{
	for (uint32_t i = 0; i < knee->points; i++) {
		struct knee_point *const point = &knee->point[i];
		struct infer infer = { 0 };

		point->predicted = (double)NAN;
		if (!point->count || !knee->estimates)
			continue;
		if (follow(knee, point, knee->slow, &infer, err))
			return -ENOMEM;
		point->predicted = infer_loss(&infer, knee->limit.median) / infer.bytes;
		infer_release(&infer);
	}
	return 0;
}

/* Sockets complete before the link has sent: whichever way of counting makes all sizes tell of the same buffer is right. */
static int estimate_well(struct knee *knee, struct error *err)
{
	double quick, slow;
	int rc;

	if (knee->told || knee->sender > 0)
		return estimate(knee, !knee->told || knee->slow, &slow, err);
	rc = estimate(knee, true, &slow, err);
	if (rc == 0)
		rc = estimate(knee, false, &quick, err);
	return rc == 0 && knee->estimates > 2 && slow < quick ? estimate(knee, true, &slow, err) : rc;
}

int knee_end(struct knee *knee, struct error *err)
{
	double seconds;
	int rc;

	knee->rounds++;
	if (knee->points)
		qsort(knee->point, knee->points, sizeof(*knee->point), by_size);
	find_bracket(knee);
	rc = estimate_well(knee, err);
	if (rc < 0)
		return rc;
	seconds = pace(knee);
	knee->messages = (struct infer_range){ .median = messages_of(knee, knee->limit.median, seconds),
					       .low = messages_of(knee, knee->limit.low, seconds),
					       .high = messages_of(knee, knee->limit.high, seconds) };
	return predict_points(knee, err);
}

static void insert(uint64_t list[KNEE_SIZES], unsigned *count, double size, uint64_t most)
{
	const uint64_t value = size < 1 ? 1 : size > (double)most ? most : (uint64_t)llround(size);
	unsigned at = 0;

	while (at < *count && list[at] < value)
		at++;
	if (*count == KNEE_SIZES || (at < *count && list[at] == value))
		return;
	for (unsigned i = (*count)++; i > at; i--)
		list[i] = list[i - 1];
	list[at] = value;
}

unsigned knee_beside(struct knee *knee, const struct knee *alone, uint64_t most, uint64_t ret[KNEE_SIZES])
{
	static const double parts[] = { 0.5, 0.6, 0.7, 0.8, 0.9, 0.96, 1, 1.04, 1.1, 1.2, 1.3, 1.5, 1.8 };
	const double at = isfinite(alone->messages.median) ? alone->messages.median : (double)alone->lossy;
	unsigned count = 0;

	knee->rounds = 1;
	knee->told = true;
	knee->slow = alone->slow;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		insert(ret, &count, at * parts[i], most < MOST ? most : MOST);
	return count;
}

/* Neither the estimates nor the bracket leave anything to look for. */
static bool is_close(const struct knee *knee)
{
	return knee->estimates >= ENOUGH && knee->limit.high - knee->limit.low < CLOSE * knee->limit.median &&
	       knee->clean && (double)(knee->lossy - knee->clean) < fmax(CLOSE * (double)knee->lossy, 1.5);
}

unsigned knee_next(const struct knee *knee, uint64_t most, uint64_t ret[KNEE_SIZES])
{
	static const double near[] = { 0.96, 0.98, 1, 1.02, 1.04, 1.1, 1.25, 1.5 };
	const double low = (double)knee->clean, high = (double)knee->lossy;
	const int parts = isfinite(knee->messages.median) ? 4 : 8;
	unsigned count = 0;

	if (knee->rounds >= KNEE_ROUNDS || !knee->lossy || is_close(knee))
		return 0;
	most = most < MOST ? most : MOST;
	for (int i = 1; high - low > 1 && i < parts; i++)
		insert(ret, &count, low + (high - low) * i / parts, most);
	for (unsigned i = 0; isfinite(knee->messages.median) && i < sizeof(near) / sizeof(near[0]); i++)
		insert(ret, &count, knee->messages.median * near[i], most);
	return count;
}
