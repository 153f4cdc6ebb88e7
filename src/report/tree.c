/* JSON values with the rules of the result document, and a printer that keeps rows of numbers on one line. */
#include "report/tree.h"

#include "spec/clean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX  1400
#define PRECISION 12 /* digits: nanoseconds in a run of an hour */

void tree_put(json_t **object, const char *key, json_t *value)
{
	if (!*object)
		json_decref(value);
	else if (json_object_set_new(*object, key, value) == 0)
		return;
	json_decref(*object);
	*object = NULL;
}

void tree_append(json_t **array, json_t *value)
{
	if (!*array)
		json_decref(value);
	else if (json_array_append_new(*array, value) == 0)
		return;
	json_decref(*array);
	*array = NULL;
}

json_t *tree_text(const char *text)
{
	char clean[TEXT_MAX];

	return json_string(text_clean(text, clean, sizeof(clean)));
}

json_t *tree_text_or_null(const char *text)
{
	return text && *text ? tree_text(text) : json_null();
}

json_t *tree_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *tree_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void print_value(FILE *to, const json_t *value, int indent);

static void print_plain(FILE *to, const json_t *value)
{
	json_dumpf(value, to, JSON_ENCODE_ANY | JSON_REAL_PRECISION(PRECISION));
}

static bool is_row(const json_t *value)
{
	for (size_t i = 0; i < json_array_size(value); i++)
		if (json_is_array(json_array_get(value, i)) || json_is_object(json_array_get(value, i)))
			return false;
	return json_is_array(value);
}

static void print_array(FILE *to, const json_t *array, int indent)
{
	const bool row = is_row(array);

	fputc('[', to);
	for (size_t i = 0; i < json_array_size(array); i++) {
		fprintf(to, "%s", i == 0 ? "" : row ? ", " : ",");
		if (!row)
			fprintf(to, "\n%*s", indent + 2, "");
		print_value(to, json_array_get(array, i), indent + 2);
	}
	if (!row)
		fprintf(to, "\n%*s", indent, "");
	fputc(']', to);
}

static void print_object(FILE *to, const json_t *object, int indent)
{
	const char *key, *comma = "";
	json_t *value;

	fputc('{', to);
	json_object_foreach((json_t *)object, key, value)
	{
		fprintf(to, "%s\n%*s\"%s\": ", comma, indent + 2, "", key);
		print_value(to, value, indent + 2);
		comma = ",";
	}
	if (*comma)
		fprintf(to, "\n%*s", indent, "");
	fputc('}', to);
}

static void print_value(FILE *to, const json_t *value, int indent)
{
	if (json_is_object(value))
		print_object(to, value, indent);
	else if (json_is_array(value))
		print_array(to, value, indent);
	else
		print_plain(to, value);
}

char *tree_print(const json_t *root)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	bool failed;

	if (!to)
		return NULL;
	print_value(to, root, 0);
	fputc('\n', to);
	failed = ferror(to) != 0;
	if (fclose(to) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}
