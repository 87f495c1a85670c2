/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.c - a stored turn, read once more. See seen.h.
 */
#include "engine/understand/seen.h"

#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/read/sense.h"
#include "store/store.h"

/* Turns before it among which its talk is looked for: tools' turns are none. */
#define LOOK_BACK 16

struct look {
    struct engine *engine;
    struct arena *arena;
    struct uuid turn_id;
    struct seen *out;
};

static bool is_talk(const struct turn *turn)
{
    return turn->role == TURN_USER || turn->role == TURN_ASSISTANT;
}

static enum clew_status said_of(const struct look *look, struct turn *turn,
                                struct reader_said *out, struct clew_error *err)
{
    enum clew_status status =
        redact_text(look->engine, look->arena, &turn->text, err);

    out->speaker = sense_speaker(turn->role == TURN_ASSISTANT, turn->name);
    return status == CLEW_OK
               ? reading_said(look->arena, turn->text, &out->text, err)
               : status;
}

/* The last talk before the turn, oldest first. */
static enum clew_status find_before(const struct look *look,
                                    struct store_tx *tx,
                                    const struct turn *turn,
                                    struct reader_said *out, size_t *out_count,
                                    struct clew_error *err)
{
    int64_t after = turn->seq > LOOK_BACK ? turn->seq - 1 - LOOK_BACK : 0;
    struct turn *turns = NULL;
    size_t count = 0;
    size_t first;
    enum clew_status status =
        turn_list_line(tx, look->arena, &turn->chat_id, after,
                       turn->seq - 1 - after, &turns, &count, err);
    size_t n_talk = 0;

    for (first = count; first > 0 && n_talk < SENSE_BEFORE; first--) {
        n_talk += is_talk(&turns[first - 1]);
    }
    *out_count = 0;
    for (size_t i = first; i < count && status == CLEW_OK; i++) {
        if (is_talk(&turns[i])) {
            status = said_of(look, &turns[i], &out[(*out_count)++], err);
        }
    }
    return status;
}

static enum clew_status read_turn(const struct look *look, struct store_tx *tx,
                                  struct turn *turn, struct clew_error *err)
{
    struct batch_work batch = {
        .engine = look->engine, .tx = tx, .arena = look->arena};
    struct reader_said before[SENSE_BEFORE];
    struct analysis analysis;
    struct sense_turn sense = {.analysis = &analysis, .before = before};
    struct reader_sentence *read = NULL;
    enum clew_status status = said_of(look, turn, &sense.said, err);

    if (status == CLEW_OK) {
        status = reading_analyse(look->arena, turn, &analysis, err);
    }
    if (status == CLEW_OK) {
        status = find_before(look, tx, turn, before, &sense.n_before, err);
    }
    if (status == CLEW_OK) {
        status = sense_read(&batch, &sense, &read, &look->out->gist, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    look->out->sentences = arena_zero(look->arena, analysis.n_sentences + 1,
                                      sizeof(*look->out->sentences));
    if (!look->out->sentences) {
        return clew_no_memory(err);
    }
    look->out->count = analysis.n_sentences;
    for (size_t i = 0; i < analysis.n_sentences; i++) {
        const struct span *span = &analysis.sentences[i].span;

        look->out->sentences[i] = (struct seen_sentence){
            .text = str_sub(sense.said.text, span->from, span->to),
            .read = read[i]};
    }
    return CLEW_OK;
}

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const struct look *look = arg;
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status =
        turn_find_many(tx, look->arena, &look->turn_id, 1, &turns, &count, err);

    if (status == CLEW_OK && count == 0) {
        return clew_fail(err, CLEW_NOT_FOUND, "no such turn");
    }
    return status == CLEW_OK && is_talk(turns) ? read_turn(look, tx, turns, err)
                                               : status;
}

enum clew_status seen_get(struct engine *engine, const struct scope *scope,
                          struct arena *arena, const struct uuid *turn_id,
                          struct seen *out, struct clew_error *err)
{
    struct look look = {
        .engine = engine, .arena = arena, .turn_id = *turn_id, .out = out};

    *out = (struct seen){0};
    if (!engine->reader) {
        return CLEW_OK;
    }
    out->reader = reader_id(engine->reader);
    return store_read(engine->store, scope, do_look, &look, err);
}
