/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_use.c - slots for the models that serve. See model_use.h.
 *
 * A slot is counted: the table holds one reference, each lease another, so a
 * model that was replaced is closed by whoever leaves it last. Models are
 * opened without the lock; meanwhile others are served by what is there.
 */
#include "engine/feed/model_use.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/core/engine.h"
#include "engine/feed/feed.h"
#include "engine/feed/vector.h"
#include "index/index.h"
#include "model/embed.h"
#include "model/embed_http.h"
#include "model/model_store.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A recall does not wait longer for its question's vector. */
#define QUESTION_TIMEOUT_MS 1500
/* A model that could not be opened is tried again after this. */
#define RETRY_NS (5 * 1000000000LL)
/* A model steps back while it lacks more than 256 changes and a sixteenth of
 * all: what it lacks is found by words only. */
#define BEHIND_FREE 256
#define BEHIND_SHARE 16

struct model_slot {
    int refs; /* guarded by the table's lock */
    char name[MODEL_NAME_SIZE];
    char id[96];
    size_t dim;
    pthread_mutex_t opening;   /* guards the next two while they are NULL */
    struct embedder *embedder; /* NULL until it is needed */
    struct embedder *asker;    /* for questions; may be the same */
    struct feed_source source;
    struct index_set *indexes;
};

struct model_use {
    pthread_mutex_t lock; /* guards all below but is_stopping */
    struct model_slot *chosen;
    struct model_slot *before; /* serves until the chosen one is ready */
    bool is_known;             /* the choice has been read */
    bool is_set;               /* by model_use_set(): no longer read */
    bool is_opening;
    int64_t retry_at_ns;
    char failure[MODEL_USE_TEXT];
    atomic_bool is_stopping;
};

/* --- slots --------------------------------------------------------------- */

static void slot_free(struct model_slot *slot)
{
    if (!slot) {
        return;
    }
    index_set_close(slot->indexes);
    if (slot->asker != slot->embedder) {
        embed_free(slot->asker);
    }
    embed_free(slot->embedder);
    (void)pthread_mutex_destroy(&slot->opening);
    alloc_free(slot);
}

static enum clew_status slot_new(struct engine *engine, const char *name,
                                 const char *id, size_t dim,
                                 struct model_slot **out,
                                 struct clew_error *err)
{
    struct model_slot *slot = alloc_zero(1, sizeof(*slot));
    enum clew_status status;

    if (!slot) {
        return clew_no_memory(err);
    }
    (void)pthread_mutex_init(&slot->opening, NULL); /* cannot fail on Linux */
    slot->refs = 1;
    (void)snprintf(slot->name, sizeof(slot->name), "%s", name);
    (void)snprintf(slot->id, sizeof(slot->id), "%s", id);
    slot->dim = dim;
    slot->source =
        (struct feed_source){.engine = engine, .model = slot->id, .dim = dim};
    status = feed_open_model(&slot->source, &slot->indexes, err);
    if (status != CLEW_OK) {
        slot_free(slot);
        return status;
    }
    *out = slot;
    return CLEW_OK;
}

/* Gives one reference back; call without the lock. */
static void slot_unref(struct model_use *use, struct model_slot *slot)
{
    bool is_last;

    if (!slot) {
        return;
    }
    (void)pthread_mutex_lock(&use->lock);
    is_last = --slot->refs == 0;
    (void)pthread_mutex_unlock(&use->lock);
    if (is_last) {
        slot_free(slot);
    }
}

/* --- opening ------------------------------------------------------------- */

static const char *config_text(const struct engine *engine, const char *key)
{
    const char *text = config_str(engine->config, key);

    return text && text[0] ? text : NULL;
}

static enum clew_status open_http(struct engine *engine, size_t dim,
                                  int64_t timeout_ms, struct embedder **out,
                                  struct clew_error *err)
{
    const char *model = config_text(engine, "embed.model");
    struct embed_http_options options = {
        .url = config_text(engine, "embed.url"),
        .model = model ? model : "default",
        .key = config_text(engine, "embed.key"),
        .dim = dim,
        .timeout_ms = timeout_ms};

