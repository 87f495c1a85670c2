/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - the real server as a child, and a client that costs little.
 *
 * The program is CLEW_BIN. What goes wrong ends the bench with a message: a
 * measurement of half a run is worth nothing.
 * Thread-safety: a struct link belongs to one thread.
 */
#ifndef BENCH_SUPPORT_CHILD_H
#define BENCH_SUPPORT_CHILD_H

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int port;
    int log_fd; /* the server's stderr */
};

/* Print and exit. */
_Noreturn void bench_die(const char *what);

/* Start `clew serve` and wait until it listens. `store` may be NULL. */
void child_start(struct child *child, const char *folder, const char *store);
/* SIGTERM and wait. */
void child_stop(struct child *child);
/* CPU time used so far by the process, in microseconds. */
int64_t child_cpu_us(const struct child *child);
/* VmRSS in kilobytes. */
int64_t child_rss_kb(const struct child *child);
/* Memory of its own, in kilobytes: no file is mapped there. */
int64_t child_private_kb(const struct child *child);
/* Wait until the turns that were posted are read, and what is due is done. */
void child_wait_read(const struct child *child);

/*
 * Run CLEW_BIN with these arguments (NULL ends them) to its end, its output
 * dropped; milliseconds it took. It ends the bench unless it ends well.
 */
double child_run(const char *const *args);
/* Let no page of a file in the folder be in memory, as after a start. */
void bench_drop_pages(const char *folder);

/* A connection that is kept open. */
struct link {
    int fd;
    struct buf in; /* the last answer: head and body */
    struct str body;
};

void link_open(struct link *link, int port);
void link_close(struct link *link);
/* One call; ends the bench unless the answer is 2xx. `body` may be empty. */
void link_call(struct link *link, const char *method, const char *path,
               struct str body);

#endif
