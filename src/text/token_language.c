/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_language.c - which language a text is in, and the stems, stop words
 * and search terms that follow from it.
 *
 * Words of the lexicon have their English stem from it. Once the whole text is
 * seen, function words decide the language. A question and its answer must
 * meet even if one of them is too short to tell: see terms_of().
 */
#include "text/token_internal.h"

#include "text/lexicon.h"
#include "text/stem.h"

#include <string.h>

/* Points of a function word: more if no English word looks like it. */
#define POINTS_OWN 2
#define POINTS_SHARED 1

#define BIT(language) (1u << (language))

/* Letters that few languages have, folded. One without a capital is no name
 * ("Zürich") and tells as much as a function word. */
static const struct {
    const char *letters;
    unsigned languages;
} letters_of[] = {
    {"äöü", BIT(TEXT_GERMAN)},
    {"ñ", BIT(TEXT_SPANISH)},
    {"ãõ", BIT(TEXT_PORTUGUESE)},
    {"ìò", BIT(TEXT_ITALIAN)},
    {"îûœæ", BIT(TEXT_FRENCH)},
    {"ëï", BIT(TEXT_FRENCH) | BIT(TEXT_DUTCH)},
    {"èù", BIT(TEXT_FRENCH) | BIT(TEXT_ITALIAN)},
    {"âêôç", BIT(TEXT_FRENCH) | BIT(TEXT_PORTUGUESE)},
    {"à", BIT(TEXT_FRENCH) | BIT(TEXT_ITALIAN) | BIT(TEXT_PORTUGUESE)},
    {"áíóú", BIT(TEXT_SPANISH) | BIT(TEXT_PORTUGUESE)},
    {"é", BIT(TEXT_FRENCH) | BIT(TEXT_SPANISH) | BIT(TEXT_ITALIAN) |
              BIT(TEXT_PORTUGUESE)},
};

/* The languages that have the letter at `at`; 0: it tells nothing. */
static unsigned languages_with(struct str word, size_t at, uint32_t len)
{
    for (size_t i = 0; i < sizeof(letters_of) / sizeof(letters_of[0]); i++) {
        struct str letters = str_of(letters_of[i].letters);

        if (str_find(letters, str_sub(word, at, at + len), 0) != SIZE_MAX) {
            return letters_of[i].languages;
        }
    }
    return 0;
}

/* Scripts with one language each here; TEXT_UNKNOWN for the others. */
static enum text_language by_script(struct str word)
{
    uint32_t len;
    uint32_t c = word.len ? char_decode(word, 0, &len) : 0;

    if (c >= 0x0400 && c <= 0x052f) {
        return TEXT_RUSSIAN;
    }
    if (c >= 0x0600 && c <= 0x06ff) {
        return TEXT_ARABIC;
    }
    if (c >= 0x0370 && c <= 0x03ff) {
        return TEXT_GREEK;
    }
    return TEXT_UNKNOWN;
}

/* Count what the letters of an unknown word tell of its language. */
static void note_letters(struct scan *scan, const struct token *token)
{
    struct str word = token->folded;
    enum text_language script = by_script(word);
    unsigned languages = 0;
    uint32_t len;

    if (token->flags & TOKEN_PART) {
        return;
    }
    if (script != TEXT_UNKNOWN) {
        languages = BIT(script);
    }
    for (size_t at = 0; at < word.len && !(token->flags & TOKEN_CAPITAL);
         at += len) {
        unsigned has;

        len = 1;
        if ((unsigned char)word.s[at] < 0x80) {
            continue;
        }
        (void)char_decode(word, at, &len);
        has = languages_with(word, at, len);
        languages = has && languages ? languages & has : languages | has;
    }
    for (unsigned i = 0; i < TEXT_LANGUAGES; i++) {
        scan->hits[i] += languages >> i & 1;
        scan->own_hits[i] += languages >> i & 1;
    }
}

/* Words of French seldom end in these vowels, of its neighbours often: where
 * the function words of both are the same. */
static void note_end(struct scan *scan, const struct token *token)
{
    struct str word = token->folded;
    char end = word.len > 3 ? word.s[word.len - 1] : ' ';

    scan->n_open_ends += !(token->flags & (TOKEN_PART | TOKEN_CAPITAL)) &&
                         (end == 'a' || end == 'o');
}

