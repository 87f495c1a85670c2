/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_disk.c - a disk that is full for as long as a file exists.
 *
 * Preloaded into a program (LD_PRELOAD). While the file $FULL_DISK_FLAG exists,
 * every write that would make a file under $FULL_DISK_UNDER grow fails with
 * ENOSPC, as on a real disk: what has its blocks can still be overwritten.
 * While $FULL_DISK_FLAG.dead exists, no file there can be read: the disk is
 * gone, but for what is in memory.
 * $FULL_DISK_FLAG.at holds a number N: from the N-th step there on (a write, a
 * sync, a change of length, a rename) all of them fail until it is removed.
 * That it came so far says $FULL_DISK_FLAG.fired. Each process counts for
 * itself, and anew when the file is another one. Needs no privileges, unlike a
 * small file system. Thread-safety: internally locked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_under(int fd)
{
    const char *under = getenv("FULL_DISK_UNDER");
    char link[32];
    char path[4096];
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    if (n < 0 || !under) {
        return false;
    }
    path[n] = '\0';
    return strncmp(path, under, strlen(under)) == 0;
}

/* One more step: is it the one from which on nothing goes? */
static bool is_over(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct timespec known;
    static ino_t file;
    static long n_steps;
    const char *flag = getenv("FULL_DISK_FLAG");
    char path[4096];
    char text[32] = "";
    struct stat info;
    bool is_so = false;
    int fd;

    if (!flag || snprintf(path, sizeof(path), "%s.at", flag) < 0 ||
        stat(path, &info) != 0) {
        return false;
    }
    (void)pthread_mutex_lock(&lock);
    if (info.st_ino != file || info.st_mtim.tv_sec != known.tv_sec ||
        info.st_mtim.tv_nsec != known.tv_nsec) {
        file = info.st_ino;
        known = info.st_mtim;
        n_steps = 0;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0) {
        is_so = ++n_steps >= strtol(text, NULL, 10);
    }
    (void)close(fd);
    (void)pthread_mutex_unlock(&lock);
    if (is_so) {
        (void)snprintf(path, sizeof(path), "%s.fired", flag);
        (void)close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    }
    return is_so;
}

/* A step on a file: it fails if all is over. */
static bool is_refused(int fd)
{
    int saved = errno;
    bool is_so = is_under(fd) && is_over();

    errno = is_so ? ENOSPC : saved;
    return is_so;
}

/* Would this file, at least `end` bytes long afterwards, grow? */
static bool is_full(int fd, off_t end)
{
    const char *flag = getenv("FULL_DISK_FLAG");
    int saved = errno;
    struct stat info;
    bool is_no = !flag || access(flag, F_OK) != 0 || !is_under(fd) ||
                 fstat(fd, &info) != 0 || end <= info.st_size;

    errno = is_no ? saved : ENOSPC;
    return !is_no || is_refused(fd);
}

static off_t length_of(const struct iovec *parts, int n)
{
    off_t all = 0;

    for (int i = 0; i < n; i++) {
        all += (off_t)parts[i].iov_len;
    }
    return all;
}

static off_t place_of(int fd)
{
    if ((fcntl(fd, F_GETFL) & O_APPEND) != 0) {
        return lseek(fd, 0, SEEK_END);
    }
    return lseek(fd, 0, SEEK_CUR);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_dead(int fd)
{
    const char *flag = getenv("FULL_DISK_FLAG");
    int saved = errno;
    char dead[4096];
    bool is_so = flag && snprintf(dead, sizeof(dead), "%s.dead", flag) > 0 &&
                 access(dead, F_OK) == 0 && is_under(fd);

    errno = is_so ? EIO : saved;
    return is_so;
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    return is_dead(fd) ? -1 : NEXT(pread)(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off_t at)
{
    return is_dead(fd) ? -1 : NEXT(pread64)(fd, bytes, n, at);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return is_full(fd, place_of(fd) + (off_t)n) ? -1
                                                : NEXT(write)(fd, bytes, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    return is_full(fd, place_of(fd) + length_of(parts, n))
               ? -1
               : NEXT(writev)(fd, parts, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return is_full(fd, at + (off_t)n) ? -1 : NEXT(pwrite)(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
    return is_full(fd, at + (off_t)n) ? -1 : NEXT(pwrite64)(fd, bytes, n, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    return is_full(fd, at + length_of(parts, n))
               ? -1
               : NEXT(pwritev)(fd, parts, n, at);
}

int ftruncate(int fd, off_t length)
{
    return is_full(fd, length) ? -1 : NEXT(ftruncate)(fd, length);
}

int ftruncate64(int fd, off_t length)
{
    return is_full(fd, length) ? -1 : NEXT(ftruncate64)(fd, length);
}

int fallocate(int fd, int mode, off_t at, off_t length)
{
    return is_full(fd, at + length) ? -1
                                    : NEXT(fallocate)(fd, mode, at, length);
}

int posix_fallocate(int fd, off_t at, off_t length)
{
    return is_full(fd, at + length) ? ENOSPC
                                    : NEXT(posix_fallocate)(fd, at, length);
}

int fsync(int fd)
{
    return is_refused(fd) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    return is_refused(fd) ? -1 : NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
    const char *under = getenv("FULL_DISK_UNDER");

    if (under && strncmp(to, under, strlen(under)) == 0 && is_over()) {
        errno = ENOSPC;
        return -1;
    }
    return NEXT(rename)(from, to);
}
