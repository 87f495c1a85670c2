/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_decision.c - a choice that was made, and what was not taken.
 *
 * The deciding verb stands right behind the subject ("we decided on ...",
 * "I'll go with ..."). "Option A" and "that one" are named from the turn
 * before; a choice that cannot be named is no memory.
 */
#include "engine/extract_internal.h"

#include <ctype.h>
#include <string.h>

#define MAX_OPTIONS 8
#define MAX_OPTION_BYTES 100

struct option {
    char label; /* 'a', '1' ... or 0 */
    struct str text;
    uint32_t from;
    uint32_t to;
};

struct options {
    struct option items[MAX_OPTIONS];
    size_t n;
};

/* --- what the turn before had on offer -------------------------------------
 */

static void add_option(struct options *o, struct str source, char label,
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
    if (o->n == MAX_OPTIONS || text.len == 0) {
        return;
    }
    o->items[o->n].label = (char)tolower((unsigned char)label);
    o->items[o->n].text = text;
    o->items[o->n].from = (uint32_t)(text.s - source.s);
    o->items[o->n].to = o->items[o->n].from + (uint32_t)text.len;
    o->n++;
}

/* "1. Stripe", "b) PayPal", "Option A: Stripe", "- **A**: ..." */
static void list_options(struct str source, struct options *out)
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
                           struct options *out)
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

/* Which option the words [first, end) mean; MAX_OPTIONS if none. */
static size_t option_meant(const struct options *o,
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
    return MAX_OPTIONS;
}

/* --- what was decided --------------------------------------------------------
 */

/* Index behind the deciding words, 0 if there are none. */
static size_t decision_at(const struct clause *c, const char **out_rule)
{
    const struct intent_word *words = c->piece->words;
    size_t i = c->subject;
    bool is_will = word_any(&words[i], "i'll we'll let's");
    bool is_past = word_any(&words[i], "i we i've we've") || c->is_elided;
    bool is_going = word_any(&words[i], "i'm we're");

    i += !c->is_elided;
    while (i < c->end && (word_is_adverb(&words[i]) ||
                          word_any(&words[i], "have all will"))) {
        is_will |= word_is(&words[i], "will");
        i++;
    }
    if (is_going && i + 1 < c->end && word_is(&words[i], "going") &&
        word_is(&words[i + 1], "to")) {
        is_will = true;
        i += 2;
    }
    if (i + 1 >= c->end) {
        return 0;
    }
    *out_rule = "decided";
    if (is_past && word_any(&words[i], "decided agreed opted settled") &&
        word_any(&words[i + 1], "to on against for that not")) {
        return i + 2;
    }
    if (is_past && word_any(&words[i], "chose picked selected") &&
        !word_any(&words[i + 1], "up to")) {
        return i + 1;
    }
    *out_rule = "go-with";
    if ((is_will && word_any(&words[i], "go stick")) ||
        (is_going && word_any(&words[i], "going sticking switching")) ||
        (is_past && word_any(&words[i], "went"))) {
        return word_is(&words[i + 1], "with") ||
                       (word_is(&words[i], "switching") &&
                        word_any(&words[i + 1], "to from"))
                   ? i + 2
                   : 0;
    }
    if (is_will && word_any(&words[i], "use pick choose switch")) {
        return i + 1 +
               (word_is(&words[i], "switch") && word_is(&words[i + 1], "to"));
    }
    return 0;
}

static bool is_hedged(const struct clause *c)
{
    const struct intent_word *words = c->piece->words;

    return words_have(words, 0, c->end,
                      "you your you're maybe might perhaps if unless whether "
                      "haven't not could probably") ||
           c->piece->end == '?';
}

/* Rejected names in the sentence itself: "X over Y", "instead of Y". */
static struct str alternative_said(const struct extraction *x,
                                   const struct clause *c)
{
    const struct intent_word *words = c->piece->words;

    for (size_t i = c->subject + 2; i + 1 < c->end; i++) {
        size_t from = 0;

        if (word_any(&words[i], "over not")) {
            from = i + 1;
        } else if (word_any(&words[i], "instead rather") &&
                   word_any(&words[i + 1], "of than")) {
            from = i + 2;
        }
        if (from && from < c->end) {
            return str_sub(x->turn->text, words[from].from,
                           words[c->end - 1].to);
        }
    }
    return (struct str){0};
}

