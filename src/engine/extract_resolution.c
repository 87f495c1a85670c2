/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_resolution.c - does this turn resolve the effort, and how?
 *
 * "That fixed it" does. Thanks alone do only right behind the answer, or while
 * the talk is still about the effort: thanks after the topic moved on is the
 * main source of wrong resolutions. Holding, refusing and asking never do.
 */
#include "engine/extract_internal.h"

#include <string.h>

#define STRONG 0.85f
#define WEAK 0.6f
#define MORE_COSTS 0.2f
#define WEAK_MAX_WORDS 25
/* A sentence of the answer must score this to stand for a weak acceptance. */
#define WEAK_SENTENCE_FLOOR 0.9

static size_t count_words(const struct intent_pieces *pieces)
{
    size_t n = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        n += pieces->items[i].n_words;
    }
    return n;
}

/* Words of the title that occur in a piece, give or take an ending. */
static size_t shared_words(const struct intent_pieces *title,
                           const struct intent_piece *piece)
{
    size_t n = 0;

    for (size_t t = 0; t < title->count; t++) {
        for (size_t i = 0; i < title->items[t].n_words; i++) {
            const struct intent_word *a = &title->items[t].words[i];

            if (word_is_generic(a) || word_is(a, "fix")) {
                continue;
            }
            for (size_t k = 0; k < piece->n_words; k++) {
                const struct intent_word *b = &piece->words[k];
                size_t len = a->len < b->len ? a->len : b->len;

                if (len > 2 &&
                    memcmp(a->s, b->s, len > 4 ? len - 1 : len) == 0) {
                    n++;
                    break;
                }
            }
        }
    }
    return n;
}

static size_t shared_all(const struct intent_pieces *title,
                         const struct intent_pieces *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->count; i++) {
        n += shared_words(title, &text->items[i]);
    }
    return n;
}

static float confidence_of(const struct extract_turn *turn, size_t n_words,
                           size_t turns_since, bool is_on_topic)
{
    const struct intent *intent = turn->intent;
    float confidence = 0;

    if ((intent->flags & INTENT_HOLD) || intent->act == INTENT_REJECT ||
        intent->act == INTENT_QUESTION || intent->act == INTENT_REQUEST) {
        return 0;
    }
    for (size_t i = 0; i < intent->n_segments; i++) {
        if (intent->segments[i].act == INTENT_REJECT) {
            return 0;
        }
        if (intent->segments[i].act == INTENT_ACCEPT &&
            (intent->segments[i].flags & INTENT_STRONG)) {
            confidence = STRONG;
        }
    }
    if (intent->level == INTENT_LEVEL_COMMAND && intent->act == INTENT_ACCEPT) {
        return 1.0f;
    }
    if (confidence < WEAK && n_words <= WEAK_MAX_WORDS &&
        (intent->act == INTENT_ACCEPT || (intent->flags & INTENT_THANKS)) &&
        (turns_since == 0 || (turns_since == 1 && is_on_topic))) {
        confidence = WEAK;
    }
    if (confidence > 0 && (intent->flags & INTENT_MORE)) {
        confidence -= MORE_COSTS;
    }
    return confidence;
}

static bool has_cause(const struct intent_piece *piece)
{
    return words_have(piece->words, 0, piece->n_words,
                      "was were because turned expired missing forgot wrong "
                      "needed caused outdated typo mismatch misconfigured "
                      "needs had");
}

/* "Refreshing the token fixed it": who did the trick, if it has a name. */
static bool names_the_fix(const struct intent_piece *piece)
{
    for (size_t i = 1; i < piece->n_words; i++) {
        if (word_any(&piece->words[i], "fixed solved worked resolved helped "
                                       "did works")) {
            return words_content(piece->words, piece->body, i) >= 1 &&
                   !word_any(&piece->words[i - 1],
                             "that it this which now everything all i we");
        }
    }
    return false;
}

/* What the accepting turn itself says about the solution. */
static const struct intent_piece *said_by_user(const struct intent_pieces *own)
{
    for (size_t i = 0; i < own->count; i++) {
        if (names_the_fix(&own->items[i])) {
            return &own->items[i];
        }
    }
    for (size_t i = 0; i < own->count; i++) {
        if (has_cause(&own->items[i]) &&
            words_content(own->items[i].words, 0, own->items[i].n_words) >= 2 &&
            own->items[i].end != '?') {
            return &own->items[i];
        }
    }
    return NULL;
}

/* "Here's a song about ...", "Below are some ways:" */
static bool announces(const struct intent_piece *piece)
{
    const struct intent_word *word = &piece->words[piece->body];

    return word_any(word, "here here's below following") ||
           (word_is(word, "the") && piece->body + 1 < piece->n_words &&
            word_is(word + 1, "following"));
}

