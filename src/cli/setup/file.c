/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - small files of the user. See file.h.
 */
#include "cli/setup/file.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum clew_status fail(struct clew_error *err, const char *what,
                             const char *path, int code)
{
    return clew_fail(err, CLEW_UNAVAILABLE, "could not %s \"%.200s\": %s", what,
                     path, strerror(code));
}

enum clew_status file_read(const char *path, struct buf *out, bool *out_exists,
                           struct clew_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum clew_status status;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *out_exists = false;
        return CLEW_OK;
    }
    if (fd < 0) {
        return fail(err, "read", path, errno);
    }
    status = fd_read_all(fd, out);
    if (status == CLEW_UNAVAILABLE) {
        status = fail(err, "read", path, errno);
    } else if (status != CLEW_OK) {
        status = clew_fail(err, status, "\"%.200s\" is too large", path);
    }
    (void)close(fd); /* only read from */
    *out_exists = true;
    return status;
}

/* Every folder above the file. */
static enum clew_status make_folders(const char *path, struct clew_error *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len >= sizeof(part)) {
        return fail(err, "make", path, ENAMETOOLONG);
    }
    memcpy(part, path, len + 1);
    for (size_t i = 1; i < len; i++) {
        if (part[i] != '/') {
            continue;
        }
        part[i] = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST) {
            return fail(err, "make", part, errno);
        }
        part[i] = '/';
    }
    return CLEW_OK;
}

/* What a link names, or the path itself; what must not be replaced fails. */
static enum clew_status find_target(const char *path, char target[PATH_MAX],
                                    struct stat *out_old, bool *out_exists,
                                    struct clew_error *err)
{
    struct stat link;

    if (!realpath(path, target)) {
        if (lstat(path, &link) == 0) { /* replacing it would cut the link */
            return clew_fail(err, CLEW_UNAVAILABLE,
                             "\"%.200s\" is a link to nothing; make or remove "
                             "what it names",
                             path);
        }
        (void)snprintf(target, PATH_MAX, "%s", path); /* new */
    }
    *out_exists = stat(target, out_old) == 0;
    if (*out_exists && !S_ISREG(out_old->st_mode)) {
        return clew_fail(err, CLEW_UNAVAILABLE, "\"%.200s\" is no file", path);
    }
    if (*out_exists && (out_old->st_mode & 0222) == 0) {
        /* a rename would not mind, but its owner does */
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "\"%.200s\" is read-only; it was left as it is", path);
    }
    return CLEW_OK;
}

enum clew_status file_replace(const char *path, struct str text,
                              struct clew_error *err)
{
    enum clew_status status = make_folders(path, err);
    char target[PATH_MAX];
    char temp[PATH_MAX];
    struct stat old;
    bool has_old = false;
    bool is_ok;
    int code;
    int len;
    int fd;

    if (status == CLEW_OK) {
        status = find_target(path, target, &old, &has_old, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    len = snprintf(temp, sizeof(temp), "%s.XXXXXX", target);
    if (len < 0 || (size_t)len >= sizeof(temp)) {
        return fail(err, "write", path, ENAMETOOLONG);
    }
    fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) {
        return fail(err, "write", path, errno);
    }
    is_ok = (!has_old || fchmod(fd, old.st_mode & 07777) == 0) &&
            fd_write_all(fd, text) && fsync(fd) == 0;
    code = errno;
    (void)close(fd); /* synced above */
    if (is_ok && rename(temp, target) == 0) {
        return CLEW_OK;
    }
    code = is_ok ? errno : code;
    (void)unlink(temp); /* best effort: the failure is told */
    return fail(err, "write", path, code);
}

enum clew_status file_remove(const char *path, struct clew_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;

    if (unlink(path) != 0) {
        return fail(err, "remove", path, errno);
    }
    if (len > 0 && len < sizeof(folder)) {
        memcpy(folder, path, len);
        folder[len] = '\0';
        (void)rmdir(folder); /* it stays if others put something in it */
    }
    return CLEW_OK;
}
