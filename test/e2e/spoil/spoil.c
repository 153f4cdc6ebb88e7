/* Preloaded into a sender: spoils single messages as they go into a socket; FABPERF_SPOIL says which. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * "SIZE WORD,WORD...": messages are told by their size, and counted from 1. Words: flip=N:BYTE turns a bit of that byte of
 * message N, drop=N loses it, dup=N sends it twice, old=N:M sends message M's bytes in its place (M < N).
 */
#define WORDS 64
#define KEPT  1024 /* first messages that are remembered for old=N:M */
struct word {
	char what[8];
	unsigned long n, argument;
};

static struct {
	bool read;
	size_t size;
	struct word word[WORDS];
	unsigned words;
	unsigned long seen;
	unsigned char *kept[KEPT];
} spoil;

static void read_words(void)
{
	const char *text = getenv("FABPERF_SPOIL");
	int used = 0;

	spoil.read = true;
	if (!text || sscanf(text, "%zu %n", &spoil.size, &used) != 1)
		return;
	for (text += used; *text && spoil.words < WORDS; text += used + (text[used] == ',')) {
		struct word *word = &spoil.word[spoil.words++];

		if (sscanf(text, "%7[a-z]=%lu%n:%lu%n", word->what, &word->n, &used, &word->argument, &used) < 2)
			abort();
	}
}

static const struct word *find(const char *what)
{
	for (unsigned i = 0; i < spoil.words; i++) {
		if (spoil.word[i].n == spoil.seen + 1 && strcmp(spoil.word[i].what, what) == 0)
			return &spoil.word[i];
	}
	return NULL;
}

static bool is_message(size_t len)
{
	if (!spoil.read)
		read_words();
	return spoil.size && len == spoil.size;
}

/* Copies the message, changed as the words want it. */
static void *changed(const void *data)
{
	const struct word *flip = find("flip"), *old = find("old");
	unsigned char *copy = malloc(spoil.size);

	memcpy(copy, data, spoil.size);
	if (spoil.seen < KEPT && !spoil.kept[spoil.seen])
		spoil.kept[spoil.seen] = memcpy(malloc(spoil.size), data, spoil.size);
	if (flip && flip->argument < spoil.size)
		copy[flip->argument] ^= 0x10;
	if (old)
		memcpy(copy, spoil.kept[old->argument - 1], spoil.size);
	return copy;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int) = next("send");
	ssize_t sent;
	void *copy;

	if (!is_message(len))
		return real(fd, data, len, flags);
	copy = changed(data);
	sent = find("drop") ? (ssize_t)len : real(fd, copy, len, flags);
	if (sent > 0 && find("dup"))
		real(fd, copy, len, flags);
	free(copy);
	spoil.seen += sent > 0;
	return sent;
}

/* Of several pieces one may be a message; a stream's pieces can only be flipped. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int) = next("sendmsg");
	struct msghdr other = *msg;
	struct iovec iov[8];
	void *copy = NULL;
	ssize_t sent;

	for (size_t i = 0; i < msg->msg_iovlen && msg->msg_iovlen <= 8 && !copy; i++) {
		if (!is_message(msg->msg_iov[i].iov_len))
			continue;
		copy = changed(msg->msg_iov[i].iov_base);
		memcpy(iov, msg->msg_iov, msg->msg_iovlen * sizeof(*iov));
		iov[i].iov_base = copy;
		other.msg_iov = iov;
	}
	sent = real(fd, &other, flags);
	spoil.seen += copy && sent > 0;
	free(copy);
	return sent;
}