void scan_note_word(struct scan *scan, struct token *token)
{
    struct lex_word word;
    bool is_part = token->flags & TOKEN_PART;
    uint64_t hash = str_hash(token->folded);

    scan->n_words += !is_part;
    token->stem.s = NULL; /* not settled yet */
    if (!lexicon_find(token->folded, hash, &word) ||
        word.flags & LEX_STEM_ONLY) {
        scan->n_unknown += !is_part;
        note_letters(scan, token);
        note_end(scan, token);
        return;
    }
    token->stem = word.stem;
    if (word.flags & LEX_SEEN) {
        token->flags |= TOKEN_KNOWN;
    }
    if (word.flags & LEX_CHAT) {
        token->flags |= TOKEN_CHAT;
    }
    if (word.stop_mask) {
        bool is_english = word.stop_mask & 1u << TEXT_ENGLISH;

        if (is_english) {
            token->flags |= TOKEN_STOP;
        }
        for (unsigned i = 0; i < TEXT_LANGUAGES; i++) {
            scan->hits[i] += word.stop_mask >> i & 1;
            scan->own_hits[i] += !is_english && (word.stop_mask >> i & 1);
        }
    } else if (!(word.flags & LEX_SEEN)) {
        scan->n_unknown += !is_part;
        note_letters(scan, token);
        note_end(scan, token);
    }
}

static enum text_language guess(const struct scan *scan)
{
    enum text_language best = TEXT_ENGLISH;
    uint32_t best_points = POINTS_OWN * scan->hits[TEXT_ENGLISH];

    for (int i = TEXT_ENGLISH + 1; i < TEXT_LANGUAGES; i++) {
        uint32_t own = scan->own_hits[i];
        uint32_t points =
            POINTS_OWN * own + POINTS_SHARED * (scan->hits[i] - own);
        /* one word alone may be part of a name: Rio de Janeiro; of a text
         * without it, all that looks English must be of the language too */
        bool is_enough =
            own >= 2 || (own == 1 && scan->hits[i] - own >= scan->hits[0] &&
                         scan->n_unknown * 2 >= scan->n_words);
        bool is_like =
            best == TEXT_FRENCH && points == best_points &&
            scan->n_open_ends > 0 &&
            (i == TEXT_SPANISH || i == TEXT_ITALIAN || i == TEXT_PORTUGUESE);

        if (is_enough && (points > best_points || is_like)) {
            best = (enum text_language)i;
            best_points = points;
        }
    }
    if (best_points == 0 && scan->n_unknown) {
        return TEXT_UNKNOWN;
    }
    return best;
}

static bool is_latin(struct str word)
{
    uint32_t len;
    uint32_t c = word.len ? char_decode(word, 0, &len) : 0;

    return c < 0x0250 || (c >= 0x1e00 && c <= 0x1eff);
}

/* The letters of a hyphenated word joined: "e-mail" is "email". */
static bool join_letters(struct arena *arena, struct str word, struct str *out)
{
    char *copy;
    size_t len = 0;

    if (!memchr(word.s, '-', word.len)) {
        *out = word;
        return true;
    }
    copy = arena_alloc(arena, word.len + 1);
    if (!copy) {
        return false;
    }
    for (size_t i = 0; i < word.len; i++) {
        if (word.s[i] != '-') {
            copy[len++] = word.s[i];
        }
    }
    *out = (struct str){copy, len};
    return true;
}

static bool stem_token(struct arena *arena, const struct token *token,
                       enum text_language language, struct str *out)
{
    enum text_language script = by_script(token->folded);
    struct str word;

    if (script == TEXT_UNKNOWN && !is_latin(token->folded)) {
        *out = token->folded;
        return true;
    }
    if (!join_letters(arena, token->folded, &word)) {
        return false;
    }
    return stem_word(arena, word, script == TEXT_UNKNOWN ? language : script,
                     out);
}

/* "US" and "IT" in capitals are names, "us" and "it" are not. */
static bool is_shouted_name(const struct token *token)
{
    return token->flags & TOKEN_ALL_CAPS && token->folded.len == 2 &&
           (memcmp(token->folded.s, "us", 2) == 0 ||
            memcmp(token->folded.s, "it", 2) == 0);
}

