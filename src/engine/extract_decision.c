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

/* A label explained some turns ago is still known. */
#define OFFER_REACH 6u

#define SURE 0.85f
/* "Option A", but nobody said what that is. */
#define UNEXPLAINED 0.6f
/* "I'll migrate the database": a promise rather than a choice. */
#define PROMISED 0.7f

/* Verbs of the next few minutes, not of a plan. */
#define ERRANDS                                                                \
    "be see try let check look think wait keep come go tell ask send show "    \
    "give paste post share need have get take say bet admit explain guess "    \
    "believe know find forget remember mention add read stop call test try "   \
    "report update"

/* --- what was decided --------------------------------------------------------
 */

struct verdict {
    size_t at; /* index behind the deciding words, 0 = decides nothing */
    const char *rule;
    float confidence;
};

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
    if (is_will && word_any(&words[i], "use pick choose switch take")) {
        return i + 1 +
               (word_is(&words[i], "switch") && word_is(&words[i + 1], "to"));
    }
    return 0;
}

/*
 * "I'll migrate the database": what somebody takes on. Errands of the moment
 * ("I'll check the logs") and what is said between people are talk.
 */
static size_t promise_at(const struct extraction *x, const struct clause *c)
{
    const struct intent_word *words = c->piece->words;
    size_t i = c->subject;
    bool is_will = word_any(&words[i], "i'll we'll");

    if (x->turn->role != EXTRACT_USER || x->turn->speaker.len > 0 ||
        (x->turn->intent->flags & INTENT_HOLD)) {
        return 0;
    }
    for (i++; i < c->end &&
              (word_is_adverb(&words[i]) || word_is(&words[i], "will"));
         i++) {
        is_will |= word_is(&words[i], "will");
    }
    if (!is_will || i + 1 >= c->end || !intent_is_verb(&words[i]) ||
        word_any(&words[i], ERRANDS)) {
        return 0;
    }
    return i + 1;
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

/* "option A", "plan 2": the index of the label, or 0. */
static size_t label_said(const struct clause *c, size_t at)
{
    const struct intent_word *words = c->piece->words;

    for (size_t i = at; i + 1 < c->end; i++) {
        if (word_any(&words[i], "option plan choice variant alternative") &&
            (words[i + 1].len == 1 || words_numbers(words, i + 1, i + 2) > 0)) {
            return i + 1;
        }
    }
    return 0;
}

/* A label may have been explained some turns ago. */
static size_t find_label(const struct extraction *x, const struct clause *c,
                         size_t at, struct extract_options *options)
{
    size_t meant = EXTRACT_MAX_OPTIONS;

    for (size_t back = 2;
         label_said(c, at) && back <= OFFER_REACH &&
         back <= x->input->n_previous && meant == EXTRACT_MAX_OPTIONS;
         back++) {
        extract_options_of(x, back, options);
        meant = extract_option_meant(options, c->piece->words, at, c->end);
    }
    return meant;
}

/* The deciding clause about its speaker; "let's" is a decision of theirs. */
static enum clew_status put_choice(const struct extraction *x,
                                   const struct clause *c, struct buf *out)
{
    struct clause rest = *c;

    if (!word_is(&c->piece->words[c->subject], "let's")) {
        return rewrite_clause(x, c, true, out);
    }
    rest.first = rest.subject = c->subject + 1;
    (void)buf_append_str(out, x->self); /* checked by rewrite_clause() */
    (void)buf_append_cstr(out, " decided to "); /* the same */
    if (out->len > 0) {
        out->data[0] = (char)toupper((unsigned char)out->data[0]);
    }
    return rewrite_clause(x, &rest, false, out);
}

static enum clew_status add_decision(struct extraction *x,
                                     const struct clause *c,
                                     const struct extract_options *o,
                                     size_t meant,
                                     const struct verdict *verdict)
{
    struct extract_item *item;
    struct buf text;
    uint32_t from;
    uint32_t to;
    enum clew_status status;

    buf_init(&text, 2048);
    status = put_choice(x, c, &text);
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
               ? extract_add(x, EXTRACT_DECISION, verdict->rule,
                             verdict->confidence)
               : NULL;
    if (item) {
        item->summary = arena_str(x->arena, buf_str(&text));
        extract_cite_add(item, 0, from, to);
        item->detail = alternative_said(x, c);
        if (meant < o->n) {
            extract_cite_add(item, o->back, o->items[meant].from,
                             o->items[meant].to);
            item->detail = extract_options_but(x->arena, o, meant);
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

/* "let's", "we'll": no statements to clause_of(), but they may decide. */
static bool speaks_for_us(const struct intent_piece *piece, struct clause *out)
{
    size_t at = piece->body;

    if (at + 3 > piece->n_words ||
        !word_any(&piece->words[at], "let's we'll") || piece->end == '?') {
        return false;
    }
    *out = (struct clause){
        .piece = piece, .first = at, .subject = at, .end = piece->n_words};
    return true;
}

/* Whether the clause decides something that has a name. */
static struct verdict judge(const struct extraction *x, const struct clause *c,
                            struct extract_options *options, size_t *out_meant)
{
    struct verdict verdict = {.confidence = SURE};
    const struct intent_word *words = c->piece->words;
    struct str said;
    size_t content;

    verdict.at = decision_at(c, &verdict.rule);
    if (!verdict.at) {
        verdict.at = promise_at(x, c);
        verdict.rule = "promised";
        verdict.confidence = PROMISED;
    }
    if (!verdict.at || verdict.at >= c->end || is_hedged(c)) {
        return (struct verdict){0};
    }
    extract_options_of(x, 1, options);
    *out_meant = extract_option_meant(options, words, verdict.at, c->end);
    said = str_sub(x->turn->text, words[verdict.at].from, words[c->end - 1].to);
    if (*out_meant == EXTRACT_MAX_OPTIONS) {
        *out_meant = extract_option_named(options, said);
    }
    if (*out_meant == EXTRACT_MAX_OPTIONS) {
        *out_meant = find_label(x, c, verdict.at, options);
    }
    if (*out_meant < EXTRACT_MAX_OPTIONS) {
        return verdict;
    }
    if (word_is(&words[verdict.at - 1], "take")) {
        return (struct verdict){0}; /* "I'll take the bus": no choice */
    }
    content = words_content(words, verdict.at, c->end);
    if (label_said(c, verdict.at)) {
        verdict.confidence = UNEXPLAINED;
    } else if (content == 0 ||
               word_any(&words[verdict.at], "it that this them these those "
                                            "option one both either")) {
        return (struct verdict){0}; /* a pronoun names nothing */
    }
    return verdict;
}

enum clew_status extract_decisions(struct extraction *x)
{
    if (x->turn->role != EXTRACT_USER && x->turn->speaker.len == 0) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < x->pieces.count; i++) {
        struct extract_options options;
        struct verdict verdict;
        struct clause c;
        size_t meant = EXTRACT_MAX_OPTIONS;
        enum clew_status status;

        if (!clause_of(x, &x->pieces.items[i], &c) &&
            !speaks_for_us(&x->pieces.items[i], &c)) {
            continue;
        }
        verdict = judge(x, &c, &options, &meant);
        if (!verdict.at) {
            continue;
        }
        status = add_decision(x, &c, &options, meant, &verdict);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}
