/* Memory that is to be written while something is measured: its pages are made resident before. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#define PAGE_LEAST 4096u /* bytes of a page, or of a part of one */

/* Of zeroed memory. */
static inline void pages_touch(void *data, size_t size)
{
	volatile char *at = data;

	for (size_t i = 0; i < size; i += PAGE_LEAST)
		at[i] = 0;
}

#endif
