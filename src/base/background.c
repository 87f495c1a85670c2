/* SPDX-License-Identifier: Apache-2.0 */
#include "base/background.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* A ninth of the share of a thread that serves a call: what is held meanwhile
 * (a lock, a write) is still given back soon. */
#define NICENESS 10

void background_begin(const char *name)
{
    /* on Linux this is the thread's own */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    (void)pthread_setname_np(pthread_self(), name);
}
