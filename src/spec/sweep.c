/* Turns the lists of a request into its tests, and carries them to the other ranks. */
#include "spec/sweep.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/units.h"
#include "spec/legal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_FIRST 2
#define ALL_LAST  (8ull << 20)

int sweep_alloc(struct sweep *ret, unsigned count, struct error *err)
{
	*ret = (struct sweep){ .spec = calloc(count, sizeof(*ret->spec)), .fresh = calloc(count, sizeof(*ret->fresh)) };
	if (!ret->spec || !ret->fresh) {
		sweep_release(ret);
		return error_set(err, -ENOMEM, "no memory for %u tests", count);
	}
	ret->count = count;
	return 0;
}

void sweep_release(struct sweep *sweep)
{
	free(sweep->spec);
	free(sweep->fresh);
	sweep->spec = NULL;
	sweep->fresh = NULL;
	sweep->count = 0;
}

unsigned sweep_end(const struct sweep *sweep, unsigned first)
{
	unsigned end = first + 1;

	while (end < sweep->count && !sweep->fresh[end])
		end++;
	return end;
}

static struct request without_lists(const struct request *request)
{
	struct request ret = *request;

	memset(ret.size_list, 0, sizeof(ret.size_list));
	memset(ret.qps_list, 0, sizeof(ret.qps_list));
	memset(ret.depth_list, 0, sizeof(ret.depth_list));
	memset(ret.burst_list, 0, sizeof(ret.burst_list));
	return ret;
}

struct request sweep_request(const struct sweep *sweep, const struct request *request, unsigned i)
{
	struct request ret = without_lists(request);

	ret.spec = sweep->spec[i];
	return ret;
}

/* --- from lists to tests --- */

/* The values that one option takes in turn: those of its list, or the one that stands in its field. */
struct axis {
	unsigned count;
	uint64_t value[SWEEP_MAX];
};

static int axis_of(const struct request *request, int row, struct axis *ret, struct error *err)
{
	const char *list = list_of(request, row);
	struct error why = { 0 };

	if (*list) {
		if (list_parse(&option_rows[row], list, ret->value, &ret->count, &why))
			return error_set(err, -EINVAL, "%s: %s", name_of(request, row).text, why.text);
		return 0;
	}
	memcpy(ret->value, (const char *)request + option_rows[row].offset, sizeof(ret->value[0]));
	ret->count = 1;
	return 0;
}

static uint64_t all_limit(const struct spec *spec, const struct request_host *host)
{
	const uint64_t known = host->message_max ? host->message_max(spec) : 0;
	const uint64_t limit = known && known < spec_max_size(spec) ? known : spec_max_size(spec);

	return limit < ALL_LAST ? limit : ALL_LAST;
}

/* --all becomes the list of powers of two; how far they go depends on the transport. */
static int list_all(struct request *request, const struct request_host *host, struct error *err)
{
	struct request one = without_lists(request);
	const int size = ROW(spec.size), all = ROW(all);
	uint64_t last = ALL_FIRST;
	char text[UNITS_TEXT];
	int rc;

	if (!request->all)
		return 0;
	rc = request_resolve(&one, host, err);
	if (rc)
		return rc;
	if (spec_verbs(&one.spec) & ATOMIC_VERBS)
		return error_set(err, -EINVAL, "%s does not go with %s: an atomic operation has 8 bytes",
				 name_of(request, all).text, naming_of(&one, ROW(spec.verb)).text);
	while (last * 2 <= all_limit(&one.spec, host))
		last *= 2;
	snprintf(request->size_list, sizeof(request->size_list), "%d:%s:*2", ALL_FIRST, units_format_size(last, text));
	request->given[size / 64] |= UINT64_C(1) << (size % 64);
	request->given[all / 64] &= ~(UINT64_C(1) << (all % 64)); /* from here on it is that list */
	return 0;
}

/* Tests of one combination of queue pairs, depth and burst, one a size, from number first on. */
static int fill(struct sweep *sweep, unsigned first, const struct request *request, const struct axis *sizes,
		const struct request_host *host, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < sizes->count; i++) {
		struct request one = *request;

		one.spec.size = sizes->value[i];
		rc = request_resolve(&one, host, err);
		sweep->spec[first + i] = one.spec;
		sweep->fresh[first + i] = i == 0;
	}
	return rc;
}

struct axes {
	struct axis qps, depth, burst, size;
};

static int fill_all(struct sweep *sweep, const struct request *request, const struct axes *axes,
		    const struct request_host *host, struct error *err)
{
	struct request one = without_lists(request);
	const unsigned bursts = axes->burst.count, depths = axes->depth.count;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < axes->qps.count * depths * bursts; i++) {
		one.spec.qps = axes->qps.value[i / bursts / depths];
		one.spec.tx_depth = axes->depth.value[i / bursts % depths];
		one.spec.burst_size = axes->burst.value[i % bursts];
		rc = fill(sweep, i * axes->size.count, &one, &axes->size, host, err);
	}
	return rc;
}