    return embed_http_open(&options, out, err);
}

/* The row of model_store_list() that was chosen; NULL if there is none. */
static const json_t *chosen_row(const json_t *list, const char *name)
{
    const json_t *row;
    size_t i;

    json_array_foreach (list, i, row) {
        const char *own = json_string_value(json_object_get(row, "name"));

        if (name ? own && strcmp(own, name) == 0
                 : json_is_true(json_object_get(row, "in_use"))) {
            return row;
        }
    }
    return NULL;
}

/* The slot of a model in the data folder; NULL for the shipped one. */
static enum clew_status slot_of_folder(struct engine *engine,
                                       const struct model_slot *known,
                                       struct model_slot **out,
                                       struct clew_error *err)
{
    const char *name = config_text(engine, "embed.model");
    json_t *list = NULL;
    const json_t *row;
    const char *own;
    const char *id;
    enum clew_status status = model_store_list(engine->data_dir, &list, err);

    if (status != CLEW_OK) {
        return status;
    }
    row = chosen_row(list, name);
    own = json_string_value(json_object_get(row, "name"));
    id = json_string_value(json_object_get(row, "id"));
    if (!own || !id) {
        status = clew_fail(err, CLEW_NOT_FOUND, "there is no model \"%.64s\"",
                           name ? name : "in models/current");
    } else if (strcmp(own, MODEL_NAME_STATIC) == 0) {
        *out = NULL;
    } else if (known && strcmp(id, known->id) == 0) {
        status = CLEW_CONFLICT; /* nothing new */
    } else {
        status = slot_new(
            engine, own, id,
            (size_t)json_integer_value(json_object_get(row, "dim")), out, err);
    }
    json_decref(list);
    return status;
}

static enum clew_status slot_of_http(struct engine *engine,
                                     const struct model_slot *known,
                                     struct model_slot **out,
                                     struct clew_error *err)
{
    struct embedder *embedder = NULL;
    struct embedder *asker = NULL;
    struct model_slot *slot = NULL;
    enum clew_status status;

    if (known) {
        return CLEW_CONFLICT; /* the configuration does not change */
    }
    status = open_http(engine, 0, 0, &embedder, err);
    if (status == CLEW_OK) {
        status =
            open_http(engine, embedder->dim, QUESTION_TIMEOUT_MS, &asker, err);
    }
    if (status == CLEW_OK) {
        status =
            slot_new(engine, "http", embedder->id, embedder->dim, &slot, err);
    }
    if (status != CLEW_OK) {
        embed_free(asker);
        embed_free(embedder);
        return status;
    }
    slot->embedder = embedder;
    slot->asker = asker;
    *out = slot;
    return CLEW_OK;
}

/* --- the table ----------------------------------------------------------- */

/* Half the memory each while there are two kinds of index. */
static void share_memory(struct engine *engine, struct model_use *use)
{
    size_t ram = (size_t)config_int(engine->config, "index.ram_bytes");
    size_t n = 1u + (use->chosen ? 1 : 0) + (use->before ? 1 : 0);

    index_set_limit(engine->indexes, ram / n);
    if (use->chosen) {
        index_set_limit(use->chosen->indexes, ram / n);
    }
    if (use->before) {
        index_set_limit(use->before->indexes, ram / n);
    }
}

/* Put `slot` (may be NULL) in the chosen one's place; takes the reference. */
static void install(struct engine *engine, struct model_slot *slot)
{
    struct model_use *use = engine->models;
    struct model_slot *before;
    struct model_slot *chosen;

    (void)pthread_mutex_lock(&use->lock);
    before = use->before;
    chosen = use->chosen;
    /* the shipped model needs no other to stand in for it */
    use->before = slot ? chosen : NULL;
    use->chosen = slot;
    use->failure[0] = '\0';
    share_memory(engine, use);
    (void)pthread_mutex_unlock(&use->lock);
    slot_unref(use, before);
    slot_unref(use, slot ? NULL : chosen);
}

