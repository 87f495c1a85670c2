/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.c - see spool.h.
 */
#include "proxy/spool.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No spool counts so far; what is named higher is none of ours. */
#define MAX_NUMBER (INT64_MAX / 2)
/* The first in an empty spool: there is room before it for what is older. */
#define FIRST_NUMBER ((int64_t)1 << 40)
/* Numbers tried for a file, each taken by another process meanwhile. */
#define MAX_TRIES 16

static bool path_of(const struct spool *spool, int64_t number,
                    const char *ending, char out[PATH_MAX])
{
    int len = snprintf(out, PATH_MAX, "%s/%020lld%s", spool->dir,
                       (long long)number, ending);

    return len > 0 && len < PATH_MAX;
}

/* The number of a record's file by its name; false if it is none of ours. */
static bool number_of(const char *file, int64_t *out)
{
    struct str name = str_of(file);

    return str_ends(name, STR(".call")) &&
           str_parse_int(str_sub(name, 0, name.len - 5), out) && *out > 0;
}

/* Is a file half-written by a process that lives? "NUMBER.PID.part" */
static bool is_being_written(const char *file)
{
    const char *pid = strchr(file, '.');
    long of = pid ? strtol(pid + 1, NULL, 10) : 0;

    return of > 0 && of != (long)getpid() &&
           (kill((pid_t)of, 0) == 0 || errno == EPERM);
}

