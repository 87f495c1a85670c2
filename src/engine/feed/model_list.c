/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_list.c - show, choose and remove models. See model_list.h.
 */
#include "engine/feed/model_list.h"

#include "base/config.h"
#include "base/json.h"
#include "engine/core/engine.h"
#include "engine/feed/feed.h"
#include "engine/feed/model_use.h"
#include "engine/feed/reembed.h"
#include "index/index.h"
#include "model/embed.h"
#include "model/model_store.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

static const char *config_text(const struct engine *engine, const char *key)
{
    const char *text = config_str(engine->config, key);

    return text && text[0] ? text : NULL;
}

static const char *text_of(const json_t *row, const char *field)
{
    const char *text = json_string_value(json_object_get(row, field));

    return text ? text : "";
}

/* Whether the row is the one in use, the configuration being asked first. */
static bool is_used(const struct engine *engine, const json_t *row)
{
    const char *name = config_text(engine, "embed.model");

    if (config_text(engine, "embed.url")) {
        return false;
    }
    return name ? strcmp(name, text_of(row, "name")) == 0
                : json_is_true(json_object_get(row, "in_use"));
}

static enum clew_status add_progress(struct engine *engine,
                                     const struct scope *scope,
                                     struct arena *arena, json_t *row,
                                     struct clew_error *err)
{
    struct reembed_progress at = {0};
    char failure[MODEL_USE_TEXT] = "";
    const char *id = text_of(row, "id");
    bool is_static = strcmp(id, embed_static()->id) == 0;
    enum clew_status status =
        reembed_progress(engine, scope, arena, id, &at, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (is_static) { /* made with every commit */
        at.n_done = at.n_all;
        at.n_ready = at.n_tenants;
    } else if (json_is_true(json_object_get(row, "in_use"))) {
        model_use_failure(engine, failure);
    }
    if (!json_set_int(row, "done", at.n_done) ||
        !json_set_int(row, "total", at.n_all) ||
        !json_set(row, "percent",
                  json_real(at.n_all == 0 ? 100.0
                                          : 100.0 * (double)at.n_done /
                                                (double)at.n_all)) ||
        !json_set_int(row, "tenants", at.n_tenants) ||
        !json_set_int(row, "ready", at.n_ready) ||
        !json_set_cstr(row, "error", failure[0] ? failure : NULL)) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

/* The endpoint's row; its id and dimension are known once it has answered. */
static json_t *http_row(struct engine *engine)
{
    struct model_lease model = {0};
    bool is_open = model_use_chosen(engine, &model);
    json_t *row = json_pack("{s:s, s:s, s:I, s:b}", "name", "http", "id",
                            is_open ? model.id : "", "dim",
                            (json_int_t)model.dim, "in_use", 1);

    if (is_open) {
        model_use_release(engine, &model);
    }
    return row;
}

enum clew_status model_list(struct engine *engine, const struct scope *scope,
                            struct arena *arena, json_t **out,
                            struct clew_error *err)
{
    struct model_lease model;
    json_t *list = NULL;
    json_t *row;
    size_t i;
    enum clew_status status = model_store_list(engine->data_dir, &list, err);

    if (status == CLEW_OK && config_text(engine, "embed.url") &&
        json_array_append_new(list, http_row(engine)) != 0) {
        status = clew_no_memory(err);
    }
    /* looked at here, so that a name nobody knows is told of */
    if (status == CLEW_OK && model_use_chosen(engine, &model)) {
        model_use_release(engine, &model);
    }
    json_array_foreach (list, i, row) {
        if (status == CLEW_OK && strcmp(text_of(row, "name"), "http") != 0 &&
            !json_set_bool(row, "in_use", is_used(engine, row))) {
            status = clew_no_memory(err);
        }
        if (status == CLEW_OK) {
            status = add_progress(engine, scope, arena, row, err);
        }
    }
    if (status != CLEW_OK) {
        json_decref(list);
        return status;
    }
    *out = list;
    return CLEW_OK;
}

enum clew_status model_choose(struct engine *engine, const char *name,
                              struct clew_error *err)
{
    const char *key = config_text(engine, "embed.url")     ? "embed.url"
                      : config_text(engine, "embed.model") ? "embed.model"
                                                           : NULL;

    if (key) {
        return clew_fail(err, CLEW_CONFLICT,
                         "the configuration names a model (%s), which wins",
                         key);
    }
    return model_store_use(engine->data_dir, name, err);
}

static int remove_entry(const char *path, const struct stat *info, int type,
                        struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    (void)remove(path); /* what stays is swept when the model is used again */
    return 0;
}

enum clew_status model_remove(struct engine *engine, struct arena *arena,
                              const char *name, struct clew_error *err)
{
    const char *configured = config_text(engine, "embed.model");
    char dir[4096];
    json_t *list = NULL;
    json_t *row;
    size_t i;
    enum clew_status status;

    if (configured && strcmp(configured, name) == 0 &&
        !config_text(engine, "embed.url")) {
        return clew_fail(err, CLEW_CONFLICT,
                         "the model \"%s\" is in use; use another first", name);
    }
    status = model_store_list(engine->data_dir, &list, err);
    if (status == CLEW_OK) {
        status = model_store_remove(engine->data_dir, name, err);
    }
    json_array_foreach (list, i, row) {
        if (status == CLEW_OK && strcmp(text_of(row, "name"), name) == 0) {
            status = reembed_remove(engine, arena, text_of(row, "id"), err);
            feed_model_dir(engine, text_of(row, "id"), dir, sizeof(dir));
            (void)nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    json_decref(list);
    return status;
}