/* "No problem at all", "that's no trouble": about no problem. */
static bool is_courtesy(const struct intent_piece *piece)
{
    for (size_t i = 0; i <= piece->body && i + 1 < piece->n_words; i++) {
        if (word_is(&piece->words[i], "no") &&
            word_any(&piece->words[i + 1],
                     "problem problems worries trouble")) {
            return true;
        }
    }
    return false;
}

static double sentence_score(const struct intent_pieces *title,
                             const struct intent_piece *piece)
{
    const struct intent_word *words = piece->words;
    size_t n = piece->n_words;
    double score = 0.7 * (double)shared_words(title, piece);

    if (piece->end == '?' || is_courtesy(piece)) {
        return -1.0; /* whatever it mentions */
    }
    if (words_have(words, 0, n,
                   "try use set change add remove update should "
                   "need because run make check refresh restart "
                   "install replace caused means expired missing")) {
        score += 1.5;
    }
    if (words_have(words, 0, n,
                   "issue fix because successfully problem cause "
                   "solution")) {
        score += 1.0;
    }
    if (word_any(&words[piece->body],
                 "it it's its this that that's they their he his she her great "
                 "glad sure you're let there there's if these i i'm i've as "
                 "sorry certainly note")) {
        score -= 1.0;
    }
    if (n < 3 || n > 40) {
        score -= 2.0;
    }
    return score;
}

static struct str bytes_of(struct str text, const struct intent_piece *piece,
                           struct extract_cite *out_cite, size_t back)
{
    out_cite->back = back;
    out_cite->from = piece->words[piece->body].from;
    out_cite->to = piece->words[piece->n_words - 1].to;
    return str_sub(text, out_cite->from, out_cite->to);
}

/* The best sentence of the last answer; empty if none is good enough. */
static enum clew_status said_by_other(struct arena *arena,
                                      const struct extract_input *input,
                                      const struct intent_pieces *title,
                                      bool is_weak,
                                      struct extract_resolution *out)
{
    for (size_t b = 0; b < input->n_previous && b < 2; b++) {
        const struct extract_turn *turn = &input->previous[b];
        struct intent_pieces pieces;
        const struct intent_piece *best = NULL;
        double top = is_weak ? WEAK_SENTENCE_FLOOR : 0.0;
        enum clew_status status;

        if (turn->role != EXTRACT_ASSISTANT) {
            continue;
        }
        status = extract_pieces(arena, turn, &pieces);
        if (status != CLEW_OK) {
            return status;
        }
        for (size_t i = 0; i < pieces.count; i++) {
            double score = sentence_score(title, &pieces.items[i]);

            if (score > top) {
                best = &pieces.items[i];
                top = score;
            }
        }
        /* what it announces is the answer: nothing to quote */
        if (best && !announces(best)) {
            out->text = bytes_of(turn->text, best, &out->cite, b + 1);
        }
        return CLEW_OK;
    }
    return CLEW_OK;
}

/* Clauses that only say "works now" are taken off the end. */
static struct str without_acceptance(struct str text)
{
    static const char *const tails[] = {
        ", works now",    ", thanks",          ", thank you",  ", it works",
        ", now it works", " and it works now", ", working now"};

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        size_t at = str_ifind(text, str_of(tails[i]), 0);

        if (at != SIZE_MAX && at > 8) {
            text.len = at;
        }
    }
    return text;
}

enum clew_status extract_resolution(struct arena *arena,
                                    const struct extract_input *input,
                                    struct str title, size_t turns_since,
                                    struct extract_resolution *out)
{
    struct intent_pieces own;
    struct intent_pieces goal;
    struct intent_pieces answer = {0};
    const struct intent_piece *said;
    enum clew_status status;

    *out = (struct extract_resolution){0};
    if (input->turn->role != EXTRACT_USER) {
        return CLEW_OK;
    }
    status = extract_pieces(arena, input->turn, &own);
    if (status == CLEW_OK) {
        status = intent_split(arena, title, &goal);
    }
    if (status == CLEW_OK && input->n_previous > 0) {
        status = extract_pieces(arena, &input->previous[0], &answer);
    }
    if (status != CLEW_OK) {
        return status;
    }
    out->confidence =
        confidence_of(input->turn, count_words(&own), turns_since,
                      shared_all(&goal, &own) + shared_all(&goal, &answer) > 0);
    if (out->confidence <= 0) {
        return CLEW_OK;
    }
    if (input->turn->intent->level == INTENT_LEVEL_COMMAND) {
        size_t space = str_find(input->turn->text, STR(" "), 0);

        if (space != SIZE_MAX) {
            out->text = str_trim(
                str_sub(input->turn->text, space, input->turn->text.len));
            return CLEW_OK;
        }
    }
    said = said_by_user(&own);
    if (said) {
        out->text = without_acceptance(
            bytes_of(input->turn->text, said, &out->cite, 0));
        return CLEW_OK;
    }
    return said_by_other(arena, input, &goal, out->confidence < STRONG, out);
}
