/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.c - the act of a whole turn, from its segments and the turn before.
 *
 * The last question or request speaks for the turn. What is left is read in
 * the light of the previous act: after a question "yes" is an answer, after a
 * request it is consent, after anything else an acknowledgement.
 */
#include "model/intent_internal.h"

#include <string.h>

/* Rules at least this sure decide alone (spec). */
#define RULE_FLOOR 0.7f
/* The classifier must be this sure to be believed (spec: at least .5). */
#define CLASSIFIER_FLOOR 0.6f
/* A reply of so few words to a request is consent if nothing else. */
#define SHORT_REPLY_WORDS 4
/* From here on a question without a mark shows by its words. */
#define LONG_QUESTION_WORDS 4

struct command {
    const char *name;
    enum intent_act act;
};

static const struct command commands[] = {
    {"abandon", INTENT_REQUEST},  {"collapse", INTENT_REQUEST},
    {"context", INTENT_QUESTION}, {"efforts", INTENT_QUESTION},
    {"expand", INTENT_REQUEST},   {"fork", INTENT_REQUEST},
    {"help", INTENT_QUESTION},    {"reopen", INTENT_REQUEST},
    {"resolve", INTENT_ACCEPT},   {"start", INTENT_REQUEST},
    {"stats", INTENT_QUESTION},   {"why", INTENT_QUESTION},
};

static const char *const act_names[INTENT_ACTS] = {
    "greeting", "question", "request", "inform", "commit", "accept", "reject"};

const char *intent_act_name(enum intent_act act)
{
    return act_names[act];
}

bool intent_act_parse(struct str name, enum intent_act *out_act)
{
    for (size_t i = 0; i < INTENT_ACTS; i++) {
        if (str_eq(name, str_of(act_names[i]))) {
            *out_act = (enum intent_act)i;
            return true;
        }
    }
    return false;
}

const char *intent_level_name(enum intent_level level)
{
    static const char *const names[] = {"command", "rule", "classifier", "llm"};

    return names[level];
}

/* "/resolve token was expired": a known command at the very start. */
static bool is_command(struct str text, struct intent *out)
{
    struct str word = str_trim(text);
    size_t len = 0;

    if (word.len < 2 || word.s[0] != '/') {
        return false;
    }
    while (len + 1 < word.len && word.s[len + 1] >= 'a' &&
           word.s[len + 1] <= 'z') {
        len++;
    }
    if (len + 1 < word.len && word.s[len + 1] != ' ' &&
        word.s[len + 1] != '\n') {
        return false;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (str_eq((struct str){word.s + 1, len}, str_of(commands[i].name))) {
            out->act = commands[i].act;
            out->confidence = 1.0f;
            out->level = INTENT_LEVEL_COMMAND;
            out->rule = commands[i].name;
            return true;
        }
    }
    return false;
}

static bool asks(const struct intent_segment *seg)
{
    return (seg->act == INTENT_QUESTION || seg->act == INTENT_REQUEST) &&
           seg->confidence >= RULE_FLOOR;
}

/*
 * After a question, "you can ..." and "tea, please" answer it; after a
 * request, "sure, go ahead" grants it.
 */
static bool is_mere_answer(const struct intent *turn,
                           const struct intent_segment *seg,
                           const struct intent *previous)
{
    const struct intent_segment *first = &turn->segments[0];

    if (!previous || seg->act != INTENT_REQUEST) {
        return false;
    }
    if (previous->act == INTENT_QUESTION) {
        return (seg->flags & INTENT_WEAK) != 0;
    }
    return previous->act == INTENT_REQUEST && seg != first &&
           first->act == INTENT_ACCEPT && (first->flags & INTENT_WEAK) &&
           (strcmp(seg->rule, "imperative") == 0 ||
            strcmp(seg->rule, "please") == 0 ||
            strcmp(seg->rule, "id-like") == 0);
}

