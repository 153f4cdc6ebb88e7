/* A test in its wire form: one line per option that differs from its default, read back by the same setter. */
#include "spec/spec.h"

#include "base/buf.h"
#include "base/error.h"
#include "spec/option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN (OPTION_VALUE_MAX + 40) /* "key=value" and its NUL */

static bool travels(int row)
{
	return option_rows[row].flags & OPTION_WIRE;
}

void spec_pack(const struct spec *spec, struct buf *to)
{
	struct request request;
	char value[OPTION_VALUE_MAX];

	memset(&request, 0, sizeof(request));
	request.spec = *spec;
	for (int row = 0; row < (int)option_count; row++) {
		if (!travels(row) || option_is_default(&request, row))
			continue;
		option_get(&request, row, value, sizeof(value));
		buf_put(to, option_rows[row].key, strlen(option_rows[row].key));
		buf_put(to, "=", 1);
		buf_put(to, value, strlen(value));
		buf_put(to, "\n", 1);
	}
}

/* The next line without its newline; -EPROTO when it is too long, not ended or not text. */
static int next_line(struct cursor *from, char *ret, struct error *err)
{
	size_t len = 0;

	for (;;) {
		const uint8_t c = cursor_u8(from);

		if (from->failed)
			return error_set(err, -EPROTO, "the test's description ends in the middle of a line");
		if (c == '\n')
			break;
		if (c < ' ' || c == 127)
			return error_set(err, -EPROTO, "the test's description has a byte that is not text: 0x%02x", c);
		if (len == LINE_MAX_LEN - 1)
			return error_set(err, -EPROTO, "the test's description has a line of more than %d bytes",
					 LINE_MAX_LEN - 1);
		ret[len++] = (char)c;
	}
	ret[len] = '\0';
	return 0;
}

static int read_line(struct request *request, char *line, struct error *err)
{
	char *const equals = strchr(line, '=');
	int row;

	if (!equals)
		return error_set(err, -EPROTO, "the test's description has a line without '=': '%.60s'", line);
	*equals = '\0';
	row = option_find(line);
	if (row < 0)
		return error_set(err, -EPROTO, "the test's description has an unknown option: '%.60s'", line);
	if (!travels(row))
		return error_set(err, -EPROTO, "the test's description has an option that is not the test's: '%s'",
				 line);
	if (option_given(request, row))
		return error_set(err, -EPROTO, "the test's description has '%s' twice", line);
	return option_set(request, row, line, equals + 1, err);
}

int spec_unpack(struct spec *ret, struct cursor *from, struct error *err)
{
	struct request request;
	char line[LINE_MAX_LEN];

	request_init(&request);
	while (from->left) {
		int rc = next_line(from, line, err);

		if (rc == 0)
			rc = read_line(&request, line, err);
		if (rc)
			return rc;
	}
	if (from->failed)
		return error_set(err, -EPROTO, "the test's description is cut off");
	if (*request.size_list || *request.qps_list || *request.depth_list || *request.burst_list)
		return error_set(err, -EPROTO,
				 "the test's description has a list: a test has one value of each option");
	*ret = request.spec;
	return 0;
}
