/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_words.c - see effort_words.h.
 */
#include "engine/effort_words.h"

/* Of a turn before, this much is compared. */
#define COMPARE_BYTES 2000u

/* Words that name any trouble or work, so no effort in particular. */
static bool is_vague(struct str stem)
{
    static const char *const vague[] = {
        "bug",  "issu",   "problem", "error", "thing", "fix",   "debug", "help",
        "work", "tri",    "task",    "back",  "one",   "thank", "stuff", "let",
        "get",  "solv",   "happen",  "still", "now",   "look",  "want",  "need",
        "use",  "effort", "topic",   "go",    "make",  "do",    "ok",    "yes"};

    for (size_t i = 0; i < sizeof(vague) / sizeof(vague[0]); i++) {
        if (stem.s[0] == vague[i][0] && str_eq(stem, str_of(vague[i]))) {
            return true;
        }
    }
    return false;
}

static const struct desk_words *find(const struct desk_chat *chat,
                                     struct str text)
{
    for (size_t i = 0; i < chat->n_words && i < OBSERVE_WORDS; i++) {
        if (chat->words[i].text.s == text.s &&
            chat->words[i].text.len == text.len) {
            return &chat->words[i];
        }
    }
    return NULL;
}

enum clew_status effort_words(struct arena *arena, struct desk_chat *chat,
                              struct str text, struct desk_words *out,
                              struct clew_error *err)
{
    const struct desk_words *known = find(chat, text);
    struct analysis analysis;
    enum clew_status status;

    if (known) {
        *out = *known;
        return CLEW_OK;
    }
    *out = (struct desk_words){.text = text};
    status =
        analysis_words(arena, str_sub(text, 0, COMPARE_BYTES), &analysis, err);
    if (status != CLEW_OK) {
        return status;
    }
    out->stems =
        arena_zero(arena, analysis.n_keywords + 1, sizeof(*out->stems));
    if (!out->stems) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < analysis.n_keywords; i++) {
        struct str stem = analysis.keywords[i].stem;

        if (stem.len >= 2 && !is_vague(stem)) {
            out->stems[out->count++] = stem;
        }
    }
    chat->words[chat->n_words++ % OBSERVE_WORDS] = *out; /* over the oldest */
    return CLEW_OK;
}

size_t effort_words_in(const struct desk_words *words,
                       const struct analysis *turn)
{
    size_t n = 0;

    for (size_t i = 0; i < words->count; i++) {
        for (size_t k = 0; k < turn->n_keywords; k++) {
            if (str_eq(words->stems[i], turn->keywords[k].stem)) {
                n++;
                break;
            }
        }
    }
    return n;
}

size_t effort_words_shared(const struct desk_words *a,
                           const struct desk_words *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (str_eq(a->stems[i], b->stems[k])) {
                n++;
                break;
            }
        }
    }
    return n;
}
