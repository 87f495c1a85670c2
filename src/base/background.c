/* SPDX-License-Identifier: Apache-2.0 */
/* background.c - a lower priority for one thread. See background.h. */
#include "base/background.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* A ninth of the share of a thread that serves a call: what is held meanwhile
 * (a lock, a write) is still given back soon. */
#define NICENESS 10

static _Thread_local bool is_here;

bool background_is_here(void)
{
    return is_here;
}

void background_begin(const char *name)
{
    id_t self = (id_t)gettid(); /* on Linux a priority is the thread's own */

    is_here = true;
    /* of a program that gives way already it must not be raised */
    if (getpriority(PRIO_PROCESS, self) < NICENESS) {
        (void)setpriority(PRIO_PROCESS, self, NICENESS);
    }
    (void)pthread_setname_np(pthread_self(), name);
}
