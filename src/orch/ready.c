/* The line by which a started server tells on its stdout that it listens, and where: written, read and waited for. */
#include "base/units.h"
#include "base/wait.h"
#include "orch/comm.h"
#include "orch/launch.h"
#include "orch/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_WORD  "fabperf-ready"
#define NOISE_LIMIT 65536 /* bytes of other output (a login script's) that may come before the line */

/* Address at which ssh reached this host: the third word of "client_ip client_port server_ip server_port". */
static void ssh_address(char *ret, size_t size)
{
	const char *text = getenv("SSH_CONNECTION");
	unsigned char raw[sizeof(struct in6_addr)];
	size_t len;

	snprintf(ret, size, "-");
	for (unsigned i = 0; text && i < 2; i++) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	len = text ? strcspn(text, " ") : 0;
	if (!len || len >= size)
		return;
	snprintf(ret, size, "%.*s", (int)len, text);
	/* Link-local ones carry the other side's scope, which means nothing here. */
	if (inet_pton(AF_INET, ret, raw) != 1 && inet_pton(AF_INET6, ret, raw) != 1)
		snprintf(ret, size, "-");
}

char *launch_ready_line(unsigned port, char *ret, size_t size)
{
	char address[64];

	ssh_address(address, sizeof(address));
	snprintf(ret, size, "%s %u %s %u %s", READY_WORD, COMM_PROTOCOL, FABPERF_VERSION, port, address);
	return ret;
}

/* Copies the next blank-separated word; false when there is none or it is too long. */
static bool next_word(const char **text, char *ret, size_t size)
{
	const size_t len = strcspn(*text, " \r\n");

	if (!len || len >= size)
		return false;
	memcpy(ret, *text, len);
	ret[len] = '\0';
	*text += len + strspn(*text + len, " ");
	return true;
}

static bool number(const char **text, uint64_t max, unsigned *ret)
{
	char word[16];
	uint64_t value;

	if (!next_word(text, word, sizeof(word)) || units_parse_int(word, &value, NULL) || value > max)
		return false;
	*ret = (unsigned)value;
	return true;
}

int ready_parse(const char *line, struct ready *ret, struct error *err)
{
	const size_t len = strlen(READY_WORD);
	struct ready ready;
	const char *text;

	if (strncmp(line, READY_WORD " ", len + 1))
		return -EAGAIN;
	text = line + len + 1;
	/* Another protocol may say more after the version: only that it is another matters then. */
	if (!number(&text, UINT32_MAX, &ready.protocol) || !next_word(&text, ready.version, sizeof(ready.version)))
		return error_set(err, -EPROTO, "the started server wrote a malformed ready line: '%.100s'", line);
	if (ready.protocol == COMM_PROTOCOL &&
	    (!number(&text, 65535, &ready.port) || !ready.port ||
	     !next_word(&text, ready.address, sizeof(ready.address)) || strspn(text, "\r\n") != strlen(text)))
		return error_set(err, -EPROTO, "the started server wrote a malformed ready line: '%.100s'", line);
	*ret = ready;
	return 0;
}

/* One byte of stdout, in time. 1, 0 at the end of the file, or a negative errno. Few come, once: no need to buffer. */
static int read_byte(struct launch *launch, const struct patience *until, char *ret)
{
	const int rc = wait_fd(launch->out, POLLIN, until);

	return rc ? rc : read(launch->out, ret, 1) == 1;
}

int ready_wait(struct launch *launch, const struct patience *until, struct ready *ret, struct error *err)
{
	char line[LAUNCH_READY_LINE];
	size_t len = 0;
	int rc;

	for (unsigned total = 0; total < NOISE_LIMIT; total++) {
		char c = 0;

		rc = read_byte(launch, until, &c);
		if (rc <= 0)
			return rc ? rc : -ECHILD;
		if (c != '\n') {
			if (len < sizeof(line) - 1 && c)
				line[len++] = c;
			continue;
		}
		line[len] = '\0';
		rc = ready_parse(line, ret, err);
		if (rc != -EAGAIN)
			return rc;
		len = 0;
	}
	return error_set(err, -EPROTO, "what was started on host '%s' writes other things than a ready line",
			 launch->host);
}
