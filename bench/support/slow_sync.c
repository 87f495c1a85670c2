/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_sync.c - a disk that takes its time.
 *
 * Preloaded into a program (LD_PRELOAD): each fsync() and fdatasync() takes
 * $SLOW_SYNC_US microseconds longer. Machines made for tests often have disks
 * that acknowledge at once; what sharing a sync is worth shows on others.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_a_little(void)
{
    const char *text = getenv("SLOW_SYNC_US");
    long us = text ? strtol(text, NULL, 10) : 0;
    struct timespec pause = {.tv_sec = us / 1000000,
                             .tv_nsec = us % 1000000 * 1000};

    (void)nanosleep(&pause, NULL);
}

static int sync_by(const char *name, int fd)
{
    int (*next)(int);

    *(void **)&next = dlsym(RTLD_NEXT, name);
    wait_a_little();
    return next(fd);
}

int fsync(int fd)
{
    return sync_by("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}
