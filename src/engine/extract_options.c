/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_options.c - what a turn had on offer, and which of it is meant.
 *
 * Options are lines of a list, labelled words ("Option A: Stripe") or names on
 * both sides of "or". They are meant by label, by ordinal or by their name.
 */
#include "engine/extract_internal.h"

#include <ctype.h>
#include <string.h>

#define MAX_OPTION_BYTES 100
/* Offers are made at the head of a turn. */
#define OFFER_BYTES 8192u

static void add_option(struct extract_options *o, struct str source, char label,
                       size_t from, size_t to)
{
    struct str text;

    if (to > from + MAX_OPTION_BYTES) {
        return;
    }
    text = str_trim(str_sub(source, from, to));
    while (text.len > 0 && strchr(".,;:*?!", text.s[text.len - 1])) {
        text.len--;
    }
    if (o->n == EXTRACT_MAX_OPTIONS || text.len == 0) {
        return;
    }
    o->items[o->n].label = (char)tolower((unsigned char)label);
    o->items[o->n].text = text;
    o->items[o->n].from = (uint32_t)(text.s - source.s);
    o->items[o->n].to = o->items[o->n].from + (uint32_t)text.len;
    o->n++;
}

/* "1. Stripe", "b) PayPal", "Option A: Stripe", "- **A**: ..." */
static void list_options(struct str source, struct extract_options *out)
{
    size_t at = 0;

    while (at < source.len) {
        size_t end = str_find(source, STR("\n"), at);
        struct str line;
        size_t i;

        end = end == SIZE_MAX ? source.len : end;
        line = str_sub(source, at, end);
        i = 0;
        while (i < line.len && strchr(" *-#", line.s[i])) {
            i++;
        }
        if (str_istarts(str_sub(line, i, line.len), STR("option "))) {
            i += 7;
        }
        if (i + 2 < line.len && isalnum((unsigned char)line.s[i]) &&
            strchr(").:*", line.s[i + 1])) {
            size_t from = i + 2;
            size_t stop;

            while (from < line.len && strchr(" *:)", line.s[from])) {
                from++;
            }
            stop = str_find(line, STR(" - "), from);
            stop = stop == SIZE_MAX ? str_find(line, STR(": "), from) : stop;
            stop = stop == SIZE_MAX ? str_find(line, STR(". "), from) : stop;
            stop = stop == SIZE_MAX ? line.len : stop;
            add_option(out, source, line.s[i], at + from, at + stop);
        }
        at = end + 1;
    }
}

/* Bytes of a label at `at`: "option A", "(b)", "2)"; 0 if none stands there. */
static size_t label_at(struct str source, size_t at, char *out_label)
{
    struct str rest = str_sub(source, at, source.len);
    size_t i = 0;
    bool is_word = str_istarts(rest, STR("option "));

    if (at > 0 && isalnum((unsigned char)source.s[at - 1])) {
        return 0;
    }
    if (is_word) {
        i = 7;
    } else if (rest.len > 0 && rest.s[0] == '(') {
        i = 1;
    }
    if (i >= rest.len || !isalnum((unsigned char)rest.s[i]) ||
        (i + 1 < rest.len && isalnum((unsigned char)rest.s[i + 1])) ||
        (!is_word && (i + 1 >= rest.len || rest.s[i + 1] != ')'))) {
        return 0;
    }
    *out_label = rest.s[i];
    return i + (is_word ? 1 : 2);
}

/* Where the words for an option end that begin at `from`. */
static size_t option_end(struct str source, size_t from)
{
    char label;

    for (size_t i = from; i < source.len; i++) {
        if (source.s[i] == '\n' || source.s[i] == ';' ||
            (strchr(".?!", source.s[i]) &&
             (i + 1 == source.len ||
              isspace((unsigned char)source.s[i + 1]))) ||
            label_at(source, i, &label)) {
            return i;
        }
    }
    return source.len;
}

