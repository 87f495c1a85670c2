/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clause_with.c - who "we" are.
 *
 * The speaker and whoever was named last: "my teammates" earlier in the turn,
 * "your kids" in what it answers, "my wife" in the turn before that. Where a
 * turn names several, nobody can tell, and "others" it stays.
 */
#include "engine/extract_internal.h"

#include "base/buf.h"

#include <string.h>

/* People who do things together with somebody. */
#define PEOPLE                                                                 \
    "family fam kids kid children son sons daughter daughters husband wife "   \
    "partner boyfriend girlfriend fiance fiancee friends friend team "         \
    "teammates teammate band group crew colleagues coworkers co-workers mom "  \
    "mother mum dad father parents sister brother sisters brothers siblings "  \
    "cousin cousins grandma grandpa grandmother grandfather aunt uncle "       \
    "neighbors neighbours roommate roommates squad buddies buddy classmates "  \
    "students employees staff"
/* Known by "the" alone. */
#define KNOWN_PEOPLE "kids family fam team crew guys gang wife boys girls band"
/* Turns looked back: what is answered, and the speaker's own before it. */
#define LOOK_BACK 2
#define MAX_BETWEEN 2

/* Who is named, in words [first, noun] of a piece. */
struct mention {
    const struct intent_piece *piece;
    size_t first;
    size_t noun;
    bool is_the; /* "the kids", not "my kids" */
};

/* The people that word `i` names, for a speaker ("my") or by another
 * ("your"). */
static bool mention_at(const struct intent_piece *piece, size_t i, bool is_own,
                       struct mention *out)
{
    const struct intent_word *words = piece->words;

    if (!word_any(&words[i], PEOPLE) && !word_any(&words[i], KNOWN_PEOPLE)) {
        return false;
    }
    for (size_t k = 1; k <= MAX_BETWEEN + 1 && k <= i; k++) {
        const struct intent_word *word = &words[i - k];

        if (word->has_comma) {
            return false;
        }
        if (word_any(word, is_own ? "my our" : "your") ||
            (word_is(word, "the") && k == 1 &&
             word_any(&words[i], KNOWN_PEOPLE))) {
            *out = (struct mention){.piece = piece,
                                    .first = i - k + 1,
                                    .noun = i,
                                    .is_the = word_is(word, "the")};
            return true;
        }
        if (word_any(word, "of and or with for to in on at from who that")) {
            return false;
        }
    }
    return false;
}

/* The only people named in words [0, end) of the pieces before `last` and of
 * it; false if there are none or several. */
static bool only_mention(const struct intent_pieces *pieces, size_t last,
                         size_t end, bool is_own, struct mention *out)
{
    bool is_found = false;

    for (size_t p = 0; p <= last && p < pieces->count; p++) {
        const struct intent_piece *piece = &pieces->items[p];
        size_t stop = p == last && end < piece->n_words ? end : piece->n_words;

        for (size_t i = 0; i < stop; i++) {
            struct mention found;

            if (!mention_at(piece, i, is_own, &found)) {
                continue;
            }
            if (is_found && strcmp(out->piece->words[out->noun].s,
                                   piece->words[i].s) != 0) {
                return false;
            }
            *out = found;
            is_found = true;
        }
    }
    return is_found;
}

static struct str words_of(const struct extraction *x, const struct mention *m)
{
    struct buf text;
    struct str out;

    buf_init(&text, 256);
    (void)buf_append_cstr(&text, m->is_the ? "the" : "their"); /* see below */
    for (size_t i = m->first; i <= m->noun; i++) {
        (void)buf_append_char(&text, ' '); /* a name cut short is none */
        (void)buf_append_cstr(&text, m->piece->words[i].s);
    }
    out = buf_status(&text) == CLEW_OK ? arena_str(x->arena, buf_str(&text))
                                       : (struct str){NULL, 0};
    buf_release(&text);
    return out;
}

static bool is_we(const struct intent_word *word)
{
    return word_any(word, "we we're we've we'd we'll our");
}

static size_t index_of(const struct extraction *x, const struct clause *clause)
{
    return (size_t)(clause->piece - x->pieces.items);
}

bool clause_names_people(const struct clause *clause)
{
    return words_have(clause->piece->words, clause->subject, clause->end,
                      PEOPLE);
}

enum clew_status clause_find_with(const struct extraction *x,
                                  struct clause *clause)
{
    struct mention found;

    clause->with = (struct str){NULL, 0};
    clause->with_back = 0;
    /* one who names people in the same breath does not mean them by "we" */
    if (!is_we(&clause->piece->words[clause->subject]) ||
        clause_names_people(clause)) {
        return CLEW_OK;
    }
    if (only_mention(&x->pieces, index_of(x, clause), clause->subject, true,
                     &found)) {
        clause->with = words_of(x, &found);
        return clause->with.s ? CLEW_OK : CLEW_NO_MEMORY;
    }
    for (size_t back = 1; back <= LOOK_BACK && back <= x->input->n_previous;
         back++) {
        const struct extract_turn *turn = &x->input->previous[back - 1];
        bool is_own = turn->role == x->turn->role &&
                      str_eq(turn->speaker, x->turn->speaker);
        struct intent_pieces pieces;
        enum clew_status status = extract_pieces(x->arena, turn, &pieces);

        if (status != CLEW_OK) {
            return status;
        }
        if (pieces.count > 0 &&
            only_mention(&pieces, pieces.count, 0, is_own, &found)) {
            const struct intent_word *words = found.piece->words;

            clause->with = words_of(x, &found);
            clause->with_back = back;
            clause->with_from = words[found.first].from;
            clause->with_to = words[found.noun].to;
            return clause->with.s ? CLEW_OK : CLEW_NO_MEMORY;
        }
    }
    return CLEW_OK;
}
