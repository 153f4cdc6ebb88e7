/* Reads a GID table from text: entries joined by '+', each '-' (empty) or TYPE/ADDRESS with TYPE ib, v1 or v2. */
#include "double.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static bool to_gid(const char *text, uint8_t *ret)
{
	if (inet_pton(AF_INET6, text, ret) == 1)
		return true;
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	return inet_pton(AF_INET, text, ret + 12) == 1;
}

static bool to_entry(char *text, struct ibv_gid_entry *ret)
{
	static const char *const types[] = {
		[IBV_GID_TYPE_IB] = "ib",
		[IBV_GID_TYPE_ROCE_V1] = "v1",
		[IBV_GID_TYPE_ROCE_V2] = "v2",
	};
	char *address = strchr(text, '/');

	if (!address)
		return strcmp(text, "-") == 0;
	*address++ = '\0';
	for (uint32_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i], text) == 0) {
			ret->gid_type = i;
			return to_gid(address, ret->gid.raw);
		}
	}
	return false;
}

bool config_gids(struct config *to, const char *text)
{
	char *copy = strdup(text), *save = NULL;
	bool good = copy != NULL;

	to->gid_count = 0;
	for (char *word = copy ? strtok_r(copy, "+", &save) : NULL; word && good; word = strtok_r(NULL, "+", &save)) {
		struct ibv_gid_entry *entry = &to->gids[to->gid_count];

		*entry = (struct ibv_gid_entry){ .gid_index = to->gid_count, .port_num = 1 };
		good = ++to->gid_count < GIDS_MAX && to_entry(word, entry);
	}
	free(copy);
	return good && to->gid_count;
}
