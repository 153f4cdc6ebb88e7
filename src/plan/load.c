/* Reads scenario and size files whole, bounded, and parses JSON strictly. */
#include "plan/load.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT (256u << 20) /* bytes: a matrix of 4,096 ranks takes 11 digits a pair */

static int read_all(int fd, const char *path, char *text, size_t size, struct error *err)
{
	size_t len = 0;

	while (len < size) {
		const ssize_t more = read(fd, text + len, size - len);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return error_sys(err, -errno, "cannot read %.200s", path);
		if (more == 0)
			break;
		len += (size_t)more;
	}
	text[len] = '\0';
	if (strlen(text) != len)
		return error_set(err, -EINVAL, "%.200s is no text: it has a NUL at byte %zu", path, strlen(text));
	return 0;
}

static int read_open(int fd, const char *path, char **ret, struct error *err)
{
	struct stat about;
	char *text;
	int rc;

	if (fstat(fd, &about) < 0)
		return error_sys(err, -errno, "cannot read %.200s", path);
	if (!S_ISREG(about.st_mode))
		return error_set(err, -EINVAL, "%.200s is no file", path);
	if (about.st_size > LIMIT)
		return error_set(err, -EFBIG, "%.200s has more than %u MiB", path, LIMIT >> 20);
	text = malloc((size_t)about.st_size + 1);
	if (!text)
		return error_set(err, -ENOMEM, "no memory for %.200s", path);
	rc = read_all(fd, path, text, (size_t)about.st_size, err);
	if (rc)
		free(text);
	else
		*ret = text;
	return rc;
}

int load_file(const char *path, char **ret, struct error *err)
{
	const char *home = getenv("HOME");
	char whole[4096];
	int fd, rc;

	if (!strncmp(path, "~/", 2) && home)
		rc = snprintf(whole, sizeof(whole), "%s%s", home, path + 1);
	else
		rc = snprintf(whole, sizeof(whole), "%s", path);
	if (rc >= (int)sizeof(whole))
		return error_set(err, -ENAMETOOLONG, "the path %.80s... is too long", path);
	fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_sys(err, -errno, "cannot open %.200s", path);
	rc = read_open(fd, path, ret, err);
	close(fd);
	return rc;
}

/* What people expect of JSON and it does not have. */
static const char *hint(const char *text, const json_error_t *trouble)
{
	const char *const at = trouble->position > 0 ? text + trouble->position - 1 : text;

	if (*at == '/' || *at == '#')
		return " (JSON has no comments: write \"comment\": \"...\")";
	if (*at == '\'')
		return " (JSON has double quotes)";
	if (*at == '}' || *at == ']')
		return " (is there a comma behind the last entry?)";
	return "";
}

int load_json(const char *name, const char *text, json_t **ret, struct error *err)
{
	json_error_t trouble;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &trouble);

	if (!root)
		return error_set(err, -EINVAL, "%.150s:%d:%d: $: this is no JSON: %.150s%s", name, trouble.line,
				 trouble.column, trouble.text, hint(text, &trouble));
	if (!json_is_object(root)) {
		json_decref(root);
		return error_set(err, -EINVAL, "%.150s:1:1: $: a scenario is a JSON object: {...}", name);
	}
	*ret = root;
	return 0;
}
