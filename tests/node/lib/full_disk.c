/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_disk.c - a disk that is full for as long as a file exists.
 *
 * Preloaded into a program (LD_PRELOAD). While the file $FULL_DISK_FLAG exists,
 * every write that would make a file under $FULL_DISK_UNDER grow fails with
 * ENOSPC, as on a real disk: what has its blocks can still be overwritten.
 * While $FULL_DISK_FLAG.dead exists, no file there can be read: the disk is
 * gone, but for what is in memory.
 * Needs no privileges, unlike a small file system.
 * Thread-safety: none of its own; it keeps no state.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

/* Would this file, at least `end` bytes long afterwards, grow? */
static bool is_full(int fd, off_t end)
{
    const char *flag = getenv("FULL_DISK_FLAG");
    int saved = errno;
    struct stat info;
    bool is_no = !flag || access(flag, F_OK) != 0 || !is_under(fd) ||
                 fstat(fd, &info) != 0 || end <= info.st_size;

    errno = is_no ? saved : ENOSPC;
    return !is_no;
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
    bool is_so = flag &&
                 snprintf(dead, sizeof(dead), "%s.dead", flag) > 0 &&
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
