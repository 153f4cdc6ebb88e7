/* Counters that a network interface's driver keeps of its own: what 'ethtool -S' prints. */
#include "counters/counters.h"

#include "base/units.h"

#include <fnmatch.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of single queues and channels: hundreds, of which the interface has the sums. */
static bool is_of_queue(const char *name)
{
	static const char *const patterns[] = { "[rt]x[0-9]*", "[rt]x_[0-9]*",  "[rt]x-[0-9]*",
						"ch[0-9]*",    "[rt]x_queue_*", "[rt]x_q[0-9]*",
						"queue_*",     "\\[[0-9]*",     "cpu[0-9]*" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

static void add(struct reading *ret, const char *source, const char *name, uint64_t value)
{
	if (*name && !is_of_queue(name))
		reading_add(ret, source, name, value);
}

static int ask(int fd, const char *interface, void *data)
{
	struct ifreq request = { .ifr_data = data };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &request);
}

/* Number of counters; 0 when the driver keeps none. */
static uint32_t count_of(int fd, const char *interface)
{
	struct ethtool_sset_info *set = calloc(1, sizeof(*set) + sizeof(set->data[0]));
	uint32_t count = 0;

	if (set) {
		*set = (struct ethtool_sset_info){ .cmd = ETHTOOL_GSSET_INFO,
						   .sset_mask = UINT64_C(1) << ETH_SS_STATS };
		if (!ask(fd, interface, set) && set->sset_mask)
			count = set->data[0];
	}
	free(set);
	return count;
}

static void read_stats(int fd, const char *interface, uint32_t count, const char *source, struct reading *ret)
{
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	struct ethtool_stats *values = calloc(1, sizeof(*values) + (size_t)count * sizeof(uint64_t));

	if (names && values) {
		*names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count };
		*values = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = count };
		if (ask(fd, interface, names) || ask(fd, interface, values))
			count = 0;
		for (uint32_t i = 0; i < count && i < names->len && i < values->n_stats; i++) {
			char name[ETH_GSTRING_LEN + 1] = "";

			memcpy(name, names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
			add(ret, source, name, values->data[i]);
		}
	}
	free(names);
	free(values);
}

/* "     rx_discards_phy: 17" */
static void read_recorded(FILE *file, const char *source, struct reading *ret)
{
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		char *name = line + strspn(line, " \t"), *colon = strchr(name, ':');
		uint64_t value;

		line[strcspn(line, "\n")] = '\0';
		if (!colon)
			continue;
		*colon = '\0';
		if (units_parse_int(colon + 1 + strspn(colon + 1, " "), &value, NULL) == 0)
			add(ret, source, name, value);
	}
}

void read_ethtool(const char *sysfs, const char *interface, struct reading *ret)
{
	char path[PATH_MAX], source[COUNTER_SOURCE];
	FILE *file;
	uint32_t count;
	int fd;

	snprintf(source, sizeof(source), "%s ethtool", interface);
	snprintf(path, sizeof(path), "%s/class/net/%s/ethtool", sysfs, interface);
	file = fopen(path, "re");
	if (file) {
		read_recorded(file, source, ret);
		fclose(file);
	}
	if (strcmp(sysfs, "/sys") != 0)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	count = count_of(fd, interface);
	if (count && count < 65536)
		read_stats(fd, interface, count, source, ret);
	close(fd);
}
