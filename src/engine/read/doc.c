/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.c - texts analysed and embedded, and made documents. See doc.h.
 */
#include "engine/read/doc.h"

#include "engine/chat/content.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "index/doc.h"
#include "model/embed.h"

#include <string.h>

static enum clew_status analyse(struct engine *engine, struct arena *arena,
                                struct str text,
                                const struct analysis_options *options,
                                struct doc_text *out, struct clew_error *err)
{
    float *vector = arena_zero(arena, engine->embedder->dim, sizeof(*vector));
    enum clew_status status;

    if (!vector) {
        return clew_no_memory(err);
    }
    status = analysis_run(arena, text, options, &out->analysis, err);
    if (status == CLEW_OK) {
        status = embed_run(engine->embedder, &text, 1, vector, err);
    }
    out->vector = vector;
    out->halves = NULL;
    out->searched = NULL;
    return status;
}

/* The vectors of the halves of a longer text. */
static enum clew_status embed_halves(struct engine *engine, struct arena *arena,
                                     struct str speaker, struct doc_text *text,
                                     struct clew_error *err)
{
    size_t middle = doc_middle(&text->analysis, speaker);
    struct str whole = text->analysis.text;
    struct str halves[2] = {str_sub(whole, 0, middle),
                            str_sub(whole, middle, whole.len)};
    float *vectors;

    if (middle == 0) {
        return CLEW_OK;
    }
    vectors = arena_zero(arena, 2 * engine->embedder->dim, sizeof(*vectors));
    text->halves = vectors;
    return vectors ? embed_run(engine->embedder, halves, 2, vectors, err)
                   : clew_no_memory(err);
}

/* Analyse and embed a text said at `time_ms`, for the index alone: without
 * keywords. */
static enum clew_status doc_text_of(struct engine *engine, struct arena *arena,
                                    struct str text, int64_t time_ms,
                                    struct doc_text *out,
                                    struct clew_error *err)
{
    struct analysis_options options = {.time_ms = time_ms,
                                       .has_no_keywords = true};

    return analyse(engine, arena, text, &options, out, err);
}

enum clew_status doc_searched(const struct engine *engine, struct arena *arena,
                              const struct turn *turn, struct str *out,
                              struct clew_error *err)
{
    struct str content = turn->content;
    struct str inputs;
    enum clew_status status = content_inputs(arena, content, &inputs);

    *out = turn->text;
    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (inputs.len == 0) {
        return CLEW_OK;
    }
    /* a field's name says more of its value than a line of text can */
    if (redact_mode(engine) != REDACT_OFF) {
        status = redact_json(arena, &content, err);
    }
    if (status == CLEW_OK && content.s != turn->content.s &&
        content_inputs(arena, content, &inputs) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = redact_text(engine, arena, &inputs, err);
    }
    if (status == CLEW_OK) {
        *out = str_of(arena_printf(arena, "%.*s\n%.*s", (int)turn->text.len,
                                   turn->text.s, (int)inputs.len, inputs.s));
        status = out->s ? CLEW_OK : clew_no_memory(err);
    }
    return status;
}

/* What was said and what the tools were given are its two halves. */
static enum clew_status add_inputs(struct engine *engine, struct arena *arena,
                                   const struct turn *turn,
                                   struct doc_text *text,
                                   struct clew_error *err)
{
    struct analysis_options options = {.time_ms = turn->created_at_ms,
                                       .timezone = turn->timezone,
                                       .speaker = turn->name,
                                       .has_no_keywords = true};
    struct doc_text *searched;
    struct str whole;
    struct str halves[2];
    float *vectors;
    enum clew_status status = doc_searched(engine, arena, turn, &whole, err);

    if (status != CLEW_OK || whole.len == turn->text.len) {
        return status;
    }
    halves[0] = str_sub(whole, 0, turn->text.len);
    halves[1] = str_sub(whole, turn->text.len + 1, whole.len);
    searched = arena_zero(arena, 1, sizeof(*searched));
    vectors = arena_zero(arena, 2 * engine->embedder->dim, sizeof(*vectors));
    if (!searched || !vectors) {
        return clew_no_memory(err);
    }
    status = analyse(engine, arena, whole, &options, searched, err);
    if (status == CLEW_OK) {
        status = embed_run(engine->embedder, halves, 2, vectors, err);
    }
    searched->halves = vectors;
    text->searched = searched;
    return status;
}

enum clew_status doc_words_of_turn(struct engine *engine, struct arena *arena,
                                   const struct turn *turn, bool has_keywords,
                                   struct doc_text *out, struct clew_error *err)
{
    struct analysis_options options = {.time_ms = turn->created_at_ms,
                                       .timezone = turn->timezone,
                                       .speaker = turn->name,
                                       .has_no_keywords = !has_keywords};

    return analyse(engine, arena, turn->text, &options, out, err);
}

enum clew_status doc_text_of_turn(struct engine *engine, struct arena *arena,
                                  const struct turn *turn, bool has_keywords,
                                  struct doc_text *out, struct clew_error *err)
{
    enum clew_status status =
        doc_words_of_turn(engine, arena, turn, has_keywords, out, err);

    if (status == CLEW_OK) {
        status = embed_halves(engine, arena, turn->name, out, err);
    }
    return status == CLEW_OK ? add_inputs(engine, arena, turn, out, err)
                             : status;
}

static uint32_t role_flags(const struct turn *turn)
{
    uint32_t flags = turn->name.s ? INDEX_NAMED : 0;

    switch (turn->role) {
    case TURN_USER:
        return flags | INDEX_BY_USER;
    case TURN_ASSISTANT:
        return flags | INDEX_BY_ASSISTANT;
    case TURN_SYSTEM:
    case TURN_TOOL:
        break;
    }
    return flags;
}

enum clew_status doc_of_turn(struct arena *arena, const struct turn *turn,
                             const struct doc_text *text, struct index_doc *out,
                             struct clew_error *err)
{
    text = text->searched ? text->searched : text;
    memset(out, 0, sizeof(*out));
    out->kind = INDEX_TURN;
    out->id = turn->id;
    out->chat = turn->chat_id;
    out->user = turn->user_id;
    out->seq = turn->seq;
    out->created_at_ms = turn->created_at_ms;
    out->change_seq = turn->change_seq;
    out->flags = role_flags(turn);
    out->vector = text->vector;
    out->halves = text->halves;
    return doc_fill(arena, &text->analysis, turn->name, out, err);
}

enum clew_status doc_of_text(struct engine *engine, struct arena *arena,
                             struct str words, struct index_doc *doc,
                             struct clew_error *err)
{
    struct doc_text text;
    enum clew_status status;

    if (!words.s) {
        return clew_no_memory(err);
    }
    status = doc_text_of(engine, arena, words, doc->created_at_ms, &text, err);
    if (status != CLEW_OK) {
        return status;
    }
    doc->vector = text.vector;
    return doc_fill(arena, &text.analysis, (struct str){NULL, 0}, doc, err);
}