static const struct intent_segment *last_asking(const struct intent *turn,
                                                const struct intent *previous)
{
    for (size_t i = turn->n_segments; i > 0; i--) {
        const struct intent_segment *seg = &turn->segments[i - 1];

        if (asks(seg) && !is_mere_answer(turn, seg, previous)) {
            return seg;
        }
    }
    return NULL;
}

/* Disagreement beats acceptance, a strong acceptance beats a promise. */
static int rank_of(const struct intent_segment *seg)
{
    bool is_strong = (seg->flags & INTENT_STRONG) != 0;

    switch (seg->act) {
    case INTENT_REJECT:
        return is_strong ? 6 : 3;
    case INTENT_ACCEPT:
        return is_strong ? 5 : 2;
    case INTENT_COMMIT:
        return seg->confidence >= RULE_FLOOR ? 4 : 1;
    case INTENT_GREETING:
    case INTENT_QUESTION:
    case INTENT_REQUEST:
    case INTENT_INFORM:
        return 0;
    }
    return 0;
}

static const struct intent_segment *best_reply(const struct intent *turn)
{
    const struct intent_segment *best = NULL;

    for (size_t i = 0; i < turn->n_segments; i++) {
        const struct intent_segment *seg = &turn->segments[i];

        if (rank_of(seg) > (best ? rank_of(best) : 0)) {
            best = seg;
        }
    }
    return best;
}

static void decide(struct intent *out, const struct intent_segment *seg)
{
    out->act = seg->act;
    out->confidence = seg->confidence;
    out->rule = seg->rule;
}

static void decide_inform(struct intent *out, float confidence,
                          const char *rule)
{
    out->act = INTENT_INFORM;
    out->confidence = confidence;
    out->rule = rule;
}

static bool only_greets(const struct intent *turn)
{
    for (size_t i = 0; i < turn->n_segments; i++) {
        if (turn->segments[i].act != INTENT_GREETING) {
            return false;
        }
    }
    return turn->n_segments > 0;
}

static size_t words_in(const struct intent_pieces *pieces)
{
    size_t n = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        n += pieces->items[i].n_words;
    }
    return n;
}

/* Nothing but statements: a very short one after a request is consent. */
static void decide_plain(struct intent *out, const struct intent *previous,
                         size_t n_words)
{
    for (size_t i = 0; i < out->n_segments; i++) {
        if (out->segments[i].act == INTENT_INFORM &&
            out->segments[i].confidence > out->confidence) {
            decide(out, &out->segments[i]);
        }
    }
    if (previous && previous->act == INTENT_REQUEST &&
        n_words <= SHORT_REPLY_WORDS && n_words > 0 &&
        out->confidence < RULE_FLOOR && !(out->flags & INTENT_PROBLEM)) {
        out->act = INTENT_ACCEPT;
        out->confidence = 0.55f;
        out->rule = "short-reply";
    }
}

/* No question, no request: what the previous turn makes of it. */
static void decide_reply(struct intent *out, const struct intent *previous,
                         size_t n_words)
{
    const struct intent_segment *best = best_reply(out);
    bool is_weak = best && (best->flags & INTENT_WEAK);

    if (only_greets(out)) {
        decide(out, &out->segments[0]);
        return;
    }
    if (!best) {
        decide_plain(out, previous, n_words);
        return;
    }
    if (previous && is_weak && previous->act == INTENT_QUESTION) {
        decide_inform(out, 0.7f, "answer");
        return;
    }
    if (previous && previous->act == INTENT_QUESTION &&
        strcmp(best->rule, "going-to") == 0) {
        decide_inform(out, 0.6f, "answer");
        return;
    }
    if (previous && is_weak && previous->act != INTENT_REQUEST) {
        decide_inform(out, 0.7f, "acknowledgement");
        return;
    }
    decide(out, best);
}

/* "but one more thing" takes some of an acceptance back. */
static void weigh_flags(struct intent *out)
{
    if (out->act == INTENT_ACCEPT && (out->flags & INTENT_MORE)) {
        out->confidence -= 0.2f;
    }
}

/* A question of some length has a word that asks; "your name" may do without.
 */
