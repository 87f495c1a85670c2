/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_points.c - sort a talk's sentences. See summary_points.h.
 */
#include "text/summary_points.h"

#include "text/settled.h"
#include "text/smalltalk.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *const want_starts[] = {
    "i want",      "i'd like",     "i would like", "i need",    "we need",
    "we want",     "we'd like",    "can you",      "could you", "please",
    "help me",     "help us",      "how do",       "how can",   "i'm trying",
    "i am trying", "we're trying", "let's figure", "i have to", "we have to"};

/* At its start, or where a clause of it starts: "…, and I'd like to know". */
static bool is_want(struct str text)
{
    for (size_t i = 0; i < COUNT(want_starts); i++) {
        size_t at = str_ifind(text, str_of(want_starts[i]), 0);

        if (at == 0 || (at != SIZE_MAX && want_starts[i][0] == 'i' &&
                        text.s[at - 1] == ' ')) {
            return true;
        }
    }
    return false;
}

/* Did the other side speak after it? */
static bool is_answered(const struct summary_turn *turns, size_t count,
                        size_t turn)
{
    for (size_t i = turn + 1; i < count; i++) {
        if (turns[i].is_user != turns[turn].is_user) {
            return true;
        }
    }
    return false;
}

/* Add a point; of wishes the first ones stay, of the others the last. */
static void add(struct summary_points *out, enum summary_point_kind kind,
                size_t turn, struct str text)
{
    struct summary_point *list = out->of[kind];
    struct summary_point point = {turn, text};

    if (out->n[kind] == SUMMARY_MAX_POINTS) {
        if (kind == SUMMARY_WANTED) {
            return;
        }
        memmove(list, list + 1, (SUMMARY_MAX_POINTS - 1) * sizeof(*list));
        out->n[kind]--;
    }
    list[out->n[kind]++] = point;
}

static bool has_point(const struct summary_points *out, struct str text)
{
    for (size_t k = 0; k < SUMMARY_POINT_KINDS; k++) {
        for (size_t i = 0; i < out->n[k]; i++) {
            const struct summary_point *point = &out->of[k][i];

            /* slices of one text: they overlap or they do not */
            if (point->text.s < text.s + text.len &&
                text.s < point->text.s + point->text.len) {
                return true;
            }
        }
    }
    return false;
}

static void sort_sentence(struct summary_points *out,
                          const struct summary_turn *turns, size_t count,
                          size_t turn, const struct sentence *sentence)
{
    struct str text = str_trim(str_sub(turns[turn].analysis->text,
                                       sentence->span.from, sentence->span.to));

    text = str_sub(text, smalltalk_skip(text), text.len);
    if (sentence->is_code || text.len == 0 || smalltalk_is(text) ||
        smalltalk_is_caption(text)) {
        return;
    }
    if (settled_is(text) && !sentence->is_question) {
        add(out, SUMMARY_DECIDED, turn, text);
    } else if (settled_is_open(text) ||
               (sentence->is_question && turns[turn].is_user &&
                !is_answered(turns, count, turn))) {
        add(out, SUMMARY_LEFT_OPEN, turn, text);
    } else if (turns[turn].is_user &&
               (sentence->is_question || is_want(text))) {
        add(out, SUMMARY_WANTED, turn, text);
    }
}

/* A talk without a wish was begun by its first words: who tells something
 * wants nothing. */
static void tell_first(struct summary_points *out,
                       const struct summary_turn *turns, size_t count)
{
    for (size_t i = 0;
         i < count && out->n[SUMMARY_BEGAN] == 0 && out->n[SUMMARY_WANTED] == 0;
         i++) {
        const struct analysis *analysis = turns[i].analysis;

        for (size_t k = 0; turns[i].is_user && k < analysis->n_sentences &&
                           out->n[SUMMARY_BEGAN] == 0;
             k++) {
            struct str text = str_trim(str_sub(analysis->text,
                                               analysis->sentences[k].span.from,
                                               analysis->sentences[k].span.to));

            text = str_sub(text, smalltalk_skip(text), text.len);
            if (!smalltalk_is(text) && !analysis->sentences[k].is_code &&
                !smalltalk_is_caption(text) && !has_point(out, text)) {
                add(out, SUMMARY_BEGAN, i, text);
            }
        }
    }
}

/* Is it a reaction, nothing that was found? "Understood", "enjoy!", "did that"
 * come last, and of what was found the last ones are told. */
static bool is_reaction(const struct summary_turn *turn,
                        const struct summary_cite *cite)
{
    const struct analysis *a = turn->analysis;
    struct str text = str_trim(str_sub(a->text, cite->from, cite->to));
    size_t n = 0;

    if (smalltalk_is(str_sub(text, smalltalk_skip(text), text.len))) {
        return true;
    }
    for (size_t i = 0; i < a->tokens.count; i++) {
        const struct token *token = &a->tokens.items[i];

        n += token->from >= cite->from && token->to <= cite->to &&
             token->kind != TOKEN_PUNCT &&
             !(token->flags & (TOKEN_STOP | TOKEN_CHAT | TOKEN_PART));
    }
    return n < 2;
}

/* The whole sentence that a citation begins in: it may have been cut. */
static struct str whole(const struct analysis *a,
                        const struct summary_cite *cite)
{
    size_t to = cite->to;

    for (size_t i = 0; i < a->n_sentences; i++) {
        const struct span *span = &a->sentences[i].span;

        if (span->from <= cite->from && cite->from < span->to) {
            to = span->to > to ? span->to : to;
        }
    }
    return str_trim(str_sub(a->text, cite->from, to));
}

enum clew_status summary_points_of(struct arena *arena,
                                   const struct summary_turn *turns,
                                   size_t count, struct summary_points *out)
{
    struct summary summary;
    enum clew_status status = summarise(arena, turns, count, &summary);

    memset(out, 0, sizeof(*out));
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < turns[i].analysis->n_sentences; k++) {
            sort_sentence(out, turns, count, i,
                          &turns[i].analysis->sentences[k]);
        }
    }
    tell_first(out, turns, count);
    for (size_t i = 0; i < summary.meso.n_cites; i++) {
        const struct summary_cite *cite = &summary.meso.cites[i];
        struct str text = whole(turns[cite->turn].analysis, cite);
        bool asks = text.len > 0 && text.s[text.len - 1] == '?';

        if (!asks && !settled_is_doubt(text) && !has_point(out, text) &&
            !is_reaction(&turns[cite->turn], cite)) {
            add(out, SUMMARY_FOUND, cite->turn, text);
        }
    }
    return CLEW_OK;
}
