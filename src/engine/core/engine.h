/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the domain, opened on one store.
 *
 * Holds what every operation needs: the store, the clock, the configuration,
 * the embedder, the search indexes. One engine per process and store.
 * open.h makes one. Thread-safety: immutable after engine_open(); what it
 * points to is itself safe to share.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/clock.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdatomic.h>
#include <stdint.h>

struct agents_live;
struct config;
struct context_cache;
struct crew;
struct embedder;
struct feed_source;
struct index_set;
struct llm;
struct key_cache;
struct model_use;
struct reader;
struct replay;
struct vector_graph;
struct secret_memo;
struct verdicts;

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
    struct secret_memo *secrets;    /* the program's own keys; NULL: not kept */
    struct reader *reader;          /* what turns mean; NULL: rules read */
    char *reader_trouble;           /* why there is none; NULL: as wished */
    atomic_bool is_stopping;        /* long work breaks off between two steps */
    struct crew *crew;              /* reads side by side; NULL: alone */
    struct crew *later;             /* the same for what nobody waits for */
    struct verdicts *verdicts;      /* what was read before; NULL: nothing */
    struct llm *llm;                /* NULL: none is configured */
    struct context_cache *contexts; /* NULL: built every time */
    struct agents_live *agents;     /* who makes artifacts; NULL: built-in */
    char *data_dir;    /* folder for what is kept beside the store */
    char *index_dir;   /* of its indexes; NULL = <data_dir>/index */
    uint64_t store_id; /* of the store's own; indexes of another are not used */
    _Atomic int64_t tasks_trimmed_ms; /* of tasks done before, few are left */
    struct replay *replay; /* NULL but while a log is replayed (action.h) */
};

/* Are topics, memories, efforts and links looked for in turns? */
bool engine_observes(const struct engine *engine);
/* Who helps the calling thread; NULL: nobody. */
struct crew *engine_crew(const struct engine *engine);

#endif