/* True if the caller is to read the choice now. */
static bool begin_look(struct model_use *use, bool is_refresh)
{
    bool ok;

    (void)pthread_mutex_lock(&use->lock);
    ok = !use->is_set && !use->is_opening && (is_refresh || !use->is_known) &&
         (use->retry_at_ns == 0 || clock_mono_ns() >= use->retry_at_ns);
    use->is_opening = use->is_opening || ok;
    (void)pthread_mutex_unlock(&use->lock);
    return ok;
}

static void look(struct engine *engine, bool is_refresh)
{
    struct model_use *use = engine->models;
    struct clew_error err = {.status = CLEW_OK};
    struct model_slot *slot = NULL;
    enum clew_status status;

    if (!begin_look(use, is_refresh)) {
        return;
    }
    /* only this thread changes `chosen` while is_opening */
    status = config_text(engine, "embed.url")
                 ? slot_of_http(engine, use->chosen, &slot, &err)
                 : slot_of_folder(engine, use->chosen, &slot, &err);
    if (status == CLEW_OK && (slot || use->chosen)) {
        install(engine, slot);
    }
    (void)pthread_mutex_lock(&use->lock);
    use->is_known = true;
    use->is_opening = false;
    use->retry_at_ns = 0;
    if (status != CLEW_OK && status != CLEW_CONFLICT) {
        use->retry_at_ns = clock_mono_ns() + RETRY_NS;
        (void)snprintf(use->failure, sizeof(use->failure), "%.*s",
                       MODEL_USE_TEXT - 1, err.message);
    }
    (void)pthread_mutex_unlock(&use->lock);
}

enum clew_status model_use_open(struct engine *engine, struct clew_error *err)
{
    engine->models = alloc_zero(1, sizeof(*engine->models));
    if (!engine->models) {
        return clew_no_memory(err);
    }
    (void)pthread_mutex_init(&engine->models->lock, NULL);
    return CLEW_OK;
}

void model_use_close(struct engine *engine)
{
    struct model_use *use = engine->models;

    if (!use) {
        return;
    }
    slot_free(use->chosen);
    slot_free(use->before);
    (void)pthread_mutex_destroy(&use->lock);
    alloc_free(use);
    engine->models = NULL;
}

void model_use_refresh(struct engine *engine)
{
    look(engine, true);
}

enum clew_status model_use_set(struct engine *engine, struct embedder *embedder,
                               struct clew_error *err)
{
    struct model_slot *slot = NULL;
    enum clew_status status = CLEW_OK;

    if (embedder) {
        status = slot_new(engine, embedder->ops->kind, embedder->id,
                          embedder->dim, &slot, err);
    }
    if (status != CLEW_OK) {
        embed_free(embedder);
        return status;
    }
    if (slot) {
        slot->embedder = embedder;
        slot->asker = embedder;
    }
    (void)pthread_mutex_lock(&engine->models->lock);
    engine->models->is_set = true;
    engine->models->is_known = true;
    (void)pthread_mutex_unlock(&engine->models->lock);
    install(engine, slot);
    return CLEW_OK;
}

/* --- leases -------------------------------------------------------------- */

static void lease_of(struct model_slot *slot, struct model_lease *out)
{
    slot->refs++;
    out->slot = slot;
    out->indexes = slot->indexes;
    out->id = slot->id;
    out->dim = slot->dim;
}

size_t model_use_all(struct engine *engine,
                     struct model_lease out[MODEL_USE_SLOTS])
{
    struct model_use *use = engine->models;
    size_t n = 0;

    if (!use) { /* an engine of parts, as tests make it */
        return 0;
    }
    look(engine, false);
    (void)pthread_mutex_lock(&use->lock);
    if (use->chosen) {
        lease_of(use->chosen, &out[n++]);
    }
    if (use->before) {
        lease_of(use->before, &out[n++]);
    }
    (void)pthread_mutex_unlock(&use->lock);
    return n;
}

void model_use_release(struct engine *engine, struct model_lease *lease)
{
    slot_unref(engine->models, lease->slot);
    lease->slot = NULL;
}