static bool can_ask(const struct intent_piece *piece)
{
    if (piece->n_words < LONG_QUESTION_WORDS) {
        return true;
    }
    for (size_t i = 0; i < piece->n_words; i++) {
        const struct intent_word *word = &piece->words[i];

        if (intent_is_aux(word) || strncmp(word->s, "wh", 2) == 0 ||
            strncmp(word->s, "how", 3) == 0 || strcmp(word->s, "any") == 0 ||
            strcmp(word->s, "you") == 0) {
            return true;
        }
    }
    return false;
}

/* Let the classifier speak for the segments the rules were unsure of. */
static void consult(const struct intent_pieces *pieces, struct intent *out)
{
    for (size_t i = 0; i < pieces->count; i++) {
        struct intent_segment *seg = &out->segments[i];
        float share[INTENT_ACTS];
        size_t best = 0;

        /* a sentence with its mark is the rules', a picture may follow it */
        if (seg->confidence >= RULE_FLOOR || pieces->items[i].end) {
            continue;
        }
        intent_classify(&pieces->items[i], share);
        for (size_t k = 1; k < INTENT_ACTS; k++) {
            best = share[k] > share[best] ? k : best;
        }
        if (share[best] < CLASSIFIER_FLOOR ||
            (best == INTENT_QUESTION && !can_ask(&pieces->items[i]))) {
            continue;
        }
        seg->act = (enum intent_act)best;
        seg->confidence = share[best];
        seg->rule = INTENT_BY_CLASSIFIER;
        if (seg->act == INTENT_ACCEPT || seg->act == INTENT_REJECT) {
            seg->flags |= INTENT_WEAK;
        }
    }
}

static enum clew_status run_rules(struct arena *arena,
                                  const struct intent_pieces *pieces,
                                  struct intent *out)
{
    out->segments =
        arena_alloc(arena, (pieces->count + 1) * sizeof(*out->segments));
    if (!out->segments) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < pieces->count; i++) {
        intent_rule(&pieces->items[i], pieces->has_end, &out->segments[i]);
        out->flags |= out->segments[i].flags;
    }
    out->n_segments = pieces->count;
    return CLEW_OK;
}

static void decide_turn(struct intent *out, const struct intent *previous,
                        size_t n_words)
{
    const struct intent_segment *asking = last_asking(out, previous);

    decide_inform(out, 0.5f, "default");
    if (asking) {
        decide(out, asking);
    } else {
        decide_reply(out, previous, n_words);
    }
    if (strcmp(out->rule, INTENT_BY_CLASSIFIER) == 0) {
        out->level = INTENT_LEVEL_CLASSIFIER;
    }
}

enum clew_status intent_read(struct arena *arena, struct str text,
                             struct intent_reading *out)
{
    struct intent_pieces *pieces = arena_zero(arena, 1, sizeof(*pieces));
    enum clew_status status;

    *out = (struct intent_reading){.by_rules = {.act = INTENT_INFORM,
                                                .confidence = 0.5f,
                                                .level = INTENT_LEVEL_RULE,
                                                .rule = "default"},
                                   .pieces = pieces};
    if (!pieces) {
        return CLEW_NO_MEMORY;
    }
    if (is_command(text, &out->by_rules)) {
        return CLEW_OK;
    }
    status = intent_split(arena, text, pieces);
    return status == CLEW_OK ? run_rules(arena, pieces, &out->by_rules)
                             : status;
}

enum clew_status intent_decide(struct arena *arena,
                               const struct intent_reading *reading,
                               const struct intent *previous,
                               struct intent *out)
{
    /* of another language nothing is taken for consent because it is short */
    size_t n_words = reading->is_foreign ? 0 : words_in(reading->pieces);
    size_t size = reading->by_rules.n_segments * sizeof(*out->segments);

