/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the domain, opened on one store.
 *
 * Holds what every operation needs: the store, the clock, the configuration,
 * the embedder, the search indexes. One engine per process and store.
 * Thread-safety: immutable after engine_open(); what it points to is itself
 * safe to share.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/clock.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

struct agents_live;
struct config;
struct context_cache;
struct embedder;
struct feed_source;
struct index_set;
struct llm;
struct key_cache;
struct model_use;
struct replay;
struct vector_graph;

struct engine {
    struct store *store;
    struct clock *clock;
    const struct config *config;    /* borrowed; outlives the engine */
    struct embedder *embedder;      /* the shipped one, for what is committed */
    struct index_set *indexes;      /* of its vectors */
    struct feed_source *feed;       /* what they are fed from */
    struct model_use *models;       /* other models, see model_use.h */
    struct vector_graph *graph;     /* vectors in PostgreSQL; NULL: none */
    struct key_cache *keys;         /* who may call, for a moment */
    struct llm *llm;                /* NULL: none is configured */
    struct context_cache *contexts; /* NULL: built every time */
    struct agents_live *agents;     /* who makes artifacts; NULL: built-in */
    char *data_dir;        /* folder for what is kept beside the store */
    struct replay *replay; /* NULL but while a log is replayed (action.h) */
};

struct engine_options {
    const struct config *config;
    const char *data_dir;  /* made if missing; NULL = the configured one */
    const char *store_url; /* NULL = SQLite in data_dir */
    struct clock *clock;   /* NULL = the system's */
    bool must_exist;       /* do not create a new data folder */
};

/* The caller engine_close()s it. */
enum clew_status engine_open(const struct engine_options *options,
                             struct engine **out_engine,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Finishes what is under way. NULL is a no-op. */
void engine_close(struct engine *engine);

/* Are topics, memories, efforts and links looked for in turns? */
bool engine_observes(const struct engine *engine);

/* The scope of the tenant called `name`, made if it is not there. */
enum clew_status engine_tenant(struct engine *engine, const char *name,
                               struct scope *out_scope,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
