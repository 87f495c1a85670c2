/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - open and close the domain; find tenants. See engine.h.
 */
#include "engine/engine.h"

#include "base/alloc.h"
#include "base/config.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/agents_live.h"
#include "engine/context.h"
#include "engine/feed.h"
#include "engine/key_cache.h"
#include "engine/model_use.h"
#include "engine/vector_graph.h"
#include "model/embed.h"
#include "model/llm.h"
#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

DB_SQL_SYSTEM(SELECT_TENANT, "SELECT tenant FROM tenants WHERE name = $1");
DB_SQL_SYSTEM(
    INSERT_TENANT,
    "INSERT INTO tenants (tenant, name, created_at, change_seq)"
    " SELECT COALESCE(MAX(tenant), 0) + 1, $1, $2, 0 FROM tenants WHERE 1 = 1"
    " ON CONFLICT (name) DO NOTHING");

/* mkdir -p with 0700 for what is new. */
static enum clew_status make_folder(const char *path, struct clew_error *err)
{
    char *copy = alloc_string(path);
    enum clew_status status = CLEW_OK;

    if (!copy) {
        return clew_no_memory(err);
    }
    for (char *at = copy + 1;; at++) {
        char c = *at;

        if (c != '/' && c != '\0') {
            continue;
        }
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST) {
            status = clew_fail(err, CLEW_UNAVAILABLE,
                               "could not make the folder \"%.200s\": %s", copy,
                               strerror(errno));
            break;
        }
        *at = c;
        if (c == '\0') {
            break;
        }
    }
    alloc_free(copy);
    return status;
}

/* The language model, if one is configured. */
static enum clew_status open_llm(struct engine *engine, struct clew_error *err)
{
    const struct config *config = engine->config;
    struct llm_options options = {.url = config_str(config, "llm.url"),
                                  .kind = config_str(config, "llm.kind"),
                                  .model = config_str(config, "llm.model"),
                                  .key = config_str(config, "llm.key"),
                                  .timeout_ms =
                                      config_int(config, "llm.timeout_ms"),
                                  .clock = engine->clock};

    if (!options.url || !options.url[0]) {
        return CLEW_OK;
    }
    return llm_open(&options, &engine->llm, err);
}

/* The packages beside the configuration file; broken ones are left out. */
static enum clew_status load_agents(struct engine *engine,
                                    struct clew_error *err)
{
    char folder[4096];
    int len = snprintf(folder, sizeof(folder), "%s/agents",
                       config_dir(engine->config));

    if (len < 0 || (size_t)len >= sizeof(folder)) {
        return CLEW_OK; /* no such folder can be there */
    }
    return agents_live_open(folder, &engine->agents, err);
}

enum clew_status engine_open(const struct engine_options *options,
                             struct engine **out_engine, struct clew_error *err)
{
    struct engine *engine = alloc_zero(1, sizeof(*engine));
    struct store_options store = {0};
    enum clew_status status;

    if (!engine) {
        return clew_no_memory(err);
    }
    engine->config = options->config;
    engine->clock = options->clock ? options->clock : &clock_system;
    engine->embedder = embed_static();
    engine->data_dir =
        alloc_string(options->data_dir ? options->data_dir
                                       : config_data_dir(options->config));
    if (engine->data_dir) {
        engine->keys = key_cache_new(engine->data_dir);
    }
    if (!engine->keys) {
        status = clew_no_memory(err);
        goto out;
    }
    if (!options->must_exist) {
        status = make_folder(engine->data_dir, err);
        if (status != CLEW_OK) {
            goto out;
        }
    }
    store.location = options->store_url ? options->store_url : engine->data_dir;
    store.must_exist = options->must_exist;
    status = store_open(&store, &engine->store, err);
    if (status == CLEW_OK) {
        status = vector_graph_open(engine, err);
    }
    if (status == CLEW_OK) {
        status = feed_open(engine, err);
    }
    engine->contexts = context_cache_new(); /* works without, slower */
    if (status == CLEW_OK) {
        status = load_agents(engine, err);
    }
    if (status == CLEW_OK) {
        status = model_use_open(engine, err);
    }
    if (status == CLEW_OK) {
        status = open_llm(engine, err);
    }
    if (status != CLEW_OK) {
        goto out;
    }
    *out_engine = engine;
    engine = NULL;
out:
    engine_close(engine);
    return status;
}

void engine_close(struct engine *engine)
{
    if (!engine) {
        return;
    }
    llm_close(engine->llm);
    model_use_close(engine);
    feed_close(engine);
    context_cache_free(engine->contexts);
    agents_live_close(engine->agents);
    store_close(engine->store);
    vector_graph_close(engine); /* the store knows its statements */
    key_cache_free(engine->keys);
    alloc_free(engine->data_dir);
    alloc_free(engine);
}

struct tenant_work {
    struct str name;
    int64_t now_ms;
    int64_t tenant; /* 0 = not found */
};

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct tenant_work *work = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_TENANT, DB_ARGS(db_text(work->name)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    work->tenant = db_next(&rows) ? db_get_int(&rows, 0) : 0;
    return db_end(&rows, err);
}

static enum clew_status do_make(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct tenant_work *work = arg;
    enum clew_status status =
        db_exec(tx, &INSERT_TENANT,
                DB_ARGS(db_text(work->name), db_int(work->now_ms)), err);

    return status == CLEW_OK ? do_find(tx, arg, err) : status;
}

bool engine_observes(const struct engine *engine)
{
    return config_bool(engine->config, "capture.observe");
}

enum clew_status engine_tenant(struct engine *engine, const char *name,
                               struct scope *out_scope, struct clew_error *err)
{
    struct tenant_work work = {.name = str_of(name),
                               .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status;

    if (work.name.len == 0 || work.name.len > LIMIT_NAME_BYTES) {
        return clew_fail_field(err, "tenant",
                               "a tenant's name has 1 to %d bytes",
                               LIMIT_NAME_BYTES);
    }
    if (key_cache_get_tenant(engine->keys, work.name, &out_scope->tenant)) {
        return CLEW_OK;
    }
    status = store_read_system(engine->store, do_find, &work, err);
    if (status == CLEW_OK && work.tenant == 0) {
        status = store_write_system(engine->store, do_make, &work, err);
    }
    if (status == CLEW_OK) {
        key_cache_put_tenant(engine->keys, work.name, work.tenant);
        out_scope->tenant = work.tenant;
    }
    return status;
}
