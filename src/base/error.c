/* Fills in the one sentence that says why something failed. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An error is one line wherever it is printed, whatever a file name or a peer's text held. */
static void one_line(char *text)
{
	for (; *text; text++)
		if (*text == '\n' || *text == '\r')
			*text = ' ';
}

static void set(struct error *err, int code, const char *format, va_list args)
{
	vsnprintf(err->text, sizeof(err->text), format, args);
	one_line(err->text);
	err->code = code;
}

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err || err->code)
		return code;
	va_start(args, format);
	set(err, code, format, args);
	va_end(args);
	return code;
}

int error_sys(struct error *err, int code, const char *format, ...)
{
	char reason[128];
	va_list args;
	size_t len;

	if (!err || err->code)
		return code;
	va_start(args, format);
	set(err, code, format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror_r(-code, reason, sizeof(reason)));
	return code;
}

void error_prefix(struct error *err, const char *format, ...)
{
	char text[2 * sizeof(err->text) + 2];
	va_list args;
	size_t len;

	if (!err || !err->code)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(err->text), format, args);
	va_end(args);
	one_line(text);
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, ": %s", err->text);
	text[sizeof(err->text) - 1] = '\0';
	strcpy(err->text, text);
}

void error_clear(struct error *err)
{
	if (!err)
		return;
	err->code = 0;
	err->text[0] = '\0';
}
