/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_talk.c - what the talk lends a question that leans on it. See
 * search_internal.h.
 *
 * "And how much did it cost?" says little by itself (talk/lean.h). The telling
 * words of the last turns are looked for with it, at less weight, and it is
 * read with them.
 */
#include "engine/ask/search_internal.h"

#include "base/utf8.h"
#include "engine/core/engine.h"
#include "talk/lean.h"
#include "text/analysis.h"
#include "text/smalltalk.h"

#include <stdlib.h>
#include <string.h>

/* Turns that lend, and bytes of each that are looked at: a long answer is
 * about what it begins with. */
#define LENDING_TURNS 6
#define LENDING_BYTES 1200
/* Words of a turn that are weighed, and words that are lent. */
#define TURN_WORDS 8
#define LENT_WORDS 5
/* What a turn's words weigh beside those of the turn after it. */
#define FADING 0.9f
/* A word that is no noun beside one that is, and one of what a turn is about
 * beside the others. */
#define NO_NOUN 0.3f
#define OF_TOPIC 1.5f
/* A longer question stands by itself. */
#define LEANING_BYTES 240

struct lent_word {
    struct str stem;
    struct str word;
    float weight;
    size_t order; /* of its first use */
};

struct lending {
    struct search_work *work;
    const struct tokens *question;
    struct turn *turns; /* the last of the talk, oldest first */
    size_t n_turns;
    struct lent_word words[LENDING_TURNS * TURN_WORDS];
    size_t n_words;
};

/* Nobody's question is completed from what they may not see. */
static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct lending *lending = arg;
    const struct search_query *query = lending->work->query;
    struct arena *arena = lending->work->arena;
    struct chat chat;
    enum clew_status status =
        chat_find(tx, arena, &query->asked_in, &chat, err);

    lending->n_turns = 0;
    if (status != CLEW_OK ||
        (query->user_id.len > 0 && !str_eq(query->user_id, chat.user_id))) {
        return status;
    }
    return turn_list_last(tx, arena, &query->asked_in, LENDING_TURNS + 1,
                          &lending->turns, &lending->n_turns, err);
}

static bool has_word(const struct lending *lending, struct str stem)
{
    for (size_t i = 0; i < lending->question->count; i++) {
        if (str_eq(lending->question->items[i].stem, stem)) {
            return true;
        }
    }
    return false;
}

static void add_word(struct lending *lending, const struct keyword *word,
                     float weight)
{
    size_t i = 0;

    while (i < lending->n_words &&
           !str_eq(lending->words[i].stem, word->stem)) {
        i++;
    }
    if (i == lending->n_words) {
        lending->words[i] =
            (struct lent_word){word->stem, word->word, 0, lending->n_words};
        lending->n_words++;
    }
    lending->words[i].weight += weight;
}

/* The telling words of one turn. */
static enum clew_status add_turn(struct lending *lending,
                                 const struct turn *turn, float weight,
                                 struct clew_error *err)
{
    struct analysis_options options = {.time_ms = turn->created_at_ms};
    struct analysis analysis;
    struct str head = utf8_head(turn->text, LENDING_BYTES);
    enum clew_status status =
        analysis_run(lending->work->arena, head, &options, &analysis, err);
    struct str topic = {0};
    size_t n = 0;

    if (status == CLEW_OK) {
        topic = analysis_topic(&analysis);
    }
    for (size_t i = 0;
         status == CLEW_OK && i < analysis.n_keywords && n < TURN_WORDS; i++) {
        const struct keyword *word = &analysis.keywords[i];

        if (!has_word(lending, word->stem)) {
            bool is_topic = str_ifind(topic, word->word, 0) != SIZE_MAX;

            add_word(lending, word,
                     weight * word->idf * (word->is_noun ? 1 : NO_NOUN) *
                         (is_topic ? OF_TOPIC : 1));
            n++;
        }
    }
    return status;
}

static int by_weight(const void *a, const void *b)
{
    const struct lent_word *x = a;
    const struct lent_word *y = b;

    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Is a turn part of what was said before the question was put? */
static bool was_said(const struct lending *lending, const struct turn *turn)
{
    const struct search_query *query = lending->work->query;

    return turn->created_at_ms <= search_sight_ms(query) &&
           !str_eq(str_trim(turn->text), str_trim(query->query)) &&
           !smalltalk_is(turn->text);
}

/* "boiler installer pressure" */
static enum clew_status put_words(struct lending *lending,
                                  struct clew_error *err)
{
    struct search_asked *asked = &lending->work->asked;

    qsort(lending->words, lending->n_words, sizeof(*lending->words), by_weight);
    for (size_t i = 0; i < lending->n_words && i < LENT_WORDS; i++) {
        struct str word = lending->words[i].word;
        const char *text = arena_printf(lending->work->arena, "%.*s%s%.*s",
                                        (int)asked->lent.len,
                                        asked->lent.s ? asked->lent.s : "",
                                        i ? " " : "", (int)word.len, word.s);

        if (!text) {
            return clew_no_memory(err);
        }
        asked->lent = str_of(text);
    }
    return CLEW_OK;
}

enum clew_status search_borrow(struct search_work *work, struct clew_error *err)
{
    const struct search_query *query = work->query;
    struct lending *lending;
    struct tokens tokens;
    float weight = 1;
    size_t n_lent = 0;
    enum clew_status status;

    if (uuid_is_nil(&query->asked_in) || query->query.len > LEANING_BYTES) {
        return CLEW_OK;
    }
    lending = arena_zero(work->arena, 1, sizeof(*lending));
    if (!lending || tokens_of(work->arena, query->query, &tokens) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (!lean_is(&tokens)) {
        return CLEW_OK;
    }
    lending->work = work;
    lending->question = &tokens;
    status =
        store_read(work->engine->store, work->scope, do_read, lending, err);
    /* one more was listed: the question itself may stand there already */
    for (size_t i = lending->n_turns;
         status == CLEW_OK && i-- > 0 && n_lent < LENDING_TURNS;) {
        if (was_said(lending, &lending->turns[i])) {
            status = add_turn(lending, &lending->turns[i], weight, err);
            weight *= FADING;
            n_lent++;
        }
    }
    work->asked.lenders = lending->turns;
    work->asked.n_lenders = lending->n_turns;
    return status == CLEW_OK ? put_words(lending, err) : status;
}

void search_mark_lenders(struct search_work *work)
{
    for (size_t i = 0; i < work->count && work->asked.lent.len > 0; i++) {
        struct matter *matter = &work->matters[i];

        for (size_t k = 0; matter->hit.turn && k < work->asked.n_lenders; k++) {
            matter->is_lender |=
                uuid_eq(&matter->hit.turn->id, &work->asked.lenders[k].id);
        }
    }
}
