/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_name.c - a turn that says nothing names no chat. See chat_name.h.
 */
#include "engine/understand/chat_name.h"

#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
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

static bool is_asked(struct str text)
{
    text = str_trim(text);
    return str_ends(text, STR("?")) || str_ends(text, STR("\xef\xbc\x9f"));
}

static bool is_short(const struct observation *o, size_t at)
{
    const struct span *span = &o->analysis.sentences[at].span;
    size_t n = 0;

    for (size_t i = 0; i < o->analysis.tokens.count; i++) {
        const struct token *token = &o->analysis.tokens.items[i];

        n += token->from >= span->from && token->to <= span->to &&
             token->kind != TOKEN_PUNCT;
    }
    return n <= ASKED_WORDS && span->to - span->from <= ASKED_BYTES;
}

bool chat_name_is_empty(const struct observation *o, size_t first, size_t end,
                        bool is_start)
{
    if (!o->work->batch->engine->reader || o->is_told || end <= first ||
        end > o->analysis.n_sentences) {
        return false;
    }
    for (size_t i = first; i < end; i++) {
        const struct reader_sentence *read = &o->read[i];
        struct str text =
            str_sub(o->analysis.text, o->analysis.sentences[i].span.from,
                    o->analysis.sentences[i].span.to);
        bool asks = is_asked(text) || o->intent.act == INTENT_QUESTION;
        float least = asks ? NO_ACT_ASKED : is_start ? NO_ACT_START : NO_ACT;

        if (read->act[READER_ACT_NONE] < least ||
            read->keep[READER_KEEP_NONE] <
                (is_start && !asks ? NO_KEEP_START : NO_KEEP) ||
            (asks && !is_short(o, i))) {
            return false;
        }
    }
    return true;
}

enum clew_status chat_name_observe(struct turn_work *work,
                                   struct clew_error *err)
{
    struct place_chat *slot = work->placement->slot;
    const struct observation *o = work->observation;
    struct str name = {0};
    bool is_empty;

    if (!o || work->turn->role != TURN_USER || slot->chat.is_titled_by_user ||
        chat_is_subtask(&slot->chat)) {
        return CLEW_OK;
    }
    if (title_of(work->batch->arena, work->turn->text, &name) != CLEW_OK) {
        return clew_no_memory(err);
    }
    is_empty = chat_name_is_empty(o, 0, o->analysis.n_sentences, true);
    if (is_empty && slot->chat.title.s && name.s &&
        str_eq(slot->chat.title, name)) {
        slot->chat.title = (struct str){0};
        slot->is_dirty = true;
    } else if (!is_empty && !slot->chat.title.s && name.s) {
        slot->chat.title = name;
        slot->is_dirty = true;
    }
    return CLEW_OK;
}