static struct str alternatives_of(struct arena *arena, const struct options *o,
                                  size_t chosen)
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

/* The option whose own name is in the decision. */
static size_t option_named(const struct options *o, struct str said)
{
    for (size_t i = 0; i < o->n; i++) {
        if (o->items[i].text.len > 2 &&
            str_ifind(said, o->items[i].text, 0) != SIZE_MAX) {
            return i;
        }
    }
    return MAX_OPTIONS;
}

static void collect_options(const struct extraction *x, struct options *out)
{
    out->n = 0;
    if (x->input->n_previous > 0) {
        struct str before = x->input->previous[0].text;

        list_options(before, out);
        if (out->n < 2) {
            out->n = 0;
            inline_options(x, before, out);
        }
    }
}

static enum clew_status add_decision(struct extraction *x,
                                     const struct clause *c,
                                     const struct options *o, size_t meant,
                                     const char *rule)
{
    struct extract_item *item;
    struct buf text;
    uint32_t from;
    uint32_t to;
    enum clew_status status;

    buf_init(&text, 2048);
    status = rewrite_clause(x, c, true, &text);
    clause_bytes(c, &from, &to);
    if (status == CLEW_OK && meant < o->n &&
        str_ifind(buf_str(&text), o->items[meant].text, 0) == SIZE_MAX) {
        (void)buf_append_cstr(&text, ": "); /* checked below */
        status = buf_append_str(&text, o->items[meant].text);
    }
    if (status == CLEW_OK) {
        status = rewrite_date(x, from, to, &text);
    }
    (void)buf_append_char(&text, '.'); /* checked below */
    item = status == CLEW_OK && buf_status(&text) == CLEW_OK
               ? extract_add(x, EXTRACT_DECISION, rule, 0.85f)
               : NULL;
    if (item) {
        item->summary = arena_str(x->arena, buf_str(&text));
        extract_cite_add(item, 0, from, to);
        item->detail = alternative_said(x, c);
        if (meant < o->n) {
            extract_cite_add(item, 1, o->items[meant].from, o->items[meant].to);
            item->detail = alternatives_of(x->arena, o, meant);
        }
    }
    buf_release(&text);
    if (status == CLEW_TOO_LARGE) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    return item && item->summary.s ? CLEW_OK : CLEW_NO_MEMORY;
}

/* "let's go with Stripe" is not a statement, so clause_of() passes it by. */
static bool is_lets(const struct intent_piece *piece, struct clause *out)
{
    size_t at = piece->body;

    if (at + 3 > piece->n_words || !word_is(&piece->words[at], "let's") ||
        piece->end == '?') {
        return false;
    }
    *out = (struct clause){
        .piece = piece, .first = at, .subject = at, .end = piece->n_words};
    return true;
}

enum clew_status extract_decisions(struct extraction *x)
{
    struct options options;

    if (x->turn->role != EXTRACT_USER && x->turn->speaker.len == 0) {
        return CLEW_OK;
    }
    collect_options(x, &options);
    for (size_t i = 0; i < x->pieces.count; i++) {
        struct clause c;
        const char *rule = "decided";
        size_t at;
        size_t meant;
        enum clew_status status;
        struct str said;

        if (!clause_of(x, &x->pieces.items[i], &c) &&
            !is_lets(&x->pieces.items[i], &c)) {
            continue;
        }
        at = decision_at(&c, &rule);
        if (!at || at >= c.end || is_hedged(&c)) {
            continue;
        }
        meant = option_meant(&options, c.piece->words, at, c.end);
        said = str_sub(x->turn->text, c.piece->words[at].from,
                       c.piece->words[c.end - 1].to);
        if (meant == MAX_OPTIONS) {
            meant = option_named(&options, said);
        }
        /* a pronoun, or a label nobody explained, names nothing */
        if (meant == MAX_OPTIONS &&
            (word_any(&c.piece->words[at],
                      "it that this them these those option one both either") ||
             words_content(c.piece->words, at, c.end) == 0)) {
            continue;
        }
        status = add_decision(x, &c, &options, meant, rule);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}
