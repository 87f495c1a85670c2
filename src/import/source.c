/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - files, folders and zips. See source.h.
 */
#include "import/source.h"

#include "base/alloc.h"
#include "base/str.h"
#include "import/zip.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

struct walk {
    const struct source_ops *ops;
    int64_t n_files;
    int64_t n_other;
};

/* By its ending, or by where mail lies. */
static bool may_be_export(const char *path)
{
    static const char *const endings[] = {".json", ".jsonl",  ".txt",   ".mbox",
                                          ".eml",  ".ndjson", ".vscdb", ".db"};
    struct str name = str_of(path);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (str_ends(name, str_of(endings[i]))) {
            return true;
        }
    }
    return strstr(path, "/cur/") != NULL || strstr(path, "/new/") != NULL;
}

static enum clew_status count(struct walk *walk, struct clew_error *err)
{
    return ++walk->n_files <= SOURCE_MAX_FILES
               ? CLEW_OK
               : clew_fail(err, CLEW_TOO_LARGE, "these are too many files");
}

/* --- zips ----------------------------------------------------------------- */

static enum clew_status take_entry(struct walk *walk, struct zip *zip,
                                   const struct zip_entry *entry,
                                   const char *path, struct clew_error *err)
{
    size_t size = strlen(path) + strlen(entry->name) + 2;
    char *name = alloc_bytes(size);
    FILE *file = NULL;
    enum clew_status status = name ? count(walk, err) : clew_no_memory(err);

    if (status == CLEW_OK) {
        (void)snprintf(name, size, "%s/%s", path, entry->name);
        status = zip_read(zip, entry, &file, err);
    }
    if (status == CLEW_OK) {
        status = walk->ops->file(walk->ops->arg, name, file, false, err);
        (void)fclose(file); /* it was only read */
        if (status != CLEW_OK && zip->trouble.message[0]) {
            status =
                clew_fail(err, zip->trouble.status, "%s", zip->trouble.message);
        }
    }
    alloc_free(name);
    return status;
}

/* Those at the top first: they say who is who. */
static enum clew_status each_entry(struct walk *walk, struct zip *zip,
                                   const char *path, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (int is_deep = 0; is_deep < 2; is_deep++) {
        for (size_t i = 0; i < zip->n_entries && status == CLEW_OK; i++) {
            const struct zip_entry *entry = &zip->entries[i];
            bool is_folder = str_ends(str_of(entry->name), STR("/"));

            if ((strchr(entry->name, '/') != NULL) != is_deep || is_folder) {
                continue;
            }
            if (!may_be_export(entry->name)) {
                walk->n_other++;
                continue;
            }
            status = take_entry(walk, zip, entry, path, err);
        }
    }
    return status;
}

static enum clew_status take_zip(struct walk *walk, FILE *file,
                                 const char *path, struct clew_error *err)
{
    struct zip zip;
    enum clew_status status = zip_open(&zip, file, err);

    if (status == CLEW_OK) {
        status = each_entry(walk, &zip, path, err);
    }
    zip_close(&zip);
    return status;
}

/* --- files and folders ---------------------------------------------------- */

static enum clew_status take_file(struct walk *walk, const char *path,
                                  bool is_only, struct clew_error *err)
{
    FILE *file = fopen(path, "re");
    enum clew_status status;

    if (!file) {
        return clew_fail(err, CLEW_NOT_FOUND, "could not read \"%.200s\": %s",
                         path, strerror(errno));
    }
    status = count(walk, err);
    if (status == CLEW_OK) {
        status = zip_is(file) ? take_zip(walk, file, path, err)
                              : walk->ops->file(walk->ops->arg, path, file,
                                                is_only, err);
    }
    (void)fclose(file); /* it was only read */
    return status;
}

static int by_kind_and_name(const FTSENT **a, const FTSENT **b)
{
    bool x = (*a)->fts_info == FTS_D;
    bool y = (*b)->fts_info == FTS_D;

    return x != y ? (int)x - (int)y : strcmp((*a)->fts_name, (*b)->fts_name);
}

static enum clew_status take_found(struct walk *walk, const FTSENT *found,
                                   struct clew_error *err)
{
    if (found->fts_info == FTS_DNR || found->fts_info == FTS_ERR) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not read \"%.200s\": %s",
                         found->fts_path, strerror(found->fts_errno));
    }
    if (found->fts_info != FTS_F) {
        return CLEW_OK;
    }
    if (!may_be_export(found->fts_path) &&
        !str_ends(str_of(found->fts_path), STR(".zip"))) {
        walk->n_other++;
        return CLEW_OK;
    }
    if (walk->ops->wants &&
        !walk->ops->wants(walk->ops->arg, found->fts_path, found->fts_statp)) {
        return CLEW_OK;
    }
    return take_file(walk, found->fts_path, false, err);
}

static enum clew_status take_folder(struct walk *walk, char *path,
                                    struct clew_error *err)
{
    char *const roots[] = {path, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_kind_and_name);
    enum clew_status status = fts ? CLEW_OK : clew_no_memory(err);
    FTSENT *found;

    while (status == CLEW_OK && (found = fts_read(fts)) != NULL) {
        if (found->fts_info == FTS_D && found->fts_level > SOURCE_MAX_DEPTH) {
            (void)fts_set(fts, found, FTS_SKIP); /* a wish; the next too */
            continue;
        }
        status = take_found(walk, found, err);
    }
    if (fts) {
        (void)fts_close(fts); /* it was only read */
    }
    return status;
}

enum clew_status source_each(const char *path, const struct source_ops *ops,
                             int64_t *out_other, struct clew_error *err)
{
    struct walk walk = {.ops = ops};
    enum clew_status status;
    struct stat info;

    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        char *copy = alloc_string(path);

        status = copy ? take_folder(&walk, copy, err) : clew_no_memory(err);
        alloc_free(copy);
    } else {
        status = take_file(&walk, path, true, err);
    }
    if (out_other) {
        *out_other += walk.n_other;
    }
    return status;
}
