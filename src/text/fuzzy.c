/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzy.c - how alike two short strings are. See analysis.h.
 *
 * The better of two views: words in any order ("payment integration" and
 * "integration of payments"), and the edit distance of the whole ("Postgres"
 * and "postgress"). Longer strings are cut; no allocation.
 */
#include "text/analysis.h"

#include <string.h>

#define MAX_BYTES 192
#define MAX_WORDS 24
/* Words less alike than this do not match. */
#define WORD_FLOOR 0.7

struct words {
    char bytes[MAX_BYTES];
    size_t len;
    struct str items[MAX_WORDS];
    size_t n;
};

static bool is_filler(struct str word)
{
    static const char *const fillers[] = {"a",   "an", "the", "of",  "my",
                                          "our", "to", "and", "for", "in"};

    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
        if (str_eq(word, str_of(fillers[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_word_byte(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* Lower-case, one space between words, fillers left out of the word list. */
static void read_words(struct str text, struct words *out)
{
    size_t from = 0;

    out->len = 0;
    out->n = 0;
    for (size_t i = 0; i < text.len && out->len < MAX_BYTES; i++) {
        unsigned char c = (unsigned char)text.s[i];

        c = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        if (is_word_byte(c)) {
            out->bytes[out->len++] = (char)c;
        } else if (out->len > 0 && out->bytes[out->len - 1] != ' ') {
            out->bytes[out->len++] = ' ';
        }
    }
    if (out->len > 0 && out->bytes[out->len - 1] == ' ') {
        out->len--;
    }
    for (size_t i = 0; i <= out->len && out->n < MAX_WORDS; i++) {
        if (i == out->len || out->bytes[i] == ' ') {
            struct str word = {out->bytes + from, i - from};

            if (word.len > 0 && !is_filler(word)) {
                out->items[out->n++] = word;
            }
            from = i + 1;
        }
    }
}

/* 1 - Levenshtein distance / longer length. */
static double edit_similarity(struct str a, struct str b)
{
    uint8_t row[MAX_BYTES + 1];
    size_t longer = a.len > b.len ? a.len : b.len;

    if (longer == 0) {
        return 0;
    }
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = (uint8_t)j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        uint8_t diagonal = row[0];

        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b.len; j++) {
            uint8_t above = row[j];
            unsigned best = diagonal + (a.s[i - 1] != b.s[j - 1] ? 1u : 0u);

            if (above + 1u < best) {
                best = above + 1u;
            }
            if (row[j - 1] + 1u < best) {
                best = row[j - 1] + 1u;
            }
            row[j] = (uint8_t)best;
            diagonal = above;
        }
    }
    return 1.0 - (double)row[b.len] / (double)longer;
}

static double set_similarity(const struct words *a, const struct words *b)
{
    uint32_t used = 0;
    double sum = 0;

    if (a->n == 0 || b->n == 0) {
        return 0;
    }
    for (size_t i = 0; i < a->n; i++) {
        double best = WORD_FLOOR;
        size_t match = MAX_WORDS;

        for (size_t j = 0; j < b->n; j++) {
            double alike;

            if (used >> j & 1) {
                continue;
            }
            alike = edit_similarity(a->items[i], b->items[j]);
            if (alike > best || (alike == best && match == MAX_WORDS)) {
                best = alike;
                match = j;
            }
        }
        if (match < MAX_WORDS) {
            used |= 1u << match;
            sum += best;
        }
    }
    return 2 * sum / (double)(a->n + b->n);
}

double text_fuzzy(struct str a, struct str b)
{
    struct words left;
    struct words right;
    double by_words;
    double by_edits;

    read_words(a, &left);
    read_words(b, &right);
    by_words = set_similarity(&left, &right);
    by_edits = edit_similarity((struct str){left.bytes, left.len},
                               (struct str){right.bytes, right.len});
    return by_words > by_edits ? by_words : by_edits;
}
