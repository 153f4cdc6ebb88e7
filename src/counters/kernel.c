/* Counters of the kernel's protocols, over all sockets of this host: TCP, UDP and IP. */
#include "counters/counters.h"

#include "base/units.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LINE 8192

static bool is_wanted(const char *protocol)
{
	static const char *const wanted[] = { "Tcp", "Udp", "TcpExt", "IpExt" };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strcmp(protocol, wanted[i]))
			return true;
	return false;
}

/* Settings and levels stand among the counters. */
static bool is_counter(const char *name)
{
	return strncmp(name, "Rto", 3) != 0 && strcmp(name, "MaxConn") != 0 && strcmp(name, "CurrEstab") != 0;
}

/* Two lines: "Udp: InDatagrams NoPorts ..." and "Udp: 17 0 ...". */
static void read_pair(char *names, char *values, struct reading *ret)
{
	char source[COUNTER_SOURCE], *at[2], *name = strtok_r(names, ": \n", &at[0]),
					     *value = strtok_r(values, ": \n", &at[1]);

	if (!name || !value || strcmp(name, value) != 0 || !is_wanted(name))
		return;
	snprintf(source, sizeof(source), "kernel %s", name);
	for (;;) {
		uint64_t number;

		name = strtok_r(NULL, " \n", &at[0]);
		value = strtok_r(NULL, " \n", &at[1]);
		if (!name || !value)
			return;
		if (is_counter(name) && units_parse_int(value, &number, NULL) == 0)
			reading_add(ret, source, name, number);
	}
}

static void read_file(const char *path, struct reading *ret)
{
	char names[LINE], values[LINE];
	FILE *file = fopen(path, "re");

	while (file && fgets(names, sizeof(names), file) && fgets(values, sizeof(values), file))
		read_pair(names, values, ret);
	if (file)
		fclose(file);
}

void read_kernel(const char *sysfs, struct reading *ret)
{
	static const char *const files[] = { "snmp", "netstat" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/proc/net/%s", strcmp(sysfs, "/sys") != 0 ? sysfs : "", files[i]);
		read_file(path, ret);
	}
}
