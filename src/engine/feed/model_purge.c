/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_purge.c - what was forgotten leaves every model's files. See
 * model_use.h.
 */
#include "engine/feed/model_use.h"

#include "engine/core/engine.h"
#include "engine/feed/feed.h"
#include "index/index.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 4096

/* Drop the tenant's files in the folder of a model that is not open: they are
 * made again from the tables if it is ever used. */
static enum clew_status drop_files(const char *dir, const struct scope *scope,
                                   struct clew_error *err)
{
    struct index_options options = {.dir = dir, .model = ""};
    struct index_set *set = NULL;
    enum clew_status status = index_set_open(&options, &set, err);

    if (status == CLEW_OK) {
        status = index_drop(set, scope->tenant, err);
    }
    index_set_close(set);
    return status;
}

static bool is_open_dir(const struct engine *engine,
                        const struct model_lease *open, size_t n,
                        const char *dir)
{
    char own[PATH_BYTES];

    for (size_t i = 0; i < n; i++) {
        feed_model_dir(engine, open[i].id, own, sizeof(own));
        if (strcmp(own, dir) == 0) {
            return true;
        }
    }
    return false;
}

static enum clew_status purge_closed(struct engine *engine,
                                     const struct scope *scope,
                                     const struct model_lease *open, size_t n,
                                     struct clew_error *err)
{
    char folder[PATH_BYTES - 80];
    char path[PATH_BYTES];
    enum clew_status status = CLEW_OK;
    DIR *dir;

    feed_dir(engine, folder, sizeof(folder));
    dir = opendir(folder);
    for (struct dirent *entry = dir ? readdir(dir) : NULL;
         entry && status == CLEW_OK; entry = readdir(dir)) {
        if (strncmp(entry->d_name, "m-", 2) == 0) {
            (void)snprintf(path, sizeof(path), "%s/%.64s", folder,
                           entry->d_name);
            if (!is_open_dir(engine, open, n, path)) {
                status = drop_files(path, scope, err);
            }
        }
    }
    if (dir) {
        (void)closedir(dir); /* it was only read */
    }
    return status;
}

enum clew_status model_use_purge(struct engine *engine,
                                 const struct scope *scope,
                                 struct clew_error *err)
{
    struct model_lease open[MODEL_USE_SLOTS];
    size_t n = model_use_all(engine, open);
    enum clew_status status = purge_closed(engine, scope, open, n, err);

    for (size_t i = 0; i < n; i++) {
        if (status == CLEW_OK) {
            status = index_purge(open[i].indexes, scope->tenant, err);
        }
        model_use_release(engine, &open[i]);
    }
    return status;
}
