/* Numbers from files as /proc and /sys have them. */
#ifndef BASE_PROCFS_H
#define BASE_PROCFS_H

#include <stdint.h>

/* The number behind a key at the beginning of a line (of the only line, where it is ""); 0 when there is none. */
uint64_t procfs_number(const char *path, const char *key);

#endif
