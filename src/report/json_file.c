/* Puts the result document where it was asked for: whole or not at all. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void report_json_default_path(int64_t started_unix_ns, char *ret, size_t size)
{
	const time_t seconds = (time_t)(started_unix_ns / 1000000000);
	const int ms = (int)(started_unix_ns / 1000000 % 1000);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &tm);
	snprintf(ret, size, "./fabperf_results_%s.%03dZ.json", text, ms);
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		const ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return 0;
}

/* What is no plain file (a pipe, /dev/null, /dev/stdout) is written to, never replaced. */
static int write_in_place(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe that nobody reads is refused */
	int rc;

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	rc = write_all(fd, text);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int write_temporary(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, text);
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc)
		unlink(path);
	return rc;
}

static const char *temporary_name(const char *path, char *ret)
{
	snprintf(ret, PATH_MAX + 32, "%s.%ld.tmp", path, (long)getpid());
	return ret;
}

/* Written beside its place and moved there: a reader sees the old document or the new one, never half. */
static int replace_file(const char *path, const char *text)
{
	char temporary[PATH_MAX + 32];
	int rc = write_temporary(temporary_name(path, temporary), text);

	if (rc == 0 && rename(temporary, path) < 0) {
		rc = -errno;
		unlink(temporary);
	}
	return rc;
}

static int write_to_path(const char *path, const char *text)
{
	char *target = realpath(path, NULL); /* through symbolic links; NULL when there is nothing yet */
	struct stat st;
	int rc;

	if (target && stat(target, &st) == 0 && !S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : write_in_place(path, text);
	else
		rc = replace_file(target ? target : path, text);
	free(target);
	return rc;
}

/* The way of write_to_path, with nothing to write: a file that could be made beside its place is taken away again. */
static int check_target(const char *path)
{
	char *target = realpath(path, NULL), temporary[PATH_MAX + 32];
	struct stat st;
	int rc;

	if (target && stat(target, &st) == 0 && !S_ISREG(st.st_mode)) {
		rc = S_ISDIR(st.st_mode) ? -EISDIR : write_in_place(path, "");
	} else {
		rc = write_temporary(temporary_name(target ? target : path, temporary), "");
		if (rc == 0)
			unlink(temporary);
	}
	free(target);
	return rc;
}

int report_json_check(const char *path, struct error *err)
{
	int rc = strlen(path) < PATH_MAX ? check_target(path) : -ENAMETOOLONG;

	return rc ? error_sys(err, rc,
			      "the result could not be written to %s: give -j a file in a directory that you may "
			      "write to",
			      path)
		  : 0;
}

int report_json_write(char *text, const char *path, struct error *err)
{
	int rc;

	if (!text)
		return error_set(err, -ENOMEM, "not enough memory for the result as JSON");
	if (strcmp(path, "-") == 0)
		rc = fputs(text, stdout) < 0 || fflush(stdout) != 0 ? -errno : 0;
	else
		rc = strlen(path) < PATH_MAX ? write_to_path(path, text) : -ENAMETOOLONG;
	free(text);
	if (rc)
		return error_sys(err, rc, "cannot write the result to %s", strcmp(path, "-") ? path : "stdout");
	return 0;
}

int report_json_file(const struct results *results, const char *path, struct error *err)
{
	return report_json_write(report_json(results), path, err);
}