/* "Option A: Stripe. Option B: PayPal.", "(a) Stripe or (b) PayPal" */
static void labelled_options(struct str source, struct extract_options *out)
{
    size_t at = 0;

    while (at < source.len) {
        char label;
        size_t n = label_at(source, at, &label);
        size_t end;

        if (n == 0) {
            at++;
            continue;
        }
        at += n;
        while (at < source.len && strchr(" :*-=)", source.s[at])) {
            at++;
        }
        if (str_istarts(str_sub(source, at, source.len), STR("is "))) {
            at += 3;
        }
        end = option_end(source, at);
        while (end > at && (isspace((unsigned char)source.s[end - 1]) ||
                            source.s[end - 1] == ',')) {
            end--;
        }
        if (end > at + 3 && str_ends(str_sub(source, at, end), STR(" or"))) {
            end -= 3;
        } else if (end > at + 4 &&
                   str_ends(str_sub(source, at, end), STR(" and"))) {
            end -= 4;
        }
        add_option(out, source, label, at, end);
        at = end > at ? end : at + 1;
    }
}

/* A word that cannot be part of a short name: where an option stops. */
static bool bounds_option(const struct intent_word *word)
{
    return word_any(word, "do you we i should prefer use want like go with the "
                          "or is it to would rather between either a for try "
                          "choose pick have they could use using think about "
                          "consider recommend suggest them then and but if "
                          "because which in on");
}

/* "... Stripe or PayPal?": the names on both sides of "or". */
static void inline_options(const struct extraction *x, struct str source,
                           struct extract_options *out)
{
    struct intent_pieces pieces;

    if (intent_split(x->arena, source, &pieces) != CLEW_OK) {
        return;
    }
    for (size_t p = 0; p < pieces.count; p++) {
        const struct intent_piece *piece = &pieces.items[p];
        const struct intent_word *words = piece->words;

        for (size_t i = 1; i + 1 < piece->n_words; i++) {
            size_t from = i;
            size_t to = i + 1;

            if (!word_is(&words[i], "or")) {
                continue;
            }
            while (from > 0 && i - from < 4 &&
                   !bounds_option(&words[from - 1])) {
                from--;
            }
            while (to < piece->n_words && to - i < 5 &&
                   !bounds_option(&words[to])) {
                to++;
            }
            if (from < i && to > i + 1) {
                add_option(out, source, 0, words[from].from, words[i - 1].to);
                add_option(out, source, 0, words[i + 1].from, words[to - 1].to);
            }
        }
    }
}

size_t extract_option_meant(const struct extract_options *o,
                            const struct intent_word *words, size_t first,
                            size_t end)
{
    static const char *const ordinals[] = {"first 1st former", "second 2nd",
                                           "third 3rd", "fourth 4th"};

    for (size_t i = first; i < end; i++) {
        for (size_t k = 0; k < 4 && k < o->n; k++) {
            if (word_any(&words[i], ordinals[k])) {
                return k;
            }
        }
        if (word_any(&words[i], "last latter") && o->n > 1) {
            return o->n - 1;
        }
        for (size_t k = 0; k < o->n; k++) {
            if (o->items[k].label && words[i].len == 1 &&
                words[i].s[0] == o->items[k].label &&
                (end - first == 1 ||
                 (i > first &&
                  word_any(&words[i - 1], "option number plan choice")))) {
                return k;
            }
        }
    }
    return EXTRACT_MAX_OPTIONS;
}

size_t extract_option_named(const struct extract_options *o, struct str said)
{
    for (size_t i = 0; i < o->n; i++) {
        if (o->items[i].text.len > 2 &&
            str_ifind(said, o->items[i].text, 0) != SIZE_MAX) {
            return i;
        }
    }
    return EXTRACT_MAX_OPTIONS;
}

void extract_options_of(const struct extraction *x, size_t back,
                        struct extract_options *out)
{
    *out = (struct extract_options){.back = back};
    if (x->input->n_previous >= back) {
        struct str before = x->input->previous[back - 1].text;

        before.len = before.len < OFFER_BYTES ? before.len : OFFER_BYTES;
        list_options(before, out);
        if (out->n < 2) {
            out->n = 0;
            labelled_options(before, out);
        }
        if (out->n < 2) {
            out->n = 0;
            inline_options(x, before, out);
        }
    }
}

struct str extract_options_but(struct arena *arena,
                               const struct extract_options *o, size_t chosen)
{
    struct buf text;
    struct str out = {0};

    buf_init(&text, 1024);
    for (size_t i = 0; i < o->n; i++) {
        if (i == chosen) {
            continue;
        }
        if (text.len > 0) {
            (void)buf_append_cstr(&text, ", "); /* best effort, bounded */
        }
        (void)buf_append_str(&text, o->items[i].text); /* the same */
    }
    if (text.len > 0) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    return out;
}