/* Count the files left by an earlier run; remove half-written ones. */
static void look(struct spool *spool)
{
    DIR *dir = opendir(spool->dir);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        struct stat stat_buf;
        int64_t number;

        if (str_ends(str_of(entry->d_name), STR(".part"))) {
            if (!is_being_written(entry->d_name)) {
                (void)unlinkat(dirfd(dir), entry->d_name, 0);
            }
            continue;
        }
        if (!number_of(entry->d_name, &number) || number > MAX_NUMBER ||
            !path_of(spool, number, ".call", path) ||
            stat(path, &stat_buf) != 0) {
            continue;
        }
        spool->n_files++;
        spool->n_bytes += stat_buf.st_size;
        if (number < spool->first) {
            spool->first = number;
        }
        if (number >= spool->next) {
            spool->next = number + 1;
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
}

/* The lowest number from `from` on that has a file; `next` if none has. A gap
 * may be as wide as numbers are. */
static int64_t past_gap(const struct spool *spool, int64_t from)
{
    DIR *dir = opendir(spool->dir);
    struct dirent *entry;
    int64_t lowest = spool->next;
    int64_t number;

    while (dir && (entry = readdir(dir)) != NULL) {
        if (number_of(entry->d_name, &number) && number >= from &&
            number < lowest) {
            lowest = number;
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    return lowest;
}

enum clew_status spool_open(struct spool *spool, const char *dir,
                            int64_t limit_bytes, struct clew_error *err)
{
    memset(spool, 0, sizeof(*spool));
    spool->limit_bytes = limit_bytes;
    spool->first = INT64_MAX;
    spool->next = 1;
    spool->dir = alloc_string(dir);
    if (!spool->dir) {
        return clew_no_memory(err);
    }
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not make the folder \"%.200s\": %s", dir,
                         strerror(errno));
    }
    look(spool);
    if (spool->first == INT64_MAX) {
        spool->first = spool->next;
    }
    return CLEW_OK;
}

void spool_close(struct spool *spool)
{
    alloc_free(spool->dir);
    spool->dir = NULL;
}

/* The number before all files there are, or behind them. */
static int64_t edge(const struct spool *spool, bool is_before)
{
    DIR *dir = opendir(spool->dir);
    struct dirent *entry;
    int64_t at = is_before ? spool->first : spool->next - 1;
    int64_t number;

    while (dir && (entry = readdir(dir)) != NULL) {
        if (number_of(entry->d_name, &number) && number <= MAX_NUMBER &&
            (is_before ? number < at : number > at)) {
            at = number;
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    return is_before ? at - 1 : at + 1;
}

/* Give a file its name, unless another process has a file of that name. */
static bool name_file(const char *from, const char *to)
{
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u) == 0) {
        return true; /* 1u is RENAME_NOREPLACE */
    }
    return errno != EEXIST && rename(from, to) == 0; /* it is not known here */
}

/* Write it beside and rename it: a file is whole or not there. Servers that
 * share a data folder count for themselves, so the number may be another's. */
static enum clew_status write_file(const struct spool *spool, bool is_before,
                                   struct str bytes, int64_t *number,
                                   struct clew_error *err)
{
    char ending[32];
    char part[PATH_MAX];
    char path[PATH_MAX];
    bool is_ok;
    int code;
    int fd;

    (void)snprintf(ending, sizeof(ending), ".%ld.part", (long)getpid());
    if (!path_of(spool, *number, ending, part)) {
        return clew_fail(err, CLEW_UNAVAILABLE, "the spool's path is too long");
    }
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    is_ok = fd >= 0 && fd_write_all(fd, bytes);
    code = errno;
    if (fd >= 0) {
        is_ok = close(fd) == 0 && is_ok;
    }
    if (is_ok) {
        is_ok = false;
        for (int i = 0; i < MAX_TRIES && !is_ok; i++) {
            errno = ENAMETOOLONG;
            is_ok =
                path_of(spool, *number, ".call", path) && name_file(part, path);
            code = errno;
            if (is_ok || code != EEXIST) {
                break;
            }
            *number = edge(spool, is_before);
        }
    }
    if (!is_ok) {
        (void)unlink(part);
        return clew_fail(err, CLEW_UNAVAILABLE, "could not write the spool: %s",
                         strerror(code));
    }
    return CLEW_OK;
}

static enum clew_status add(struct spool *spool, bool is_before,
                            struct str bytes, struct clew_error *err)
{
    int64_t number;
    enum clew_status status;

    if (spool->n_bytes + (int64_t)bytes.len > spool->limit_bytes) {
        return clew_fail(err, CLEW_TOO_LARGE, "the spool is full");
    }
    if (spool->n_files == 0) {
        spool->next = spool->next > FIRST_NUMBER ? spool->next : FIRST_NUMBER;
        spool->first = spool->next;
    }
    number = is_before ? spool->first - 1 : spool->next;
    if (number < 1) {
        return clew_fail(err, CLEW_TOO_LARGE, "no number is left before");
    }
    status = write_file(spool, is_before, bytes, &number, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (is_before) {
        spool->first = number;
    } else {
        spool->next = number + 1;
    }
    spool->n_files++;
    spool->n_bytes += (int64_t)bytes.len;
    return CLEW_OK;
}

enum clew_status spool_add(struct spool *spool, struct str bytes,
                           struct clew_error *err)
{
    return add(spool, false, bytes, err);
}

enum clew_status spool_add_before(struct spool *spool, struct str bytes,
                                  struct clew_error *err)
{
    return add(spool, true, bytes, err);
}

/* Want of descriptors or memory passes; a file that is forbidden or damaged
 * stays so, and must not keep the others waiting. */
static enum clew_status unread(int code, struct clew_error *err)
{
    bool is_passing = code == EMFILE || code == ENFILE || code == ENOMEM ||
                      code == EINTR || code == EAGAIN;

    return clew_fail(err, is_passing ? CLEW_UNAVAILABLE : CLEW_CORRUPT,
                     "could not read the spool: %s", strerror(code));
}

static enum clew_status read_file(int fd, struct buf *out,
                                  struct clew_error *err)
{
    enum clew_status status;
    int code;

    buf_clear(out);
    status = fd_read_all(fd, out);
    code = errno;
    (void)close(fd);
    if (status == CLEW_UNAVAILABLE) {
        return unread(code, err);
    }
    return status == CLEW_OK
               ? CLEW_OK
               : clew_fail(err, status, "could not read the spool");
}

enum clew_status spool_next(struct spool *spool, int64_t after, struct buf *out,
                            int64_t *out_number, struct clew_error *err)
{
    char path[PATH_MAX];
    int64_t from = after + 1 > spool->first ? after + 1 : spool->first;

    for (int64_t number = from; number < spool->next;) {
        int fd;

        if (!path_of(spool, number, ".call", path)) {
            break;
        }
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
            number = past_gap(spool, number + 1);
            continue;
        }
        *out_number = number;
        return fd < 0 ? unread(errno, err) : read_file(fd, out, err);
    }
    return clew_fail(err, CLEW_NOT_FOUND, "the spool is empty");
}

/* The oldest is no longer there, by the name it had. */
static void let_go(struct spool *spool, int64_t number, const char *ending)
{
    char path[PATH_MAX];
    char to[PATH_MAX];
    struct stat stat_buf;
    bool is_gone = false;

    if (path_of(spool, number, ".call", path) && stat(path, &stat_buf) == 0) {
        is_gone =
            ending ? path_of(spool, number, ending, to) && rename(path, to) == 0
                   : unlink(path) == 0;
    }
    if (is_gone) {
        spool->n_files--;
        spool->n_bytes -= stat_buf.st_size;
    }
    if (number >= spool->first) {
        spool->first = number + 1;
    }
}

void spool_drop(struct spool *spool, int64_t number)
{
    let_go(spool, number, NULL);
}

void spool_set_aside(struct spool *spool, int64_t number)
{
    let_go(spool, number, ".unread");
}
