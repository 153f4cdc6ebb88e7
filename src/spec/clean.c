/* Makes a text that came from another host harmless for a terminal and valid for JSON. */
#include "spec/clean.h"

#include <string.h>

/* Bytes of the UTF-8 character at text, 0 when it is none or a control character. */
static unsigned character_bytes(const char *text)
{
	const unsigned char first = (unsigned char)text[0];
	const unsigned bytes = first < 0x80   ? 1
			       : first < 0xc2 ? 0
			       : first < 0xe0 ? 2
			       : first < 0xf0 ? 3
			       : first < 0xf5 ? 4
					      : 0;

	if (first < ' ' || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0))
		return 0;
	for (unsigned i = 1; i < bytes; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
	return bytes;
}

char *text_clean(const char *text, char *ret, size_t size)
{
	size_t len = 0;

	while (*text) {
		const unsigned bytes = character_bytes(text);

		if (len + (bytes ? bytes : 1) >= size)
			break;
		memmove(ret + len, bytes ? text : "?", bytes ? bytes : 1);
		len += bytes ? bytes : 1;
		text += bytes ? bytes : 1;
	}
	ret[len] = '\0';
	return ret;
}
