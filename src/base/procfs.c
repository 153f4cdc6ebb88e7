/* Reads a number from a file as /proc and /sys have them. */
#include "base/procfs.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

uint64_t procfs_number(const char *path, const char *key)
{
	FILE *file = fopen(path, "re");
	char line[128], *number;
	uint64_t value = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		number = line + strlen(key) + strspn(line + strlen(key), " \t");
		number[strspn(number, "0123456789")] = 0;
		if (units_parse_int(number, &value, NULL))
			value = 0;
		break;
	}
	if (file)
		fclose(file);
	return value;
}
