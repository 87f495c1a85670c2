/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - open and close the domain. See open.h.
 *
 * The only file that knows every room which keeps something in the engine.
 */
#include "engine/open.h"

#include "base/alloc.h"
#include "base/config.h"
#include "base/crew.h"
#include "base/sha256.h"
#include "base/str.h"
#include "engine/ask/context.h"
#include "engine/core/engine.h"
#include "engine/feed/feed.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector_graph.h"
#include "engine/keep/agents_live.h"
#include "engine/key/key_cache.h"
#include "engine/key/secret.h"
#include "engine/read/verdicts.h"
#include "model/embed.h"
#include "model/llm.h"
#include "model/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    struct llm_options options = {
        .url = config_str(config, "llm.url"),
        .kind = config_str(config, "llm.kind"),
        .model = config_str(config, "llm.model"),
        .key = config_str(config, "llm.key"),
        .timeout_ms = config_int(config, "llm.timeout_ms"),
        .concurrency = (int)config_int(config, "llm.concurrency"),
        .clock = engine->clock};

    if (!options.url || !options.url[0]) {
        return CLEW_OK;
    }
    return llm_open(&options, &engine->llm, err);
}

/* What reads turns; rules do without it, and whoever runs the program is told
 * (engine->reader_trouble). */
static enum clew_status open_reader(struct engine *engine,
                                    struct clew_error *err)
{
    const char *file = config_str(engine->config, "reader.file");
    struct clew_error why = {.status = CLEW_OK};
    enum clew_status status;

    if (!config_bool(engine->config, "reader.on")) {
        return CLEW_OK;
    }
    status = reader_open(file && file[0] ? file : NULL, &engine->reader, &why);
    if (status == CLEW_NO_MEMORY) {
        return clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        engine->reader_trouble = alloc_string(why.message);
    }
    return CLEW_OK;
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

/*
 * Which store this is, by a key of its own, and where its indexes are: SQLite's
 * beside it, a database's in a folder that carries its name. Two stores used
 * with one data folder would else read each other's files, whose change numbers
 * mean nothing to them. Nor do they to a database that was restored from a
 * copy, key and all, and gave some of them to other rows since.
 */
static enum clew_status name_store(struct engine *engine,
                                   struct clew_error *err)
{
    unsigned char key[SECRET_SIZE];
    unsigned char digest[SHA256_SIZE];
    struct sha256 hash;
    struct store_place place = {0};
    char old[4096];
    char file[4096];
    size_t size = strlen(engine->data_dir) + 64;
    enum clew_status status = store_find_place(engine->store, &place, err);

    if (status == CLEW_OK) {
        status = secret_get(engine, "store", key, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    sha256_init(&hash);
    sha256_add(&hash, key, sizeof(key));
    if (place.database != 0) {
        sha256_add(&hash, &place.system, sizeof(place.system));
        sha256_add(&hash, &place.database, sizeof(place.database));
    }
    sha256_get(&hash, digest);
    explicit_bzero(key, sizeof(key));
    memcpy(&engine->store_id, digest, sizeof(engine->store_id));
    if (strcmp(store_backend(engine->store), "postgres") != 0) {
        return CLEW_OK;
    }
    engine->index_dir = alloc_bytes(size);
    if (!engine->index_dir) {
        return clew_no_memory(err);
    }
    (void)snprintf(engine->index_dir, size, "%s/index-%016llx",
                   engine->data_dir, (unsigned long long)engine->store_id);
    /* what an earlier version left is nobody else's; it is made anew */
    (void)snprintf(old, sizeof(old), "%s/index", engine->data_dir);
    (void)snprintf(file, sizeof(file), "%s/clew.db", engine->data_dir);
    if (access(file, F_OK) != 0 && access(engine->index_dir, F_OK) != 0) {
        (void)rename(old, engine->index_dir); /* most often there is none */
    }
    return CLEW_OK;
}

/* What stands on the open store, in this order. */
static enum clew_status open_rooms(struct engine *engine,
                                   struct clew_error *err)
{
    enum clew_status (*const steps[])(struct engine *, struct clew_error *) = {
        name_store,        open_reader, /* whose gists the index holds */
        vector_graph_open, feed_open,   load_agents, model_use_open, open_llm};
    enum clew_status status = CLEW_OK;

    engine->contexts = context_cache_new();   /* works without, slower */
    engine->crew = crew_open(crew_fitting(), NULL); /* so does this */
    engine->later = crew_open(crew_fitting(), "clew-reader"); /* and these */
    engine->verdicts = verdicts_new();
    engine->secrets = secret_memo_new();
    for (size_t i = 0;
         i < sizeof(steps) / sizeof(steps[0]) && status == CLEW_OK; i++) {
        status = steps[i](engine, err);
    }
    return status;
}

/* Of a store that was named otherwise than by the configuration it does not
 * hold; that of a configuration without store.url is refused by the store. */
static const char *read_url_of(const struct engine_options *options)
{
    const char *read_url = config_str(options->config, "store.read_url");
    bool is_meant = options->store_url ||
                    config_str(options->config, "store.url")[0] == '\0';

    return is_meant && read_url[0] != '\0' ? read_url : NULL;
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
    if (!options->must_exist || options->store_url) {
        status = make_folder(engine->data_dir, err);
        if (status != CLEW_OK) {
            goto out;
        }
    }
    store.location = options->store_url ? options->store_url : engine->data_dir;
    store.read_location = read_url_of(options);
    store.is_pooled = strcmp(config_str(options->config, "store.pooling"),
                             "transaction") == 0;
    store.must_exist = options->must_exist;
    status = store_open(&store, &engine->store, err);
    if (status == CLEW_OK) {
        status = open_rooms(engine, err);
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
    crew_close(engine->later);
    crew_close(engine->crew);
    verdicts_free(engine->verdicts);
    secret_memo_free(engine->secrets);
    reader_close(engine->reader);
    model_use_close(engine);
    feed_close(engine);
    context_cache_free(engine->contexts);
    agents_live_close(engine->agents);
    store_close(engine->store);
    vector_graph_close(engine); /* the store knows its statements */
    key_cache_free(engine->keys);
    alloc_free(engine->reader_trouble);
    alloc_free(engine->index_dir);
    alloc_free(engine->data_dir);
    alloc_free(engine);
}
