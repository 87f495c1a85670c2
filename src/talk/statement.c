/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statement.c - split a statement at its verb. See statement.h.
 */
#include "talk/statement.h"

#include "text/token.h"

#include <string.h>

/* Of a longer text only the beginning is read. */
#define MAX_BYTES 400
/* Words before the verb that say what it is about, at least. */
#define MIN_TERMS 2

/* Between what is spoken of and what is said of it; longer ones first. */
static const char *const verbs[] = {
    " has been set to ",
    " was changed to ",
    " has changed to ",
    " was set to ",
    " will be ",
    " is set to ",
    " is now ",
    " are now ",
    " equals ",
    " is ",
    " are ",
};
static const char *const articles[] = {"the ", "our ", "my ", "a ", "an "};
/* Say when something holds, not what. */
static const char *const fillers[] = {"now", "current", "new", "still",
                                      "today"};

static struct str first_sentence(struct str text)
{
    text = str_trim(text);
    for (size_t i = 0; i < text.len; i++) {
        bool is_end = text.s[i] == '.' || text.s[i] == '!' ||
                      text.s[i] == '?' || text.s[i] == ';';

        if (text.s[i] == '\n' ||
            (is_end && (i + 1 == text.len || text.s[i + 1] == ' '))) {
            return str_sub(text, 0, text.s[i] == '?' ? 0 : i);
        }
    }
    return text;
}

/* The first verb; of several at one place the longest. */
static bool split(struct str text, struct str *out_left, struct str *out_right)
{
    size_t best = SIZE_MAX;
    size_t len = 0;

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        size_t at = str_ifind(text, str_of(verbs[i]), 0);

        if (at < best) {
            best = at;
            len = strlen(verbs[i]);
        }
    }
    if (best == SIZE_MAX) {
        return false;
    }
    *out_left = str_trim(str_sub(text, 0, best));
    *out_right = str_trim(str_sub(text, best + len, text.len));
    return out_left->len > 0 && out_right->len > 0;
}

static struct str without_article(struct str text)
{
    for (size_t i = 0; i < sizeof(articles) / sizeof(articles[0]); i++) {
        if (str_istarts(text, str_of(articles[i]))) {
            return str_sub(text, strlen(articles[i]), text.len);
        }
    }
    return text;
}

/* "deadline of Apollo", "Apollo's deadline"; else all of it is the subject. */
static void name_parts(struct statement *out)
{
    static const char *const joints[] = {" of ", " for "};
    size_t at;

    out->attribute = STR("");
    out->subject = without_article(out->about);
    for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
        at = str_ifind(out->about, str_of(joints[i]), 0);
        if (at != SIZE_MAX) {
            out->attribute = without_article(str_sub(out->about, 0, at));
            out->subject = without_article(
                str_sub(out->about, at + strlen(joints[i]), out->about.len));
            return;
        }
    }
    at = str_find(out->about, STR("'s "), 0);
    if (at != SIZE_MAX) {
        out->subject = without_article(str_sub(out->about, 0, at));
        out->attribute = str_sub(out->about, at + 3, out->about.len);
    }
}

static bool is_filler(struct str term)
{
    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
        if (str_eq(term, str_of(fillers[i]))) {
            return true;
        }
    }
    return false;
}

static bool holds(const struct str *terms, size_t count, struct str term)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(terms[i], term)) {
            return true;
        }
    }
    return false;
}

/* The telling words of a text, without repeats. */
static bool words_of(struct arena *arena, struct str text,
                     struct str **out_terms, size_t *out_count)
{
    struct tokens tokens;
    struct str *terms = NULL;
    size_t count = 0;
    size_t n = 0;

    if (tokens_of(arena, text, &tokens) != CLEW_OK ||
        terms_of(arena, &tokens, &terms, &count) != CLEW_OK) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct str term = terms[i];

        if (term.len > 2 && memcmp(term.s + term.len - 2, "'s", 2) == 0) {
            term.len -= 2; /* whose it is, is who it is about */
        }
        if (!is_filler(term) && !holds(terms, n, term)) {
            terms[n++] = term;
        }
    }
    *out_terms = terms;
    *out_count = n;
    return true;
}

bool statement_of(struct arena *arena, struct str text, struct statement *out)
{
    static const char *const denials[] = {"not ", "no longer ", "never "};

    memset(out, 0, sizeof(*out));
    text = first_sentence(text);
    if (text.len > MAX_BYTES || !split(text, &out->about, &out->value)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(denials) / sizeof(denials[0]); i++) {
        if (str_istarts(out->value, str_of(denials[i]))) {
            out->is_negated = true;
            out->value =
                str_sub(out->value, strlen(denials[i]), out->value.len);
        }
    }
    name_parts(out);
    return words_of(arena, out->about, &out->terms, &out->n_terms) &&
           words_of(arena, out->value, &out->values, &out->n_values) &&
           out->n_terms >= MIN_TERMS && out->n_values > 0;
}

static size_t count_shared(const struct str *a, size_t n_a, const struct str *b,
                           size_t n_b)
{
    size_t n = 0;

    for (size_t i = 0; i < n_a; i++) {
        n += holds(b, n_b, a[i]);
    }
    return n;
}

bool statement_disagrees(const struct statement *a, const struct statement *b)
{
    size_t fewer = a->n_terms < b->n_terms ? a->n_terms : b->n_terms;
    size_t more = a->n_terms < b->n_terms ? b->n_terms : a->n_terms;
    size_t shared =
        count_shared(a->values, a->n_values, b->values, b->n_values);
    bool is_same_value = shared == a->n_values || shared == b->n_values;

    /* "the Apollo deadline" is "the deadline of the Apollo project" */
    if (count_shared(a->terms, a->n_terms, b->terms, b->n_terms) < fewer ||
        more > fewer + 1) {
        return false;
    }
    return a->is_negated != b->is_negated ? is_same_value
                                          : !a->is_negated && !is_same_value;
}
