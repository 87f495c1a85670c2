/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_name.c - a turn that says nothing names a chat until another one does.
 * See chat_name.h.
 */
#include "engine/understand/chat_name.h"

#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/work.h"
#include "engine/understand/observation.h"
#include "text/title.h"

/* How sure the reader is that a sentence is worth nothing and does nothing:
 * anywhere, where a talk begins, and of a question. */
#define NO_KEEP 0.97f
#define NO_ACT 0.99f
#define NO_KEEP_START 0.60f
#define NO_ACT_START 0.95f
#define NO_ACT_ASKED 0.995f
/* A longer question asks something, in words and in bytes of a script without
 * them. */
#define ASKED_WORDS 4
#define ASKED_BYTES 32

/* A turn that says nothing is short. */
#define EMPTY_BYTES 120

static bool is_asked(struct str text)
{
    text = str_trim(text);
    return str_ends(text, STR("?")) || str_ends(text, STR("\xef\xbc\x9f"));
}

static bool is_short(const struct analysis *analysis, size_t at)
{
    const struct span *span = &analysis->sentences[at].span;
    size_t n = 0;

    for (size_t i = 0; i < analysis->tokens.count; i++) {
        const struct token *token = &analysis->tokens.items[i];

        n += token->from >= span->from && token->to <= span->to &&
             token->kind != TOKEN_PUNCT;
    }
    return n <= ASKED_WORDS && span->to - span->from <= ASKED_BYTES;
}

/* Does the sentence say nothing, as it was read? */
static bool is_empty(const struct analysis *analysis,
                     const struct reader_sentence *read, size_t at,
                     bool is_question, bool is_start)
{
    struct str text = str_sub(analysis->text, analysis->sentences[at].span.from,
                              analysis->sentences[at].span.to);
    bool asks = is_asked(text) || is_question;
    float least = asks ? NO_ACT_ASKED : is_start ? NO_ACT_START : NO_ACT;

    return read[at].act[READER_ACT_NONE] >= least &&
           read[at].keep[READER_KEEP_NONE] >=
               (is_start && !asks ? NO_KEEP_START : NO_KEEP) &&
           (!asks || is_short(analysis, at));
}

bool chat_name_is_empty(const struct observation *o, size_t first, size_t end,
                        bool is_start)
{
    bool is_question = o->intent.act == INTENT_QUESTION;

    if (!o->work->batch->engine->reader || o->is_told || end <= first ||
        end > o->analysis.n_sentences) {
        return false;
    }
    for (size_t i = first; i < end; i++) {
        if (!is_empty(&o->analysis, o->read, i, is_question, is_start)) {
            return false;
        }
    }
    return true;
}

/* The same of a turn before, which has to be read for it. */
static enum clew_status was_empty(const struct observation *o, size_t previous,
                                  bool *out, struct clew_error *err)
{
    const struct talk_line *line = &o->previous[previous];
    struct analysis_options options = {.time_ms = line->time_ms};
    struct analysis analysis;
    struct intent intent;
    struct sense_turn turn = {
        .said = {sense_speaker(false, line->speaker), line->text},
        .analysis = &analysis,
        .intent = &intent};
    struct reader_sentence *read = NULL;
    enum clew_status status =
        analysis_run(o->arena, line->text, &options, &analysis, err);

    *out = false;
    if (status == CLEW_OK &&
        intent_of(o->arena, line->text, STR(""), &intent) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = sense_read(o->work->batch, &turn, &read, NULL, err);
    }
    *out = status == CLEW_OK && analysis.n_sentences > 0;
    for (size_t i = 0; *out && i < analysis.n_sentences; i++) {
        *out =
            is_empty(&analysis, read, i, intent.act == INTENT_QUESTION, true);
    }
    return status;
}

/* Is the chat called after a turn before this one that says nothing? */
static enum clew_status is_misnamed(const struct observation *o,
                                    struct str title, bool *out,
                                    struct clew_error *err)
{
    *out = false;
    for (size_t i = 0; i < o->n_previous; i++) {
        struct str name = {0};

        if (o->previous[i].role != TALK_USER ||
            o->previous[i].text.len > EMPTY_BYTES) {
            continue;
        }
        if (title_of(o->arena, o->previous[i].text, &name) != CLEW_OK) {
            return clew_no_memory(err);
        }
        if (name.s && str_eq(name, title)) {
            return was_empty(o, i, out, err);
        }
    }
    return CLEW_OK;
}

enum clew_status chat_name_observe(struct turn_work *work,
                                   struct clew_error *err)
{
    struct place_chat *slot = work->placement->slot;
    const struct observation *o = work->observation;
    struct str name = {0};
    bool is_wrong = false;
    enum clew_status status = CLEW_OK;

    if (!o || work->turn->role != TURN_USER || slot->chat.is_titled_by_user ||
        !slot->chat.title.s || chat_is_subtask(&slot->chat) ||
        !work->batch->engine->reader ||
        chat_name_is_empty(o, 0, o->analysis.n_sentences, true)) {
        return CLEW_OK;
    }
    if (title_of(work->batch->arena, work->turn->text, &name) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (name.s) {
        status = is_misnamed(o, slot->chat.title, &is_wrong, err);
    }
    if (status == CLEW_OK && is_wrong) {
        slot->chat.title = name;
        slot->is_dirty = true;
    }
    return status;
}
