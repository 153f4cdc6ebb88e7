/* Turns JSON's strings, numbers, lists and the few objects that stand for one value into texts. */
#include "plan/json_text.h"

#include "base/error.h"
#include "base/near.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int too_long(const struct document *document, const struct place *place, struct error *err)
{
	return place_error(document, place, false, err, "the value is too long: at most %d bytes", JSON_TEXT_MAX - 1);
}

#define LEAST_PLAIN 1e-9 /* what 18 digits behind the point say well enough */
#define MOST_PLAIN  1e18

/* A number with an exponent, written without one, as options have it: our own documents write small ones so. */
static size_t plain(double value, char *ret, size_t size)
{
	size_t len = (size_t)snprintf(ret, size, "%.18f", value);

	while (ret[len - 1] == '0')
		len--;
	return len - (ret[len - 1] == '.');
}

/* A number keeps the form in which it was written, but for an exponent. */
static int scalar(const struct document *document, const struct place *place, const json_t *value, char *ret,
		  size_t size, struct error *err)
{
	const char *text = place_text(document, place, false);
	size_t len = strcspn(text, " \t\r\n,]}");
	char decimal[48];

	if (json_is_null(value))
		return place_error(document, place, false, err, "null is no value: leave the key out");
	if (json_is_string(value)) {
		text = json_string_value(value);
		len = strlen(text);
		if (!len)
			return place_error(document, place, false, err, "an empty text is no value: leave the key out");
	}
	if (json_is_real(value) && strcspn(text, "eE") < len && json_real_value(value) >= LEAST_PLAIN &&
	    json_real_value(value) < MOST_PLAIN) {
		len = plain(json_real_value(value), decimal, sizeof(decimal));
		text = decimal;
	}
	if (len >= size)
		return too_long(document, place, err);
	memcpy(ret, text, len);
	ret[len] = '\0';
	return 0;
}

/* The members that an object may have, in the order in which its text has them. */
struct form {
	const char *key[4]; /* NULL-terminated when fewer */
	char joint;
	const char *what;
};
static const struct form operation = { { "verb", "msgSize" }, ':', "an operation has verb and msgSize" };
static const struct form hints = { { "filePath", "fileSize", "vendorId", "formatId" },
				   ',',
				   "the hints have filePath, fileSize, vendorId and formatId" };

static unsigned form_size(const struct form *form)
{
	unsigned size = 0;

	while (size < 4 && form->key[size])
		size++;
	return size;
}

static int find_member(const struct form *form, const char *key)
{
	for (unsigned i = 0; i < form_size(form); i++)
		if (near_same(form->key[i], key))
			return (int)i;
	return -1;
}

/* An object of exactly the form's members. */
static int object_text(const struct document *document, const struct place *place, const json_t *object,
		       const struct form *form, char *ret, size_t size, struct error *err)
{
	char part[4][JSON_TEXT_MAX / 4] = { "" };
	struct place inner = { .up = place };
	size_t len = 0;
	json_t *value;

	json_object_foreach((json_t *)object, inner.key, value)
	{
		const int at = find_member(form, inner.key);

		if (at < 0)
			return place_error(document, &inner, true, err, "unknown key: %s", form->what);
		if (json_is_object(value) || json_is_array(value))
			return place_error(document, &inner, false, err, "this is no single value: %s", form->what);
		if (scalar(document, &inner, value, part[at], sizeof(part[at]), err))
			return -EINVAL;
		inner.nth++;
	}
	for (unsigned i = 0; i < form_size(form); i++) {
		if (!*part[i])
			return place_error(document, place, false, err, "%s is missing: %s", form->key[i], form->what);
		len += (size_t)snprintf(ret + len, size - len, "%.*s%s", i ? 1 : 0, &form->joint, part[i]);
		if (len >= size)
			return too_long(document, place, err);
	}
	return 0;
}

static int array_text(const struct document *document, const struct place *place, const json_t *array, char *ret,
		      struct error *err)
{
	struct place inner = { .up = place };
	size_t len = 0, index;
	json_t *value;

	if (!json_array_size(array))
		return place_error(document, place, false, err, "an empty list is no value: leave the key out");
	json_array_foreach(array, index, value)
	{
		char item[JSON_TEXT_MAX];
		int rc;

		inner.nth = (unsigned)index;
		if (json_is_array(value))
			return place_error(document, &inner, false, err, "a list has no lists in it");
		rc = json_is_object(value) ? object_text(document, &inner, value, &operation, item, sizeof(item), err)
					   : scalar(document, &inner, value, item, sizeof(item), err);
		if (rc)
			return rc;
		len += (size_t)snprintf(ret + len, JSON_TEXT_MAX - len, "%s%s", index ? "," : "", item);
		if (len >= JSON_TEXT_MAX)
			return too_long(document, place, err);
	}
	return 0;
}

int json_text(const struct document *document, const struct place *place, const json_t *value, char ret[JSON_TEXT_MAX],
	      struct error *err)
{
	if (json_is_array(value))
		return array_text(document, place, value, ret, err);
	if (!json_is_object(value))
		return scalar(document, place, value, ret, JSON_TEXT_MAX, err);
	if (!place->key || !near_same(place->key, "ccGroupHints"))
		return place_error(document, place, false, err, "this takes a single value, not an object");
	return object_text(document, place, value, &hints, ret, JSON_TEXT_MAX, err);
}