struct progress_work {
    const char *model;
    struct vector_progress progress;
};

static enum clew_status do_progress(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    struct progress_work *work = arg;

    return vector_progress_get(tx, work->model, &work->progress, err);
}

static bool is_ready(struct engine *engine, const struct scope *scope,
                     const char *model)
{
    struct progress_work work = {.model = model};
    const struct vector_progress *at = &work.progress;

    return store_read(engine->store, scope, do_progress, &work, NULL) ==
               CLEW_OK &&
           at->ready_at != 0 &&
           at->latest - at->through <= BEHIND_FREE + at->latest / BEHIND_SHARE;
}

void model_use_lease(struct engine *engine, const struct scope *scope,
                     struct model_lease *out)
{
    struct model_lease open[MODEL_USE_SLOTS];
    size_t n = model_use_all(engine, open);
    size_t pick = 0;

    while (pick < n && !is_ready(engine, scope, open[pick].id)) {
        pick++;
    }
    for (size_t i = 0; i < n; i++) {
        if (i != pick) {
            model_use_release(engine, &open[i]);
        }
    }
    *out = pick < n ? open[pick]
                    : (struct model_lease){.indexes = engine->indexes,
                                           .id = engine->embedder->id,
                                           .dim = engine->embedder->dim};
}

bool model_use_chosen(struct engine *engine, struct model_lease *out)
{
    struct model_use *use = engine->models;
    bool ok;

    look(engine, false);
    (void)pthread_mutex_lock(&use->lock);
    ok = use->chosen != NULL;
    if (ok) {
        lease_of(use->chosen, out);
    }
    (void)pthread_mutex_unlock(&use->lock);
    return ok;
}

enum clew_status model_use_embedder(struct engine *engine,
                                    const struct model_lease *lease,
                                    bool is_question,
                                    struct embedder **out_embedder,
                                    struct clew_error *err)
{
    struct model_slot *slot = lease->slot;
    enum clew_status status = CLEW_OK;

    if (!slot) {
        *out_embedder = engine->embedder;
        return CLEW_OK;
    }
    (void)pthread_mutex_lock(&slot->opening);
    if (!slot->embedder) {
        status = model_store_open(engine->data_dir, slot->name, &slot->embedder,
                                  err);
        slot->asker = slot->embedder;
    }
    if (status == CLEW_OK && strcmp(slot->embedder->id, slot->id) != 0) {
        status = clew_fail(err, CLEW_CORRUPT,
                           "the model \"%s\" is not the one that was listed",
                           slot->name);
    }
    if (status == CLEW_OK) {
        *out_embedder = is_question ? slot->asker : slot->embedder;
    }
    (void)pthread_mutex_unlock(&slot->opening);
    return status;
}

/* --- state --------------------------------------------------------------- */

void model_use_failure(struct engine *engine, char out[MODEL_USE_TEXT])
{
    struct model_use *use = engine->models;

    (void)pthread_mutex_lock(&use->lock);
    memcpy(out, use->failure, MODEL_USE_TEXT);
    (void)pthread_mutex_unlock(&use->lock);
}

void model_use_report(struct engine *engine, const char *failure)
{
    struct model_use *use = engine->models;

    (void)pthread_mutex_lock(&use->lock);
    (void)snprintf(use->failure, sizeof(use->failure), "%s",
                   failure ? failure : "");
    (void)pthread_mutex_unlock(&use->lock);
}

void model_use_drop_old(struct engine *engine)
{
    struct model_use *use = engine->models;
    struct model_slot *old;

    (void)pthread_mutex_lock(&use->lock);
    old = use->before;
    use->before = NULL;
    share_memory(engine, use);
    (void)pthread_mutex_unlock(&use->lock);
    slot_unref(use, old);
}

void model_use_stop(struct engine *engine)
{
    atomic_store(&engine->models->is_stopping, true);
}

bool model_use_is_stopping(struct engine *engine)
{
    return atomic_load(&engine->models->is_stopping);
}
