/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bring_watch.c - import what is written into a folder, as it is written.
 *
 * Looks every second which files have another size or time than when they were
 * last imported. A file that is being written may end in the middle of a line:
 * it is tried again when it has grown. A server that is away for a while, once
 * it was there, is waited for.
 */
#include "cli/bring/bring.h"
#include "import/source.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define EVERY_MS 1000

struct watch {
    struct bring *bring;
    json_t *seen;    /* path -> "size time" when it was last read */
    json_t *due;     /* paths to read now */
    bool has_worked; /* something was brought */
    bool is_out;     /* in this round nothing can be brought any more */
    bool is_told;    /* which was said */
};

static void mark_of(const struct stat *info, char out[64])
{
    (void)snprintf(out, 64, "%lld %lld.%09ld", (long long)info->st_size,
                   (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
}

/* Note a file that has changed; none is opened by the walk itself. */
static bool note(void *arg, const char *path, const struct stat *info)
{
    struct watch *watch = arg;
    const char *before;
    char mark[64];

    mark_of(info, mark);
    before = json_string_value(json_object_get(watch->seen, path));
    if (!before || strcmp(before, mark) != 0) {
        /* without memory it is seen the next time */
        (void)json_object_set_new(watch->seen, path, json_string(mark));
        (void)json_array_append_new(watch->due, json_string(path));
    }
    return false;
}

static enum clew_status no_file(void *arg, const char *name, FILE *file,
                                bool is_only, struct clew_error *err)
{
    (void)arg;
    (void)name;
    (void)file;
    (void)is_only;
    (void)err;
    return CLEW_OK;
}

/* Is it to be tried again? From the beginning nobody may be there at all. */
static bool is_outage(const struct watch *watch, enum clew_status status)
{
    return watch->has_worked && clew_status_retryable(status) &&
           status != CLEW_NO_MEMORY;
}

/* Bring one; what is wrong with it is said, and it may be right later. */
static enum clew_status bring_one(struct watch *watch, const char *path,
                                  struct clew_error *err)
{
    struct clew_error why = {0};
    bool is_own = false;
    enum clew_status status = bring_path(watch->bring, path, &is_own, &why);

    if (bring_is_stopped()) {
        return CLEW_OK;
    }
    if (status == CLEW_OK) {
        watch->has_worked = true;
        watch->is_told = false;
        return CLEW_OK;
    }
    if (is_outage(watch, status)) {
        if (!watch->is_told) {
            output_note("clew: %s; waiting for it", why.message);
        }
        watch->is_told = true;
        watch->is_out = true;
        return CLEW_OK;
    }
    if (status != CLEW_INVALID && status != CLEW_NOT_FOUND &&
        status != CLEW_TOO_LARGE) {
        *err = why; /* the store, not the file */
        return status;
    }
    if (strcmp(why.code, IMPORT_UNKNOWN_CODE) != 0) {
        output_note("clew: %s: %s; it is read again when it changes", path,
                    why.message);
    }
    return CLEW_OK;
}

static enum clew_status look(struct watch *watch, const char *folder,
                             struct clew_error *err)
{
    struct source_ops ops = {.wants = note, .file = no_file, .arg = watch};
    enum clew_status status = source_each(folder, &ops, NULL, err);
    const json_t *path;
    size_t i;

    watch->is_out = false;
    json_array_foreach (watch->due, i, path) {
        if (status == CLEW_OK && !bring_is_stopped() && !watch->is_out) {
            status = bring_one(watch, json_string_value(path), err);
        }
        if (watch->is_out) { /* it is seen again the next time */
            (void)json_object_del(watch->seen, json_string_value(path));
        }
    }
    (void)json_array_clear(watch->due); /* fails for non-arrays only */
    (void)fflush(watch->bring->cli->out.file);
    (void)fflush(watch->bring->cli->out.raw); /* somebody may wait for it */
    return status;
}

enum clew_status bring_watch(struct bring *bring, const char *folder,
                             struct clew_error *err)
{
    struct watch watch = {
        .bring = bring, .seen = json_object(), .due = json_array()};
    enum clew_status status =
        watch.seen && watch.due ? CLEW_OK : clew_no_memory(err);

    bring_catch();
    bring->is_quiet = true;
    if (status == CLEW_OK) {
        output_note("watching %s; Ctrl-C ends it", folder);
    }
    while (status == CLEW_OK && !bring_is_stopped()) {
        status = look(&watch, folder, err);
        if (status == CLEW_OK && !bring_is_stopped()) {
            (void)poll(NULL, 0, EVERY_MS); /* a signal ends it early */
        }
    }
    json_decref(watch.seen);
    json_decref(watch.due);
    return status;
}
