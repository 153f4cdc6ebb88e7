/* Rendered texts beside those in test/golden/report; UPDATE=1 rewrites these, GOLDEN names another folder. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/tree.h"

/* The folder beside this file's; GOLDEN names another. */
static inline void golden_path(const char *name, const char *ending, char ret[PATH_MAX])
{
	const char *folder = getenv("GOLDEN"), *slash = strrchr(__FILE__, '/');

	if (folder)
		snprintf(ret, PATH_MAX, "%s/%s.%s", folder, name, ending);
	else
		snprintf(ret, PATH_MAX, "%.*s/../golden/report/%s.%s", (int)(slash - __FILE__), __FILE__, name, ending);
}

static inline char *read_file(const char *path)
{
	char *text = NULL, chunk[4096];
	size_t size, n;
	FILE *from = fopen(path, "r"), *to = open_memstream(&text, &size);

	while (from && (n = fread(chunk, 1, sizeof(chunk), from)) > 0)
		fwrite(chunk, 1, n, to);
	if (from)
		fclose(from);
	fclose(to);
	return text;
}

static inline void check_golden(const char *name, const char *ending, const char *text)
{
	char path[PATH_MAX];
	char *wanted;
	FILE *to;

	golden_path(name, ending, path);
	if (getenv("UPDATE")) {
		to = fopen(path, "w");
		assert_non_null(to);
		assert_true(fputs(text, to) >= 0);
		assert_int_equal(fclose(to), 0);
	}
	wanted = read_file(path);
	if (strcmp(wanted, text))
		print_error("%s differs; UPDATE=1 rewrites it. This is what was rendered:\n%s", path, text);
	assert_string_equal(wanted, text);
	free(wanted);
}

/* The document, which it takes over, without what changes with every release or option: those have tests of their own. */
static inline char *golden_stable(json_t *root)
{
	json_t *info = json_object_get(root, "versionInfo");
	char *text;

	assert_string_equal(json_string_value(json_object_get(info, "version")), FABPERF_VERSION);
	json_object_set_new(info, "version", json_string("0.0.0"));
	json_object_clear(json_object_get(root, "scenario"));
	text = tree_print(root);
	json_decref(root);
	return text;
}

#endif