    *out = reading->by_rules;
    if (out->level == INTENT_LEVEL_COMMAND) {
        return CLEW_OK;
    }
    decide_turn(out, previous, n_words);
    if (out->confidence < RULE_FLOOR && !reading->pieces->has_end &&
        !reading->is_foreign) {
        out->segments = arena_alloc(arena, size + 1);
        if (!out->segments) {
            return CLEW_NO_MEMORY;
        }
        if (size > 0) {
            memcpy(out->segments, reading->by_rules.segments, size);
        }
        consult(reading->pieces, out);
        decide_turn(out, previous, n_words);
    }
    weigh_flags(out);
    return CLEW_OK;
}

/* The segment that made the turn's act, else the last. */
static size_t speaking(const struct intent *intent)
{
    for (size_t i = intent->n_segments; i-- > 0;) {
        if (intent->segments[i].act == intent->act &&
            intent->segments[i].rule == intent->rule) {
            return i;
        }
    }
    return intent->n_segments - 1;
}

/* One who says what the text does, and how much of the words still counts. */
struct word {
    enum intent_act act;
    float confidence;
    const char *rule;
    uint32_t dropped; /* flags that no longer hold */
};

static enum clew_status settle(struct arena *arena, struct intent *intent,
                               const struct word *word)
{
    enum intent_act act = word->act;
    size_t n = intent->n_segments;
    struct intent_segment *segments =
        arena_alloc(arena, n * sizeof(*segments) + 1);
    size_t chosen = n > 0 ? speaking(intent) : 0;

    if (!segments) {
        return CLEW_NO_MEMORY;
    }
    intent->flags = 0;
    for (size_t i = 0; i < n; i++) {
        segments[i] = intent->segments[i];
        segments[i].flags &= ~word->dropped;
        segments[i].act = i == chosen ? act : INTENT_INFORM;
        segments[i].confidence = i == chosen ? word->confidence : 0.5f;
        segments[i].rule = word->rule;
        if (i == chosen && (act == INTENT_ACCEPT || act == INTENT_REJECT)) {
            segments[i].flags |= INTENT_STRONG;
        }
        intent->flags |= segments[i].flags;
    }
    intent->segments = segments;
    intent->act = act;
    intent->confidence = word->confidence;
    intent->rule = word->rule;
    return CLEW_OK;
}

enum clew_status intent_correct(struct arena *arena, struct intent *intent,
                                enum intent_act act)
{
    /* whoever sets it right means it: no advice, no half a yes */
    struct word word = {.act = act,
                        .confidence = 1.0f,
                        .rule = "correction",
                        .dropped = INTENT_ADVICE | INTENT_WEAK | INTENT_STRONG |
                                   INTENT_HOLD};

    return settle(arena, intent, &word);
}

bool intent_is_unsure(const struct intent *intent)
{
    return intent->level == INTENT_LEVEL_RULE &&
           intent->confidence < RULE_FLOOR && intent->n_segments > 0;
}

enum clew_status intent_take(struct arena *arena, struct intent *intent,
                             enum intent_act act, float confidence)
{
    struct word word = {.act = act,
                        .confidence = confidence,
                        .rule = "llm",
                        .dropped = INTENT_ADVICE | INTENT_WEAK | INTENT_STRONG};
    enum clew_status status = settle(arena, intent, &word);

    if (status == CLEW_OK) {
        intent->level = INTENT_LEVEL_LLM;
        weigh_flags(intent);
    }
    return status;
}

enum clew_status intent_after(struct arena *arena, struct str text,
                              const struct intent *previous, struct intent *out)
{
    struct intent_reading reading;
    enum clew_status status = intent_read(arena, text, &reading);

    return status == CLEW_OK ? intent_decide(arena, &reading, previous, out)
                             : status;
}

enum clew_status intent_of(struct arena *arena, struct str text,
                           struct str previous, struct intent *out)
{
    struct intent before;
    enum clew_status status;

    if (str_trim(previous).len == 0) {
        return intent_after(arena, text, NULL, out);
    }
    status = intent_after(arena, previous, NULL, &before);
    if (status != CLEW_OK) {
        return status;
    }
    return intent_after(arena, text, &before, out);
}
