/* Puts results where they were asked for: whole files, written beside their places, or none. */
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

/* What a file is to hold: written piece by piece. */
struct content {
	report_writer *write;
	void *of;
};

/* The descriptor is closed in every case. */
static int write_all(int fd, const struct content *content, bool keep)
{
	FILE *to = fdopen(fd, "w");
	int rc = to ? 0 : -errno;

	if (!to) {
		close(fd);
		return rc;
	}
	if (content)
		content->write(to, content->of);
	if (fflush(to) != 0 || ferror(to) || (keep && fsync(fd) < 0))
		rc = errno ? -errno : -EIO;
	if (fclose(to) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* What is no plain file (a pipe, /dev/null, /dev/stdout) is written to, never replaced. */
static int write_in_place(const char *path, const struct content *content)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe that nobody reads is refused */

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return write_all(fd, content, false);
}

static int write_temporary(const char *path, const struct content *content)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, content, true);
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
static int replace_file(const char *path, const struct content *content)
{
	char temporary[PATH_MAX + 32];
	int rc = write_temporary(temporary_name(path, temporary), content);

	if (rc == 0 && rename(temporary, path) < 0) {
		rc = -errno;
		unlink(temporary);
	}
	return rc;
}

static int write_to_path(const char *path, const struct content *content)
{
	char *target = realpath(path, NULL); /* through symbolic links; NULL when there is nothing yet */
	struct stat st;
	int rc;

	if (target && stat(target, &st) == 0 && !S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : write_in_place(path, content);
	else
		rc = replace_file(target ? target : path, content);
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
		rc = S_ISDIR(st.st_mode) ? -EISDIR : write_in_place(path, NULL);
	} else {
		rc = write_temporary(temporary_name(target ? target : path, temporary), NULL);
		if (rc == 0)
			unlink(temporary);
	}
	free(target);
	return rc;
}

int report_file_check(const char *path, const char *option, struct error *err)
{
	int rc;

	if (!path[0] || strcmp(path, "-") == 0)
		return 0;
	rc = strlen(path) < PATH_MAX ? check_target(path) : -ENAMETOOLONG;
	return rc ? error_sys(err, rc,
			      "the result could not be written to %s: give %s a file in a directory that you may "
			      "write to",
			      path, option)
		  : 0;
}

int report_file(const char *path, report_writer *write, void *of, struct error *err)
{
	const struct content content = { write, of };
	int rc;

	if (strcmp(path, "-") == 0) {
		write(stdout, of);
		rc = fflush(stdout) != 0 || ferror(stdout) ? -errno : 0;
	} else {
		rc = strlen(path) < PATH_MAX ? write_to_path(path, &content) : -ENAMETOOLONG;
	}
	if (rc)
		return error_sys(err, rc, "cannot write the result to %s", strcmp(path, "-") ? path : "stdout");
	return 0;
}

static void put_text(FILE *to, void *text)
{
	fputs(text, to);
}

int report_json_write(char *text, const char *path, struct error *err)
{
	int rc;

	if (!text)
		return error_set(err, -ENOMEM, "not enough memory for the result as JSON");
	rc = report_file(path, put_text, text, err);
	free(text);
	return rc;
}

int report_json_file(const struct results *results, const char *path, struct error *err)
{
	return report_json_write(report_json(results), path, err);
}
