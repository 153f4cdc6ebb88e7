/* Reads this node's name, CPUs and system. */
#include "qperf/conf.h"

#include "qperf/line.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define OURS "fabperf"

static void drop(char *text, const char *what)
{
	char *at;

	while ((at = strstr(text, what)))
		memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

/* The value of a line "name : value" of /proc/cpuinfo; false for other lines. */
static bool value_of(const char *line, const char *name, char *ret, size_t size)
{
	const char *at = strchr(line, ':');

	if (!at || strncmp(line, name, strlen(name)))
		return false;
	snprintf(ret, size, "%s", at + 1 + strspn(at + 1, " \t"));
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

/* The clock behind a name that does not end in it: "2096.021" MHz becomes " 2.0GHz". */
static void add_clock(char *model, size_t size, const char *mhz)
{
	const size_t len = strlen(model), whole = strcspn(mhz, ".");

	if (!whole || (len > 1 && !strcmp(model + len - 2, "Hz")))
		return;
	if (whole > 3)
		snprintf(model + len, size - len, " %.*s.%cGHz", (int)whole - 3, mhz, mhz[whole - 3]);
	else
		snprintf(model + len, size - len, " %.*sMHz", (int)whole, mhz);
}

/* "2 Cores: AMD EPYC 2.0GHz": the name without what is in every name. */
static void read_cpu(char ret[QPERF_TEXT])
{
	static const char *const fillers[] = { "(R)", "(TM)", "CPU ", "Processor " };
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	char line[512], model[200] = "", mhz[40] = "", count[32] = "";
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file) && !(model[0] && mhz[0])) {
		value_of(line, "model name", model, sizeof(model));
		value_of(line, "cpu MHz", mhz, sizeof(mhz));
	}
	if (file)
		fclose(file);
	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
		drop(model, fillers[i]);
	add_clock(model, sizeof(model), mhz);
	if (cores > 1)
		snprintf(count, sizeof(count), "%ld Cores: ", cores);
	snprintf(ret, QPERF_TEXT, "%.20s%.43s", count, model[0] ? model : "unknown CPU");
}

void qperf_conf_read(struct qperf_conf *ret)
{
	struct utsname system;

	memset(ret, 0, sizeof(*ret));
	if (uname(&system) == 0) {
		snprintf(ret->node, QPERF_TEXT, "%.63s", system.nodename);
		snprintf(ret->os, QPERF_TEXT, "%.20s %.40s", system.sysname, system.release);
	}
	read_cpu(ret->cpu);
	snprintf(ret->version, QPERF_TEXT, "%s %s-%s", QPERF_VERSION, OURS, FABPERF_VERSION);
}

int qperf_conf_is_ours(const struct qperf_conf *conf)
{
	return strstr(conf->version, OURS) != NULL;
}
