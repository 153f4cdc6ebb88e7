/* The fabric: one file that every process maps, with the tables of queue pairs and memory keys and an arena behind them. */
#include "double.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FABRIC_VERSION 1u
#define FABRIC_BYTES   (UINT64_C(1) << 32) /* of address space and of a sparse file */

static struct fabric *_Atomic mapped;

const char *fabric_dir(void)
{
	static _Thread_local char path[100];
	const char *asked = getenv("FABPERF_DOUBLE_DIR");

	if (asked)
		snprintf(path, sizeof(path), "%s", asked);
	else
		snprintf(path, sizeof(path), "/dev/shm/fabperf-double.%u", (unsigned)getuid());
	return path;
}

void fabric_mutex(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void fabric_lock(pthread_mutex_t *lock)
{
	if (pthread_mutex_lock(lock) == EOWNERDEAD)
		pthread_mutex_consistent(lock);
}

void fabric_unlock(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
}

/* A new file is empty; its first user sets it up while the others wait for the file's lock. */
static int set_up(int fd)
{
	struct stat stat;
	struct fabric *f;

	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_size == (off_t)FABRIC_BYTES)
		return 0;
	if (ftruncate(fd, (off_t)FABRIC_BYTES))
		return -errno;
	f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (f == MAP_FAILED)
		return -errno;
	f->version = FABRIC_VERSION;
	fabric_mutex(&f->lock);
	fabric_mutex(&f->atomics);
	f->used = (sizeof(*f) + 4095) & ~UINT64_C(4095);
	munmap(f, sizeof(*f));
	return 0;
}

static struct fabric *map(void)
{
	char path[128];
	void *f = MAP_FAILED;
	int fd, rc;

	if (mkdir(fabric_dir(), 0700) && errno != EEXIST)
		return NULL;
	snprintf(path, sizeof(path), "%s/fabric", fabric_dir());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	rc = flock(fd, LOCK_EX) ? -errno : set_up(fd);
	if (!rc)
		f = mmap(NULL, FABRIC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	flock(fd, LOCK_UN); /* the mapping keeps the open file, and with it the lock, beyond close() */
	close(fd);
	if (rc)
		errno = -rc;
	return f == MAP_FAILED ? NULL : f;
}

struct fabric *fabric_map(void)
{
	struct fabric *none = NULL, *f;

	if (mapped)
		return mapped;
	f = map();
	if (f && !atomic_compare_exchange_strong(&mapped, &none, f))
		munmap(f, FABRIC_BYTES);
	return mapped;
}

struct fabric *fabric(void)
{
	return mapped;
}

void *fabric_at(uint64_t offset)
{
	return (uint8_t *)mapped + offset;
}

uint64_t fabric_offset(const void *at)
{
	return (uint64_t)((const uint8_t *)at - (const uint8_t *)mapped);
}

static unsigned size_class(size_t bytes)
{
	unsigned class = 6;

	while ((UINT64_C(1) << class) < bytes)
		class ++;
	return class;
}

uint64_t fabric_alloc(size_t bytes)
{
	struct fabric *f = mapped;
	unsigned class = size_class(bytes);
	uint64_t offset;

	fabric_lock(&f->lock);
	offset = f->free[class];
	if (offset) {
		f->free[class] = *(uint64_t *)fabric_at(offset);
	} else if (f->used + (UINT64_C(1) << class) <= FABRIC_BYTES) {
		offset = f->used;
		f->used += UINT64_C(1) << class;
	}
	fabric_unlock(&f->lock);
	if (offset)
		memset(fabric_at(offset), 0, bytes);
	return offset;
}

void fabric_free(uint64_t offset, size_t bytes)
{
	struct fabric *f = mapped;
	unsigned class = size_class(bytes);

	if (!offset)
		return;
	fabric_lock(&f->lock);
	*(uint64_t *)fabric_at(offset) = f->free[class];
	f->free[class] = offset;
	fabric_unlock(&f->lock);
}

uint32_t fabric_handle(void)
{
	uint32_t handle;

	fabric_lock(&mapped->lock);
	handle = ++mapped->next_handle;
	fabric_unlock(&mapped->lock);
	return handle;
}