static void settle_stop(struct token *token, enum text_language language)
{
    struct lex_word word;

    if (language == TEXT_ENGLISH || language == TEXT_UNKNOWN) {
        if (is_shouted_name(token)) {
            token->flags &= (uint16_t)~TOKEN_STOP;
        }
        return;
    }
    token->flags &= (uint16_t) ~(TOKEN_STOP | TOKEN_CHAT);
    if (lexicon_find(token->folded, str_hash(token->folded), &word) &&
        (word.stop_mask >> language & 1)) {
        token->flags |= TOKEN_STOP;
    }
}

/* "iPhones" and "YouTube" are written like code but inflected like words. */
static bool is_all_letters(struct str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (word.s[i] < 'a' || word.s[i] > 'z') {
            return false;
        }
    }
    return true;
}

void scan_settle_language(struct scan *scan, enum text_language *out)
{
    enum text_language language = guess(scan);
    bool is_english = language == TEXT_ENGLISH || language == TEXT_UNKNOWN;

    for (size_t i = 0; i < scan->count; i++) {
        struct token *token = &scan->items[i];

        if (token->kind == TOKEN_CODE && is_all_letters(token->folded)) {
            token->stem.s = NULL;
        } else if (token->kind != TOKEN_WORD) {
            continue;
        }
        if ((!is_english || !token->stem.s) &&
            !stem_token(scan->arena, token, language, &token->stem)) {
            scan->is_out_of_memory = true;
            return;
        }
        if (!is_english || token->flags & TOKEN_ALL_CAPS) {
            settle_stop(token, language);
        }
    }
    *out = language;
}

/* ---- terms ---- */

struct terms {
    struct arena *arena;
    struct str *items;
    size_t count;
    size_t cap;
};

static bool add_term(struct terms *terms, struct str term)
{
    if (terms->count == terms->cap) {
        void *grown = arena_grow(terms->arena, terms->items, terms->count,
                                 &terms->cap, sizeof(*terms->items));

        if (!grown) {
            return false;
        }
        terms->items = grown;
    }
    terms->items[terms->count++] = term;
    return true;
}

/* Add the stem by one more language unless the word has it already. */
static bool add_variant(struct terms *terms, size_t first,
                        const struct token *token, enum text_language language)
{
    struct str stem;

    if (!stem_token(terms->arena, token, language, &stem)) {
        return false;
    }
    for (size_t i = first; i < terms->count; i++) {
        if (str_eq(terms->items[i], stem)) {
            return true;
        }
    }
    return add_term(terms, stem);
}

static bool add_word(struct terms *terms, const struct token *token,
                     enum text_language language)
{
    size_t first = terms->count;

    if (!add_term(terms, token->stem)) {
        return false;
    }
    if (token->kind != TOKEN_WORD || !is_latin(token->folded) ||
        language == TEXT_ENGLISH) {
        return true;
    }
    if (language != TEXT_UNKNOWN) {
        return add_variant(terms, first, token, TEXT_ENGLISH);
    }
    if (token->flags & TOKEN_KNOWN) {
        return true;
    }
    for (int i = TEXT_GERMAN; i <= TEXT_DUTCH; i++) {
        if (!add_variant(terms, first, token, (enum text_language)i)) {
            return false;
        }
    }
    return true;
}

static bool is_term(const struct token *token, bool takes_stops)
{
    return token->kind != TOKEN_PUNCT && token->folded.len > 0 &&
           (takes_stops || !(token->flags & TOKEN_STOP));
}

enum clew_status terms_of(struct arena *arena, const struct tokens *tokens,
                          struct str **out_terms, size_t *out_count)
{
    struct terms terms = {.arena = arena};
    bool takes_stops = true;

    for (size_t i = 0; i < tokens->count && takes_stops; i++) {
        takes_stops = !is_term(&tokens->items[i], false);
    }
    terms.cap = tokens->count + 1;
    terms.items = arena_alloc(arena, terms.cap * sizeof(*terms.items));
    if (!terms.items) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        if (is_term(token, takes_stops) &&
            !add_word(&terms, token, tokens->language)) {
            return CLEW_NO_MEMORY;
        }
    }
    *out_terms = terms.items;
    *out_count = terms.count;
    return CLEW_OK;
}
