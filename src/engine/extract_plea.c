/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_plea.c - "can you help?", "any ideas?": words that only ask for help.
 *
 * They say that what stands beside them is wanted done, and hide it if they are
 * taken for the request itself. A plea is a clause that opens like one who asks
 * and holds nothing but words of asking; it stands before or behind the matter,
 * with or without a comma, or is a sentence of its own.
 */
#include "engine/extract_internal.h"

/* How one begins who asks for help. */
#define OPENERS                                                                \
    "can could would will please kindly any anyone anybody someone somebody "  \
    "help what what's how do does i i'd we we'd i'm why is is's let thoughts " \
    "ideas suggestions advice and so but not"
/* Without one of these nothing is asked for. */
#define ASKED                                                                  \
    "help helping assist assistance assisting look idea ideas suggestion "     \
    "suggestions suggest thought thoughts advice advise tip tips hint hints "  \
    "clue clues hand fix solve resolve solution workaround appreciated "       \
    "appreciate support pointers why wrong"
/* What may stand around them. */
#define AROUND                                                                 \
    "can could would will you please kindly anyone anybody someone somebody "  \
    "u "                                                                       \
    "me us out with it this that these those here there too also as well "     \
    "again maybe possibly perhaps be able to mind a an any some bit little "   \
    "quick quickly closer more at into on about i we i'd we'd i'm need use "   \
    "really what what's how does should is are the for get got give let know " \
    "if have has my our your of in think going happening might causing cause " \
    "problem issue thing something now next asap thanks thank try check else " \
    "and so but taking having take giving much very greatly one am doing "     \
    "not sure shall dealing deal happens around way reason do figure find "    \
    "understand tell explain see"

/* "what should I do now?" */
static bool asks_what_to_do(const struct intent_piece *piece, size_t first,
                            size_t end)
{
    return end - first > 3 && word_is(&piece->words[first], "what") &&
           word_any(&piece->words[first + 1], "should can could shall do") &&
           word_any(&piece->words[first + 2], "i we") &&
           word_any(&piece->words[first + 3], "do try");
}

static bool is_plea(const struct intent_piece *piece, size_t first, size_t end)
{
    bool is_asked = false;

    if (first >= end || !word_any(&piece->words[first], OPENERS)) {
        return false;
    }
    for (size_t i = first; i < end; i++) {
        const struct intent_word *word = &piece->words[i];

        if (word_any(word, ASKED)) {
            is_asked = true;
        } else if (!word_any(word, AROUND)) {
            return false;
        }
    }
    return is_asked || asks_what_to_do(piece, first, end);
}

/* A new clause may begin here without a comma: "... can you help". */
static bool asks_at(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *word = &piece->words[at];

    return at + 1 < piece->n_words &&
           ((word_any(word, "can could would will") &&
             word_any(word + 1, "you u anyone someone somebody anybody")) ||
            (word_is(word, "please") && word_any(word + 1, "help advise")) ||
            (word_is(word, "any") &&
             word_any(word + 1, "idea ideas suggestions advice tips clue")) ||
            (word_is(word, "what") && word_any(word + 1, "should can do")));
}

/* The matter may begin here without a comma: "help me out my wifi is ...". */
static bool tells_at(const struct intent_piece *piece, size_t at)
{
    const struct intent_word *word = &piece->words[at];

    if (word[-1].has_comma ||
        word_any(word, "i i'm i've i'd we we're we've it's there's")) {
        return true;
    }
    /* not "help me fix the parser" */
    return word_any(word, "my our the it") &&
           word_any(word - 1, "me us out please here");
}

/* The piece without words [0, first) and from `end` on. */
static struct intent_piece part_of(const struct intent_piece *piece,
                                   size_t first, size_t end)
{
    struct intent_piece out = *piece;

    out.words += first;
    out.n_words = end - first;
    out.body = piece->body > first ? piece->body - first : 0;
    return out;
}

/* "Good evening everyone, the sync fails", "sorry to bother you, but ...":
 * behind who is greeted. */
static size_t skip_greeting(const struct intent_piece *piece, size_t first,
                            size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!word_any(&piece->words[i],
                      "hi hello hey dear good morning afternoon evening day "
                      "greetings all everyone everybody team folks guys there "
                      "again support sorry to bother disturb bothering you "
                      "for")) {
            break;
        }
        if (piece->words[i].has_comma) {
            return i + 2 < end && word_is(&piece->words[i + 1], "but") ? i + 2
                                                                       : i + 1;
        }
    }
    return first;
}

/* "Quick question: the sync fails": how one comes to the matter. */
static size_t skip_preface(const struct intent_piece *piece, size_t first,
                           size_t end)
{
    for (size_t i = first; i < end && i < first + 6; i++) {
        if (word_any(&piece->words[i], "question favor favour") &&
            (piece->words[i].has_comma ||
             tells_at(piece, i + 1 < end ? i + 1 : i) ||
             (i + 1 < end &&
              word_any(&piece->words[i + 1], "the my our when")))) {
            return i + 1;
        }
        if (!word_any(&piece->words[i],
                      "a an i have i've got quick short one small little "
                      "just")) {
            break;
        }
    }
    return first;
}

bool plea_split(const struct intent_piece *piece, struct intent_piece *out_core)
{
    size_t end = piece->n_words;
    size_t first = skip_greeting(piece, piece->body, end);
    bool has_plea = false;

    for (size_t k = first + 1; k < end && !has_plea; k++) {
        if (tells_at(piece, k) && is_plea(piece, first, k)) {
            first = k;
            has_plea = true;
        }
    }
    for (size_t i = first; i < end; i++) {
        bool may_begin = i == first || piece->words[i - 1].has_comma ||
                         word_any(&piece->words[i - 1], "and so but") ||
                         asks_at(piece, i);

        if (may_begin && is_plea(piece, i, end)) {
            end = i;
            has_plea = true;
        }
    }
    while (has_plea && end > first &&
           word_any(&piece->words[end - 1], "and so but")) {
        end--;
    }
    first = skip_preface(piece, skip_greeting(piece, first, end), end);
    *out_core = part_of(piece, first, end);
    return has_plea;
}
