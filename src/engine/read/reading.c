/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.c - a turn read before it is stored. See reading.h.
 */
#include "engine/read/reading.h"

#include "base/utf8.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "model/embed.h"
#include "text/machine.h"

#include <ctype.h>
#include <string.h>

/* The same length, so that a place in it is the same place in the text. */
enum clew_status reading_said(struct arena *arena, struct str text,
                              struct str *out, struct clew_error *err)
{
    size_t open;
    char *kept;

    if (machine_is_tale(text)) {
        *out = (struct str){text.s, 0};
        return CLEW_OK;
    }
    if (machine_blank(arena, text, out) != CLEW_OK) {
        return clew_no_memory(err);
    }
    open = str_find(*out, STR(READING_FENCE_OPEN), 0);
    if (open == SIZE_MAX) {
        while (out->s != text.s && out->len > 0 &&
               isspace((unsigned char)out->s[out->len - 1])) {
            out->len--;
        }
        return CLEW_OK;
    }
    text = *out;
    kept = arena_alloc(arena, text.len + 1);
    if (!kept) {
        return clew_no_memory(err);
    }
    memcpy(kept, text.s, text.len);
    while (open != SIZE_MAX) {
        size_t close = str_find(text, STR(READING_FENCE_CLOSE), open);
        size_t end = close == SIZE_MAX
                         ? text.len
                         : close + sizeof(READING_FENCE_CLOSE) - 1;

        memset(kept + open, ' ', end - open);
        kept[open] = '\n'; /* what stands around it is not one sentence */
        open = str_find(text, STR(READING_FENCE_OPEN), end);
    }
    out->s = kept;
    while (out->len > 0 && isspace((unsigned char)kept[out->len - 1])) {
        out->len--;
    }
    return CLEW_OK;
}

static enum clew_status analyse(struct arena *arena, const struct turn *turn,
                                struct str said, struct analysis *out,
                                struct clew_error *err)
{
    struct analysis_options options = {.time_ms = turn->created_at_ms,
                                       .timezone = turn->timezone,
                                       .speaker = turn->name};

    return analysis_run(arena, said, &options, out, err);
}

enum clew_status reading_analyse(struct arena *arena, const struct turn *turn,
                                 struct analysis *out, struct clew_error *err)
{
    struct str said;
    enum clew_status status = reading_said(arena, turn->text, &said, err);

    return status == CLEW_OK ? analyse(arena, turn, said, out, err) : status;
}

/* Are the parts of a reading wanted that only talk has? */
static bool is_talk(const struct engine *engine, const struct turn *turn)
{
    return engine_observes(engine) &&
           (turn->role == TURN_USER || turn->role == TURN_ASSISTANT);
}

enum clew_status reading_to_store(struct engine *engine, struct arena *arena,
                                  const struct turn *turn, struct reading *out,
                                  struct clew_error *err)
{
    struct turn seen = *turn; /* one from before redact.h has all it said */
    enum clew_status status = redact_text(engine, arena, &seen.text, err);

    if (status == CLEW_OK) {
        status = doc_text_of_turn(engine, arena, &seen, engine_observes(engine),
                                  &out->text, err);
    }
    return status == CLEW_OK && is_talk(engine, turn)
               ? reading_said(arena, seen.text, &out->said, err)
               : status;
}

/* What was said, and its analysis: that of the whole text if it is the same. */
static enum clew_status read_said(struct arena *arena, const struct turn *turn,
                                  struct reading *out, struct clew_error *err)
{
    enum clew_status status = reading_said(arena, turn->text, &out->said, err);

    if (status != CLEW_OK || out->said.s == turn->text.s) {
        out->analysis = out->text.analysis;
        return status;
    }
    return analyse(arena, turn, out->said, &out->analysis, err);
}

bool reading_is_foreign(const struct tokens *tokens)
{
    size_t n_words = 0;
    size_t n_known = 0;
    bool has_bigram = false;
    bool has_stop = false;

    if (tokens->language != TEXT_ENGLISH && tokens->language != TEXT_UNKNOWN) {
        return true;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];
        bool is_word = token->kind == TOKEN_WORD || token->kind == TOKEN_BIGRAM;

        n_words += is_word && !(token->flags & TOKEN_PART);
        has_bigram |= token->kind == TOKEN_BIGRAM;
        has_stop |= token->kind == TOKEN_WORD && token->flags & TOKEN_STOP;
        n_known += token->kind == TOKEN_WORD && token->flags & TOKEN_KNOWN &&
                   !(token->flags & TOKEN_PART);
    }
    /* "the page 漢漢漢": English with something quoted */
    return n_known * 2 < n_words && !(has_bigram && has_stop);
}

enum clew_status reading_intent(struct arena *arena, struct str text,
                                struct intent_reading *out)
{
    struct tokens tokens;
    struct str start = str_sub(text, 0, utf8_cut(text, INTENT_WINDOW_BYTES));
    enum clew_status status = intent_read(arena, text, out);

    if (status == CLEW_OK) {
        status = tokens_of(arena, start, &tokens);
    }
    if (status == CLEW_OK) {
        out->is_foreign = reading_is_foreign(&tokens);
    }
    return status;
}

enum clew_status reading_of(struct engine *engine, struct arena *arena,
                            const struct turn *turn, struct reading *out,
                            struct clew_error *err)
{
    struct turn seen = *turn;
    enum clew_status status = redact_text(engine, arena, &seen.text, err);

    turn = &seen;
    if (status == CLEW_OK) {
        status = doc_words_of_turn(engine, arena, turn, engine_observes(engine),
                                   &out->text, err);
    }
    if (status != CLEW_OK || !is_talk(engine, turn)) {
        return status;
    }
    status = read_said(arena, turn, out, err);
    if (status == CLEW_OK &&
        intent_read(arena, out->said, &out->intent) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        out->intent.is_foreign = reading_is_foreign(&out->analysis.tokens);
        status = chain_read(arena, &out->analysis, turn, &out->chains, err);
    }
    return status == CLEW_OK
               ? chain_read_vector(engine->embedder == embed_static()
                                       ? out->text.vector
                                       : NULL,
                                   turn->text, &out->chains, err)
               : status;
}
