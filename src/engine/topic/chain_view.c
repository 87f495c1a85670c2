/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_view.c - chains as they are listed and looked at, a fork's with those
 * of its line. See chain.h.
 */
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/topic/chain.h"
#include "engine/topic/chain_fork.h"

struct list_work {
    struct engine *engine;
    struct arena *arena;
    const struct chain_filter *filter;
    struct chain *chains;
    size_t count;
};

/* A fork that has not gone on yet has the chains of its line. */
static enum clew_status add_above(struct store_tx *tx, struct list_work *work,
                                  struct clew_error *err)
{
    const struct chain_filter *f = work->filter;
    struct chain *chains = NULL;
    struct chat chat;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status =
        chat_find(tx, work->arena, &f->chat_id, &chat, NULL);

    if (status != CLEW_OK || uuid_is_nil(&chat.parent_id) || work->count > 0 ||
        f->before_time_ms) {
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    status = chain_list_above(work->engine, tx, work->arena, &chat,
                              CHAIN_FORK_OPEN, &chains, &count, err);
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (!f->state.s ||
            str_eq(f->state, str_of(chain_phase_name(chains[i].phase)))) {
            chains[i].id = chains[i].twin_of; /* it has no other yet */
            chains[n++] = chains[i];
        }
    }
    work->chains = chains;
    work->count = n < (size_t)f->limit ? n : (size_t)f->limit;
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_work *work = arg;
    bool is_of_chat = uuid_is_nil(&work->filter->session_id) &&
                      !uuid_is_nil(&work->filter->chat_id);
    enum clew_status status = chain_list_rows(tx, work->arena, work->filter,
                                              &work->chains, &work->count, err);

    return status == CLEW_OK && is_of_chat ? add_above(tx, work, err) : status;
}

enum clew_status chain_list(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct chain_filter *filter,
                            struct chain **out_chains, size_t *out_count,
                            struct clew_error *err)
{
    struct list_work work = {
        .engine = engine, .arena = arena, .filter = filter};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_chains = work.chains;
        *out_count = work.count;
    }
    return status;
}

struct get_work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    struct chain_detail *out;
};

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct get_work *work = arg;
    struct chain_detail *out = work->out;
    enum clew_status status =
        chain_find(tx, work->arena, work->id, &out->chain, err);

    if (status == CLEW_OK) {
        status =
            chain_claims(work->engine, tx, work->arena, work->id,
                         CHAIN_VIEW_MAX, &out->claims, &out->n_claims, err);
    }
    if (status == CLEW_OK && !uuid_is_nil(&out->chain.twin_of)) {
        status = chain_claims_line(work->engine, tx, work->arena, &out->chain,
                                   &out->claims, &out->n_claims, err);
    }
    return status == CLEW_OK
               ? chain_list_events(tx, work->arena, work->id, CHAIN_VIEW_MAX,
                                   &out->events, &out->n_events, err)
               : status;
}

enum clew_status chain_get(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *id,
                           struct chain_detail *out, struct clew_error *err)
{
    struct get_work work = {engine, arena, id, out};

    return store_read(engine->store, scope, do_get, &work, err);
}