/* What a message is made of does not tell one test from the next on the same memory. */
static int check_single(const struct request *request, struct error *err)
{
	const int rows[] = { ROW(spec.size), ROW(spec.qps), ROW(spec.tx_depth), ROW(spec.burst_size) };

	for (size_t i = 0; request->spec.validate && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (*list_of(request, rows[i]))
			return error_set(err, -EINVAL, "%s takes one value of %s, not a list: one test is compared",
					 name_of(request, ROW(spec.validate)).text, name_of(request, rows[i]).text);
	return 0;
}

static int read_axes(struct axes *ret, const struct request *request, struct error *err)
{
	uint64_t product;
	int rc = check_single(request, err);

	if (rc == 0)
		rc = axis_of(request, ROW(spec.qps), &ret->qps, err);
	if (rc == 0)
		rc = axis_of(request, ROW(spec.tx_depth), &ret->depth, err);
	if (rc == 0)
		rc = axis_of(request, ROW(spec.burst_size), &ret->burst, err);
	if (rc == 0)
		rc = axis_of(request, ROW(spec.size), &ret->size, err);
	if (rc)
		return rc;
	product = (uint64_t)ret->qps.count * ret->depth.count * ret->burst.count * ret->size.count;
	if (product > SWEEP_MAX)
		return error_set(err, -E2BIG, "the lists make %llu tests: at most %d", (unsigned long long)product,
				 SWEEP_MAX);
	return 0;
}

int sweep_resolve(struct sweep *ret, struct request *request, const struct request_host *host, struct error *err)
{
	struct axes *axes = calloc(1, sizeof(*axes));
	int rc = axes ? list_all(request, host, err) : error_set(err, -ENOMEM, "no memory for the tests");

	*ret = (struct sweep){ 0 };
	if (rc == 0)
		rc = read_axes(axes, request, err);
	if (rc == 0)
		rc = sweep_alloc(ret, axes->qps.count * axes->depth.count * axes->burst.count * axes->size.count, err);
	if (rc == 0)
		rc = fill_all(ret, request, axes, host, err);
	if (rc == 0)
		request->spec = ret->spec[0];
	else
		sweep_release(ret);
	free(axes);
	return rc;
}

/* --- tests travel --- */

void sweep_pack(const struct sweep *sweep, struct buf *to)
{
	buf_put_u32(to, sweep->count);
	for (unsigned i = 0; i < sweep->count; i++) {
		struct buf text = BUF_INIT;

		spec_pack(&sweep->spec[i], &text);
		buf_put_u8(to, sweep->fresh[i]);
		buf_put_block(to, text.data, text.len);
		buf_release(&text);
	}
}

/* Tests that share endpoints are alike but for what prepare makes anew. */
static bool can_share(const struct spec *a, const struct spec *b)
{
	const int varying[] = { ROW(spec.size), ROW(spec.tx_depth), ROW(spec.rx_depth), ROW(spec.post_batch),
				ROW(spec.cq_mod) };
	struct request left = { .spec = *a }, right = { .spec = *b };

	for (int row = 0; row < (int)option_count; row++) {
		char text[OPTION_VALUE_MAX], other[OPTION_VALUE_MAX];
		bool varies = false;

		for (size_t i = 0; i < sizeof(varying) / sizeof(varying[0]); i++)
			varies = varies || varying[i] == row;
		if (!(option_rows[row].flags & OPTION_WIRE) || varies)
			continue;
		option_get(&left, row, text, sizeof(text));
		option_get(&right, row, other, sizeof(other));
		if (strcmp(text, other) != 0)
			return false;
	}
	return true;
}

static int unpack_one(struct sweep *sweep, unsigned i, struct cursor *from, struct error *err)
{
	struct cursor block;
	int rc;

	sweep->fresh[i] = cursor_u8(from) != 0 || i == 0;
	cursor_block(from, &block);
	rc = spec_unpack(&sweep->spec[i], &block, err);
	if (rc == 0 && from->failed)
		rc = error_set(err, -EPROTO, "the tests are cut off");
	if (rc == 0 && !sweep->fresh[i] && !can_share(&sweep->spec[i - 1], &sweep->spec[i]))
		rc = error_set(err, -EPROTO, "test %u cannot go on with the queue pairs of the test before", i + 1);
	return rc;
}

int sweep_unpack(struct sweep *ret, struct cursor *from, struct error *err)
{
	const uint32_t count = cursor_u32(from);
	int rc;

	*ret = (struct sweep){ 0 };
	if (from->failed || count == 0 || count > SWEEP_MAX)
		return error_set(err, -EPROTO, "a run has 1 to %d tests, not %u", SWEEP_MAX, count);
	rc = sweep_alloc(ret, count, err);
	for (unsigned i = 0; rc == 0 && i < count; i++)
		rc = unpack_one(ret, i, from, err);
	if (rc)
		sweep_release(ret);
	return rc;
}
