/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.c - what there is to read. See survey.h.
 */
#include "engine/llmread/survey.h"

#include "base/limits.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/llmread/earlier.h"
#include "engine/llmread/llmread.h"
#include "engine/llmread/prompt.h"
#include "engine/llmread/stretch.h"
#include "store/db.h"
#include "text/analysis.h"

#define AFTER                                                                  \
    " AND (last_activity_at > $3 OR (last_activity_at = $3 AND id > $4))"      \
    " ORDER BY last_activity_at, id LIMIT $5"
DB_SQL(SELECT_CHATS, "SELECT id, last_activity_at FROM chats WHERE tenant = $1"
                     " AND ($2 = '' OR user_id = $2)" AFTER);

struct listing {
    struct str user_id;
    const struct survey_place *after;
    struct rows_list list;
};

static bool place_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct survey_place *out = item;

    (void)arena;
    out->chat_id = db_get_uuid(rows, 0);
    out->last_activity_ms = db_get_int(rows, 1);
    return true;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct listing *l = arg;
    bool is_first = uuid_is_nil(&l->after->chat_id);

    l->list.count = 0;
    return rows_add(
        tx, &l->list, &SELECT_CHATS,
        DB_ARGS(db_text(l->user_id.s ? l->user_id : STR("")),
                db_int(is_first ? INT64_MIN : l->after->last_activity_ms),
                db_uuid(&l->after->chat_id), db_int(SURVEY_PAGE)),
        err);
}

enum clew_status survey_chats(struct engine *engine, const struct scope *scope,
                              struct arena *arena, struct str user_id,
                              const struct survey_place *after,
                              struct survey_place **out, size_t *out_count,
                              struct clew_error *err)
{
    struct listing l = {.user_id = user_id,
                        .after = after,
                        .list = {.arena = arena,
                                 .size = sizeof(struct survey_place),
                                 .fn = place_of}};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &l, err);

    *out = l.list.items;
    *out_count = l.list.count;
    return status;
}

struct looking {
    struct engine *engine;
    struct arena *arena;
    struct uuid chat_id;
    int64_t after_seq; /* < 0: from where it was read to */
    struct stretch stretch;
};

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct looking *l = arg;
    enum clew_status status =
        l->after_seq < 0
            ? llmread_through(tx, l->arena, &l->chat_id, &l->after_seq, err)
            : CLEW_OK;

    if (status == CLEW_OK) {
        status = stretch_load(l->engine, tx, l->arena, &l->chat_id,
                              l->after_seq, 0, &l->stretch, err);
    }
    return status == CLEW_OK ? earlier_load(l->engine, tx, l->arena,
                                            l->after_seq, &l->stretch, err)
                             : status;
}

/* The stretches of one chat. `*out_over`: nobody wants more. */
static enum clew_status look_through(struct engine *engine,
                                     const struct scope *scope,
                                     const struct uuid *chat_id, survey_fn fn,
                                     void *arg, struct survey *out,
                                     bool *out_over, struct clew_error *err)
{
    struct looking l = {.engine = engine, .chat_id = *chat_id, .after_seq = -1};
    struct arena arena;
    enum clew_status status;
    bool is_more = true;
    bool is_any = false;

    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    l.arena = &arena;
    do {
        struct llm_request request;

        arena_clear(&arena);
        status = store_read(engine->store, scope, do_look, &l, err);
        is_more = status == CLEW_OK && l.stretch.n_own > 0;
        if (is_more) {
            status = prompt_write(&arena, &l.stretch, NULL, &request, err);
        }
        if (!is_more || status != CLEW_OK) {
            break;
        }
        is_any = true;
        out->n_stretches++;
        out->n_turns += (int64_t)l.stretch.n_own;
        out->input_tokens +=
            (int64_t)(text_token_estimate(request.system) +
                      text_token_estimate(str_of(request.schema)) +
                      text_token_estimate(request.prompt));
        out->output_tokens_most += request.max_tokens;
        *out_over = fn && !fn(arg, &l.stretch, &request);
        l.after_seq = l.stretch.through_seq;
    } while (!*out_over && l.stretch.is_full);
    arena_release(&arena);
    out->n_chats += is_any;
    return status;
}

enum clew_status survey_run(struct engine *engine, const struct scope *scope,
                            struct str user_id, survey_fn fn, void *arg,
                            struct survey *out, struct clew_error *err)
{
    struct survey_place after = {0};
    bool is_over = false;
    size_t count = 0;
    enum clew_status status;

    *out = (struct survey){0};
    do {
        struct survey_place *places = NULL;
        struct arena arena;

        arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
        status = survey_chats(engine, scope, &arena, user_id, &after, &places,
                              &count, err);
        for (size_t i = 0; i < count && status == CLEW_OK && !is_over; i++) {
            status = look_through(engine, scope, &places[i].chat_id, fn, arg,
                                  out, &is_over, err);
            after = places[i];
        }
        arena_release(&arena);
    } while (status == CLEW_OK && !is_over && count == SURVEY_PAGE);
    return status;
}
