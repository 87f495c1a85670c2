/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaceless.c - scripts without spaces between words, Hangul, and emoji.
 *
 * Without a dictionary, overlapping pairs of characters find words of such
 * scripts well. A character with its marks (Thai vowels, tones) counts as one.
 * Han bigrams carry their first character as a part, so that a question with a
 * word of one character finds it.
 */
#include "text/token_internal.h"

#include "base/limits.h"
#include "text/fold.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* Units of a run that are looked at together; a longer run goes on after. */
#define RUN_UNITS 64

struct run {
    size_t at[RUN_UNITS + 1]; /* offsets of the units, and the end */
    uint32_t c[RUN_UNITS];
    size_t n;
};

static bool is_mark(uint32_t c)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);

    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC;
}

static void read_run(const struct scan *scan, size_t at, enum char_class class,
                     struct run *run)
{
    run->n = 0;
    while (at < scan->text.len) {
        uint32_t c;
        uint32_t len;
        enum char_class here = char_at(scan->text, at, &c, &len);
        bool joins = run->n > 0 && is_mark(c) &&
                     at - run->at[run->n - 1] < LIMIT_TOKEN_BYTES / 4;

        if (here != class && !(joins && here == CHAR_MARK)) {
            break;
        }
        if (!joins) {
            if (run->n == RUN_UNITS) {
                break;
            }
            run->at[run->n] = at;
            run->c[run->n++] = c;
        }
        at += len;
    }
    run->at[run->n] = at;
}

/* Characters that NFKC leaves alone need no folding. */
static bool folds_to_itself(uint32_t c)
{
    return (c >= 0x3400 && c <= 0x9fff) || (c >= 0x3041 && c <= 0x3096) ||
           (c >= 0x30a1 && c <= 0x30fe) || (c >= 0xac00 && c <= 0xd7a3);
}

static void push(struct scan *scan, size_t from, size_t to, uint16_t kind,
                 uint16_t flags)
{
    struct token *token = scan_push(scan, from, to, kind, flags);
    bool is_plain = true;

    if (!token) {
        return;
    }
    for (size_t at = from; at < to && is_plain;) {
        uint32_t len;

        is_plain = folds_to_itself(char_decode(scan->text, at, &len));
        at += len;
    }
    if (!is_plain) {
        struct str raw = {scan->text.s + from, to - from};

        if (!fold_token(scan->arena, raw, &token->folded)) {
            scan->is_full = true;
            scan->is_out_of_memory = true;
            return;
        }
        token->stem = token->folded;
    }
}

static const char *const stops[] = {
#include "lexicon/cjk/stop.def"
};

static int compare_stop(const void *key, const void *row)
{
    const struct str *word = key;
    const char *stop = *(const char *const *)row;
    int order = strncmp(word->s, stop, word->len);

    return order == 0 && stop[word->len] ? -1 : order;
}

/* Is it a function word, which tells nothing of what a text is about? */
static uint16_t stop_flag(const struct scan *scan, size_t from, size_t to)
{
    struct str word = str_sub(scan->text, from, to);

    return bsearch(&word, stops, sizeof(stops) / sizeof(stops[0]),
                   sizeof(stops[0]), compare_stop)
               ? TOKEN_STOP
               : 0;
}

static bool is_kana(uint32_t c)
{
    return (c >= 0x3041 && c <= 0x30ff) || (c >= 0xff66 && c <= 0xff9f);
}

static void push_bigrams(struct scan *scan, const struct run *run,
                         enum char_class class)
{
    if (run->n == 1) {
        push(scan, run->at[0], run->at[1], TOKEN_BIGRAM, 0);
        return;
    }
    for (size_t i = 0; i < run->n; i++) {
        bool is_last = i + 1 == run->n;

        if (!is_last) {
            push(scan, run->at[i], run->at[i + 2], TOKEN_BIGRAM,
                 stop_flag(scan, run->at[i], run->at[i + 2]));
        }
        if (class == CHAR_HAN && !is_kana(run->c[i])) {
            push(scan, run->at[i], run->at[i + 1], TOKEN_BIGRAM,
                 TOKEN_PART | stop_flag(scan, run->at[i], run->at[i + 1]));
        }
    }
}

static void push_hangul(struct scan *scan, const struct run *run)
{
    size_t n = run->n;

    push(scan, run->at[0], run->at[n], TOKEN_WORD, 0);
    for (size_t i = 0; n > 2 && i + 1 < n; i++) {
        push(scan, run->at[i], run->at[i + 2], TOKEN_BIGRAM, TOKEN_PART);
    }
}

size_t scan_spaceless(struct scan *scan, size_t at, enum char_class class)
{
    struct run run;

    read_run(scan, at, class, &run);
    if (run.n == 0) {
        return at + 1;
    }
    if (class == CHAR_HANGUL) {
        push_hangul(scan, &run);
        return run.at[run.n];
    }
    push_bigrams(scan, &run, class);
    /* a run longer than the window goes on with its last character, so that
     * no pair is lost */
    if (run.n == RUN_UNITS && run.at[run.n] < scan->text.len) {
        uint32_t c;
        uint32_t len;

        if (char_at(scan->text, run.at[run.n], &c, &len) == class) {
            return run.at[run.n - 1];
        }
    }
    return run.at[run.n];
}

static bool is_flag_half(uint32_t c)
{
    return c >= 0x1f1e6 && c <= 0x1f1ff;
}

static bool is_skin_tone(uint32_t c)
{
    return c >= 0x1f3fb && c <= 0x1f3ff;
}

/* The meaning is in the base characters: no skin tone, no variation selector.
 */
static bool fold_emoji(struct scan *scan, struct token *token)
{
    char *copy = arena_alloc(scan->arena, token->folded.len + 1);
    size_t len = 0;

    if (!copy) {
        scan->is_full = true;
        scan->is_out_of_memory = true;
        return false;
    }
    for (size_t at = token->from; at < token->to;) {
        uint32_t step;
        uint32_t c = char_decode(scan->text, at, &step);

        if (c != 0xfe0f && !is_skin_tone(c)) {
            for (uint32_t i = 0; i < step; i++) {
                copy[len++] = scan->text.s[at + i];
            }
        }
        at += step;
    }
    if (len > 0) {
        token->folded = (struct str){copy, len};
        token->stem = token->folded;
    }
    return true;
}

size_t scan_emoji(struct scan *scan, size_t at)
{
    size_t from = at;
    bool is_modified = false;
    uint32_t c;
    uint32_t len;
    uint32_t first;
    struct token *token;

    (void)char_at(scan->text, at, &first, &len);
    at += len;
    while (at < scan->text.len && at - from < LIMIT_TOKEN_BYTES / 2) {
        enum char_class class = char_at(scan->text, at, &c, &len);
        uint32_t next_len;

        if (c == 0xfe0f || is_skin_tone(c)) {
            is_modified = true;
        } else if (c == 0x200d && at + len < scan->text.len) {
            uint32_t next;

            if (char_at(scan->text, at + len, &next, &next_len) != CHAR_EMOJI) {
                break;
            }
            len += next_len;
        } else if (!(is_flag_half(first) && is_flag_half(c) &&
                     class == CHAR_EMOJI && at - from == 4)) {
            break;
        }
        at += len;
    }
    token = scan_push(scan, from, at, TOKEN_SYMBOL, 0);
    if (token && is_modified) {
        (void)fold_emoji(scan, token); /* is_full tells */
    }
    return at;
}
