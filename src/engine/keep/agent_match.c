/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_match.c - does a turn concern a package, and what does it say to it?
 *
 * Only words, acts and flags are looked at, and only the beginning of a long
 * text, so that many packages can watch every turn.
 */
#include "engine/keep/agents.h"

#include "base/utf8.h"
#include "text/smalltalk.h"

#include <ctype.h>

/* Bytes of a turn that packages look at. */
#define LOOK_BYTES (32u * 1024)

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || c == '_';
}

/* Offset of `phrase` as whole words, ASCII case aside; SIZE_MAX if not there.
 */
static size_t find_phrase(struct str text, struct str phrase)
{
    size_t at = str_ifind(text, phrase, 0);

    while (at != SIZE_MAX) {
        size_t end = at + phrase.len;

        if ((at == 0 || !is_word_byte(text.s[at - 1]) ||
             !is_word_byte(phrase.s[0])) &&
            (end == text.len || !is_word_byte(text.s[end]) ||
             !is_word_byte(phrase.s[phrase.len - 1]))) {
            return at;
        }
        at = str_ifind(text, phrase, at + 1);
    }
    return SIZE_MAX;
}

static size_t first_phrase(const struct agent_rule *rule, struct str text)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < rule->n_words; i++) {
        size_t at = find_phrase(text, rule->words[i]);

        best = at < best ? at : best;
    }
    return best;
}

static bool rule_holds(const struct agent_rule *rule, struct str text,
                       const struct intent *intent)
{
    if (rule->acts && !(rule->acts & (1u << intent->act))) {
        return false;
    }
    if (rule->flags && !(rule->flags & intent->flags)) {
        return false;
    }
    return rule->n_words == 0 || first_phrase(rule, text) != SIZE_MAX;
}

enum agent_step agent_match(const struct agent *agent, struct str text,
                            const struct intent *intent, bool is_open)
{
    text = utf8_head(text, LOOK_BYTES);
    if (is_open) {
        if (agent->concludes.is_set &&
            rule_holds(&agent->concludes, text, intent)) {
            return AGENT_CONCLUDES;
        }
        if (agent->extends.is_set &&
            rule_holds(&agent->extends, text, intent)) {
            return AGENT_EXTENDS;
        }
        return AGENT_NONE;
    }
    if ((agent->triggers.is_set || agent->opens.is_set) &&
        rule_holds(&agent->triggers, text, intent) &&
        rule_holds(&agent->opens, text, intent)) {
        return AGENT_OPENS;
    }
    return AGENT_NONE;
}

static struct str line_around(struct str text, size_t at)
{
    size_t from = at;
    size_t to = at;

    while (from > 0 && text.s[from - 1] != '\n') {
        from--;
    }
    while (to < text.len && text.s[to] != '\n') {
        to++;
    }
    return str_trim(str_sub(text, from, to));
}

static struct str sentence_around(struct str text, const struct intent *intent,
                                  size_t at)
{
    for (size_t i = 0; i < intent->n_segments; i++) {
        const struct intent_segment *seg = &intent->segments[i];

        if (at < seg->to) {
            return str_sub(text, seg->from, seg->to);
        }
    }
    return line_around(text, at);
}

/* The sentence at `at` asks: what it names is wanted, not given. */
static bool is_asked(const struct intent *intent, size_t at)
{
    for (size_t i = 0; i < intent->n_segments; i++) {
        if (at < intent->segments[i].to) {
            return intent->segments[i].act == INTENT_QUESTION;
        }
    }
    return false;
}

/* Where what is said begins: "evening!" is not it. */
static size_t told_first(struct str text, const struct intent *intent)
{
    for (size_t i = 0; i < intent->n_segments; i++) {
        const struct intent_segment *seg = &intent->segments[i];

        if (seg->act != INTENT_GREETING &&
            !smalltalk_is(str_sub(text, seg->from, seg->to))) {
            return seg->from;
        }
    }
    return 0;
}

/* Where the rule's words stand outside of questions; SIZE_MAX if nowhere. */
static size_t told_at(const struct agent_rule *rule, struct str text,
                      const struct intent *intent)
{
    size_t from = 0;
    size_t at;

    if (rule->n_words == 0) {
        return told_first(text, intent);
    }
    while ((at = first_phrase(rule, str_sub(text, from, text.len))) !=
           SIZE_MAX) {
        if ((rule->acts & (1u << INTENT_QUESTION)) ||
            !is_asked(intent, from + at)) {
            return from + at;
        }
        from += at + 1;
    }
    return SIZE_MAX;
}

struct str agent_value(const struct agent_field *field, enum agent_step step,
                       struct str text, const struct intent *intent)
{
    size_t at;

    if (!field->has_extraction ||
        (field->from != AGENT_NONE && field->from != step)) {
        return (struct str){0};
    }
    text = utf8_head(text, LOOK_BYTES);
    if (!rule_holds(&field->rule, text, intent)) {
        return (struct str){0};
    }
    at = told_at(&field->rule, text, intent);
    if (at == SIZE_MAX) {
        return (struct str){0};
    }
    switch (field->take) {
    case AGENT_SENTENCE:
        return sentence_around(text, intent, at);
    case AGENT_LINE:
        return line_around(text, at);
    case AGENT_TURN:
        return str_trim(text);
    }
    return (struct str){0};
}

const char *agent_step_name(enum agent_step step)
{
    static const char *const names[] = {"none", "opens", "extends",
                                        "concludes"};

    return names[step];
}
