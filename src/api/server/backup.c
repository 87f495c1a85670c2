/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup.c - POST /api/v1/backup: what `clew backup` does, asked for from afar.
 *
 * The copy holds every tenant's data, so it stays on the server, in a folder
 * of its own, and only its name, size and hash are answered. How many there may
 * be is bounded: whoever may ask cannot fill the disk with them, and nothing
 * is ever removed to make room.
 */
#include "api/answer/forms.h"
#include "api/handlers.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "engine/core/engine.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES 65536

struct backup {
    char folder[2048];
    char path[2304];
    int64_t now_ms;
    int64_t bytes; /* of the store; then of the copy */
    int64_t free_bytes;
    int64_t n_kept; /* those that are there already */
    char sha256[SHA256_HEX_SIZE];
};

/* --- where it will be ------------------------------------------------------
 */

static enum clew_status name_it(const struct engine *engine, struct backup *b,
                                struct clew_error *err)
{
    const char *set = config_str(engine->config, "backup.dir");
    time_t seconds = (time_t)(b->now_ms / 1000);
    struct tm utc;
    char stamp[32];
    int folder;

    if (!str_eq(str_of(store_backend(engine->store)), STR("sqlite"))) {
        return clew_fail(err, CLEW_CONFLICT,
                         "PostgreSQL is copied with its own tools: pg_dump "
                         "--no-owner DATABASE > clew.sql");
    }
    if (strcmp(set, "off") == 0) {
        return clew_fail(err, CLEW_CONFLICT,
                         "backup.dir is off: make it with clew backup FILE");
    }
    folder = set[0] ? snprintf(b->folder, sizeof(b->folder), "%s", set)
                    : snprintf(b->folder, sizeof(b->folder), "%s/backups",
                               engine->data_dir);
    if (folder < 0 || (size_t)folder >= sizeof(b->folder) ||
        !gmtime_r(&seconds, &utc) ||
        strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc) == 0) {
        return clew_fail(err, CLEW_INVALID, "backup.dir is too long");
    }
    (void)snprintf(b->path, sizeof(b->path), "%s/clew-%s.db", b->folder, stamp);
    return CLEW_OK;
}

static int64_t count_kept(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int64_t count = 0;

    while (dir && (entry = readdir(dir))) {
        count += str_starts(str_of(entry->d_name), STR("clew-")) &&
                 str_ends(str_of(entry->d_name), STR(".db"));
    }
    if (dir) {
        (void)closedir(dir);
    }
    return count;
}

/* How much there is to copy, and room for it. A folder that is not there yet
 * has the room of the data folder. */
static void measure(const struct engine *engine, struct backup *b)
{
    static const char *const files[] = {"clew.db", "clew.db-wal"};
    struct statvfs room;

    for (size_t i = 0; i < 2; i++) {
        char path[4096];
        struct stat info;

        (void)snprintf(path, sizeof(path), "%s/%s", engine->data_dir, files[i]);
        b->bytes += stat(path, &info) == 0 ? info.st_size : 0;
    }
    if (statvfs(b->folder, &room) == 0 ||
        statvfs(engine->data_dir, &room) == 0) {
        b->free_bytes = (int64_t)room.f_bavail * (int64_t)room.f_frsize;
    }
    b->n_kept = count_kept(b->folder);
}

static enum clew_status check(const struct backup *b, struct clew_error *err)
{
    if (b->n_kept >= LIMIT_BACKUPS) {
        return clew_fail(err, CLEW_CONFLICT,
                         "%s holds %d backups already: move some away",
                         b->folder, LIMIT_BACKUPS);
    }
    if (b->free_bytes < b->bytes) {
        return clew_fail(err, CLEW_CONFLICT,
                         "%s has no room for it: %lld MB are free, %lld needed",
                         b->folder, (long long)(b->free_bytes / 1000000),
                         (long long)(b->bytes / 1000000));
    }
    return CLEW_OK;
}

/* --- the copy --------------------------------------------------------------
 */

static enum clew_status hash_it(struct backup *b, struct clew_error *err)
{
    char chunk[CHUNK_BYTES];
    struct sha256 hash;
    int fd = open(b->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    sha256_init(&hash);
    b->bytes = 0;
    while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0) {
        sha256_add(&hash, chunk, (size_t)n);
        b->bytes += n;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (n != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not read the copy: %s",
                         strerror(errno));
    }
    sha256_get_hex(&hash, b->sha256);
    return CLEW_OK;
}

static enum clew_status make(struct engine *engine, struct backup *b,
                             struct clew_error *err)
{
    enum clew_status status;

    if (mkdir(b->folder, 0700) != 0 && errno != EEXIST) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not make \"%s\": %s",
                         b->folder, strerror(errno));
    }
    if (access(b->path, F_OK) == 0) {
        return clew_fail(err, CLEW_CONFLICT, "\"%s\" is already there",
                         b->path);
    }
    status = store_backup(engine->store, b->path, err);
    return status == CLEW_OK ? hash_it(b, err) : status;
}

enum clew_status backup_post(struct api_call *call, struct clew_error *err)
{
    struct backup b = {.now_ms = clock_now_ms(call->engine->clock)};
    bool is_dry_run = false;
    json_t *out;
    enum clew_status status =
        json_get_bool(call->body, "dry_run", JSON_OPTIONAL, &is_dry_run, err);

    if (status == CLEW_OK) {
        status = name_it(call->engine, &b, err);
    }
    if (status == CLEW_OK) {
        measure(call->engine, &b);
        status = check(&b, err);
    }
    if (status == CLEW_OK && !is_dry_run) {
        status = make(call->engine, &b, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    out = json_object();
    return api_answer(
        call,
        form_finish(out, out && json_set_cstr(out, "path", b.path) &&
                             json_set_int(out, "bytes", b.bytes) &&
                             json_set_int(out, "free_bytes", b.free_bytes) &&
                             json_set_int(out, "kept", b.n_kept) &&
                             json_set_cstr(out, "sha256",
                                           is_dry_run ? NULL : b.sha256) &&
                             json_set_time(out, "created_at", &b.now_ms) &&
                             json_set_bool(out, "dry_run", is_dry_run)),
        err);
}
