/* What other benchmarks mean by a letter that is unknown here or means something else. */
#ifndef CLI_HINT_H
#define CLI_HINT_H

/* "perftest's GID index: here -g", or NULL when there is nothing to say about the letter. */
const char *cli_hint(char letter);

#endif
