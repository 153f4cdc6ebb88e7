/* Fuzz target: option values and whole tests as text: what a setter takes must be written and read back the same. */
#include "base/buf.h"
#include "base/error.h"
#include "spec/option.h"
#include "spec/spec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(int row, const char *value)
{
	char text[OPTION_VALUE_MAX], again[OPTION_VALUE_MAX];
	struct request request, back;
	struct error err = { 0 };

	request_init(&request);
	request_init(&back);
	if (option_set(&request, row, "--option", value, &err) < 0) {
		if (!err.code || !err.text[0] || strchr(err.text, '\n'))
			abort();
		return;
	}
	option_get(&request, row, text, sizeof(text));
	if (option_rows[row].type == OPTION_FLAG)
		return;
	if (option_set(&back, row, "--option", text, &err) < 0)
		abort();
	option_get(&back, row, again, sizeof(again));
	if (strcmp(text, again) != 0)
		abort();
}

static void check_test(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	struct cursor from;
	struct spec spec;

	cursor_init(&from, data, size);
	if (spec_unpack(&spec, &from, &err) < 0)
		return;
	spec_check(&spec, &err);
}

/* First byte: the option's row, or, from the last row on, a whole test in its wire form. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char value[512];

	if (size < 1 || size > sizeof(value))
		return 0;
	if (data[0] >= option_count) {
		check_test(data + 1, size - 1);
		return 0;
	}
	memcpy(value, data + 1, size - 1);
	value[size - 1] = 0;
	check_value(data[0], value);
	return 0;
}
