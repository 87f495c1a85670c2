/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubt.c - is there anything in a stretch that the reader is unsure of?
 */
#include "engine/llmread/llmread_internal.h"

#include "engine/chat/place.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/llmread/stretch.h"
#include "engine/read/reading.h"
#include "engine/understand/observation.h"

/* Between these the reader might as well have said the other. */
#define DOUBT_FROM 0.25f
#define DOUBT_TO 0.75f

struct doubting {
    struct engine *engine;
    struct arena *arena;
    const struct stretch *stretch;
    bool is_sure;
};

static bool is_between(float p)
{
    return p > DOUBT_FROM && p < DOUBT_TO;
}

static bool is_sure_of(const struct observation *o)
{
    enum text_language language = o->analysis.tokens.language;

    if (intent_is_unsure(&o->intent) ||
        (language != TEXT_ENGLISH && language != TEXT_UNKNOWN)) {
        return false;
    }
    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        const struct reader_sentence *read = &o->read[i];
        float ends = read->act[READER_ACT_RESOLVES] +
                     read->act[READER_ACT_ABANDONS] +
                     read->act[READER_ACT_FAILS];

        if (is_between(read->keep[READER_KEEP_NONE]) ||
            is_between(read->act[READER_ACT_OPENS]) || is_between(ends)) {
            return false;
        }
    }
    return true;
}

static enum clew_status look_at(struct doubting *d, struct store_tx *tx,
                                const struct stretch_turn *own,
                                struct clew_error *err)
{
    struct batch_work batch = {
        .engine = d->engine, .tx = tx, .arena = d->arena};
    struct turn turn = own->turn;
    struct reading reading = {0};
    struct updates updates = {0};
    struct place place;
    struct placement placement = {.rule = PLACE_NAMED};
    struct turn_work work = {.batch = &batch,
                             .turn = &turn,
                             .reading = &reading,
                             .placement = &placement,
                             .updates = &updates};
    enum clew_status status =
        place_begin(&place, d->engine, tx, d->arena, &turn.chat_id, 1, err);

    if (status == CLEW_OK) {
        batch.place = &place;
        placement.slot = place_find(&place, &turn.chat_id);
        status = reading_of(d->engine, d->arena, &turn, &reading, err);
    }
    if (status == CLEW_OK) {
        status = understand_turn(&work, err);
    }
    d->is_sure =
        status == CLEW_OK && work.observation && is_sure_of(work.observation);
    return status;
}

static enum clew_status do_doubt(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct doubting *d = arg;
    enum clew_status status = CLEW_OK;

    d->is_sure = true;
    for (size_t i = 0;
         i < d->stretch->n_turns && status == CLEW_OK && d->is_sure; i++) {
        if (d->stretch->turns[i].is_own) {
            status = look_at(d, tx, &d->stretch->turns[i], err);
        }
    }
    return status;
}

enum clew_status llmread_is_sure(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct stretch *stretch, bool *out,
                                 struct clew_error *err)
{
    struct doubting d = {.engine = engine, .arena = arena, .stretch = stretch};
    enum clew_status status =
        store_read(engine->store, scope, do_doubt, &d, err);

    *out = d.is_sure;
    return status;
}
