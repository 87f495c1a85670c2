/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_rules.c - the act of one segment by its cues.
 *
 * The order matters: who is greeted, who is asked to act, what is asked, what
 * is told to do, then disagreement before acceptance. What matches nothing is
 * a statement of low confidence.
 */
#include "model/intent_internal.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

static bool word_is(const struct intent_word *word, const char *text,
                    size_t len)
{
    return word->len == len && word->s[0] == text[0] &&
           memcmp(word->s, text, len) == 0;
}

static bool word_in(const struct intent_word *word, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (list[i][0] == word->s[0] && strcmp(list[i], word->s) == 0) {
            return true;
        }
    }
    return false;
}

/* A pronoun that may be a subject. */
static bool intent_is_subject(const struct intent_word *word)
{
    static const char *const subjects[] = {
        "i",      "you",     "we",       "they",       "he",
        "she",    "it",      "there",    "this",       "that",
        "anyone", "anybody", "anything", "everything", "these",
        "those",  "someone", "your",     "my",         NULL};

    return word_in(word, subjects);
}

bool intent_is_aux(const struct intent_word *word)
{
    static const char *const auxes[] = {
        "is",     "are",   "am",      "was",    "were",  "do",     "does",
        "did",    "can",   "could",   "will",   "would", "should", "have",
        "has",    "had",   "may",     "might",  "shall", "must",   "isn't",
        "aren't", "don't", "doesn't", "didn't", "can't", "won't",  NULL};

    return word_in(word, auxes);
}

static bool is_negated_aux(const struct intent_word *word)
{
    return word->len > 3 && intent_is_aux(word) &&
           memcmp(word->s + word->len - 3, "n't", 3) == 0;
}

/* One pattern token against one word. */
static bool token_fits(const char *token, size_t len,
                       const struct intent_word *word)
{
    size_t from = 0;

    if (len == 1 && token[0] == '*') {
        return true;
    }
    if (len == 2 && token[0] == '$') {
        switch (token[1]) {
        case 'V':
            return intent_is_verb(word);
        case 'S':
            return intent_is_subject(word);
        case 'A':
            return intent_is_aux(word);
        default:
            return is_negated_aux(word);
        }
    }
    for (size_t i = 0; i <= len; i++) {
        if (i == len || token[i] == '|') {
            if (word_is(word, token + from, i - from)) {
                return true;
            }
            from = i + 1;
        }
    }
    return false;
}

/*
 * Match the pattern from word `at`; SIZE_MAX if it does not, else the word
 * behind the match. Optional tokens are taken greedily: the tables are
 * written so that this is enough.
 */
static size_t match_at(const char *pattern, const struct intent_piece *piece,
                       size_t at)
{
    while (*pattern) {
        const char *token = pattern;
        size_t len = strcspn(pattern, " ");
        bool is_optional = token[0] == '?';
        bool fits;

        pattern += len;
        pattern += *pattern == ' ';
        fits = at < piece->n_words &&
               token_fits(token + is_optional, len - is_optional,
                          &piece->words[at]);
        if (fits) {
            at++;
        } else if (!is_optional) {
            return SIZE_MAX;
        }
    }
    return at;
}

/*
 * Which words may begin a cue, as masks: most cues are ruled out by one AND.
 * Computed once from the tables and immutable after that.
 */
#define MAX_TABLE_ROWS 128
static uint64_t first_masks[CUE_TABLES][MAX_TABLE_ROWS];
static pthread_once_t masks_once = PTHREAD_ONCE_INIT;

static uint64_t first_mask(const char *pattern)
{
    uint64_t mask = 0;
    const char *p = pattern;

    if (*p == '?' || *p == '$' || *p == '*') {
        return UINT64_MAX;
    }
    for (;;) {
        size_t len = strcspn(p, "| ");

        mask |= intent_mask(p, len);
        p += len;
        if (*p != '|') {
            return mask;
        }
        p++;
    }
}

static void make_masks(void)
{
    for (size_t t = 0; t < CUE_TABLES; t++) {
        const struct cue *table = intent_cues[t];

        for (size_t i = 0; table[i].pattern; i++) {
            assert(i < MAX_TABLE_ROWS);
            first_masks[t][i] = first_mask(table[i].pattern);
        }
    }
}

/* The words a cue may begin at, [first, last]. */
static void range_of(const struct cue *cue, const struct intent_piece *piece,
                     size_t *out_first, size_t *out_last)
{
    *out_first = *out_last = piece->body;
    switch ((enum cue_where)cue->where) {
    case CUE_BODY:
    case CUE_WHOLE:
        break;
    case CUE_START:
        *out_first = *out_last = 0;
        break;
    case CUE_HAS:
    case CUE_END:
        *out_first = 0;
        *out_last = piece->n_words - 1;
        break;
    case CUE_EARLY:
        *out_last = piece->body + 5;
        if (*out_last >= piece->n_words) {
            *out_last = piece->n_words - 1;
        }
        break;
    }
}

static bool cue_matches(const struct cue *cue, uint64_t mask,
                        const struct intent_piece *piece)
{
    size_t first;
    size_t last;

    if (!(mask & piece->mask) ||
        (cue->max_words && piece->n_words > cue->max_words)) {
        return false;
    }
    range_of(cue, piece, &first, &last);
    for (size_t i = first; i <= last; i++) {
        size_t stop;

        if (!(mask & piece->words[i].mask)) {
            continue;
        }
        stop = match_at(cue->pattern, piece, i);
        if (stop == SIZE_MAX || stop == i) {
            continue;
        }
        if ((cue->where == CUE_WHOLE || cue->where == CUE_END) &&
            stop != piece->n_words) {
            continue;
        }
        return true;
    }
    return false;
}

static const struct cue *find_cue(enum cue_table t,
                                  const struct intent_piece *piece)
{
    const struct cue *table = intent_cues[t];

    for (size_t i = 0; table[i].pattern; i++) {
        if (cue_matches(&table[i], first_masks[t][i], piece)) {
            return &table[i];
        }
    }
    return NULL;
}

static bool set(struct intent_segment *out, enum intent_act act, int percent,
                const char *rule)
{
    out->act = act;
    out->confidence = (float)percent / 100.0f;
    out->rule = rule;
    return true;
}

static bool use_cue(enum cue_table table, const struct intent_piece *piece,
                    struct intent_segment *out)
{
    const struct cue *cue = find_cue(table, piece);

    if (!cue || !cue->percent) {
        return false;
    }
    out->flags |= cue->flags;
    return set(out, (enum intent_act)cue->act, cue->percent, cue->name);
}

static bool final_please(const struct intent_piece *piece)
{
    size_t n = piece->n_words;

    return n > 1 && (strcmp(piece->words[n - 1].s, "please") == 0 ||
                     (n > 2 && strcmp(piece->words[n - 2].s, "please") == 0));
}

/* What may follow a verb that is also a noun, to make it an instruction. */
static bool takes_object(const struct intent_piece *piece, size_t at)
{
    static const char *const behind[] = {
        "the",  "a",     "an",    "this",    "that",    "these", "those",
        "my",   "your",  "our",   "his",     "her",     "their", "its",
        "it",   "me",    "us",    "them",    "him",     "up",    "down",
        "out",  "in",    "on",    "off",     "over",    "back",  "again",
        "with", "to",    "for",   "at",      "some",    "any",   "all",
        "here", "there", "now",   "into",    "through", "about", "what",
        "how",  "why",   "if",    "whether", "both",    "each",  "every",
        "one",  "two",   "three", "more",    NULL};
    const struct intent_word *next;

    if (at + 1 >= piece->n_words) {
        return false;
    }
    next = &piece->words[at + 1];
    if (strcmp(piece->words[at].s, "try") == 0 && next->len > 4 &&
        strcmp(next->s + next->len - 3, "ing") == 0) {
        return true; /* "try refreshing the token" */
    }
    return word_in(next, behind) || next->is_capital;
}

static bool is_imperative(const struct intent_piece *piece,
                          struct intent_segment *out)
{
    size_t at = piece->body;
    const struct intent_word *word = &piece->words[at];
    const struct cue *soft;

    if (at + 1 < piece->n_words &&
        (strcmp(word->s, "please") == 0 || strcmp(word->s, "kindly") == 0)) {
        const struct intent_word *next = &piece->words[at + 1];

        if (intent_is_verb(next) || strcmp(next->s, "don't") == 0) {
            return set(out, INTENT_REQUEST, 92, "please");
        }
    }
    if (strcmp(word->s, "don't") == 0 && at + 1 < piece->n_words &&
        intent_is_verb(&piece->words[at + 1])) {
        if (strcmp(piece->words[at + 1].s, "worry") == 0) {
            return set(out, INTENT_INFORM, 60, "dont-worry");
        }
        return set(out, INTENT_REQUEST, 80, "dont");
    }
    if (!intent_is_verb(word)) {
        return false;
    }
    soft = find_cue(CUES_SOFT, piece);
    if (soft) {
        return soft->percent ? set(out, (enum intent_act)soft->act,
                                   soft->percent, soft->name)
                             : false;
    }
    if (intent_is_noun_verb(word)) {
        return takes_object(piece, at) &&
               set(out, INTENT_REQUEST, 74, "imperative");
    }
    if (at + 1 < piece->n_words && intent_is_subject(&piece->words[at + 1]) &&
        intent_is_aux(word)) {
        return false; /* "do you", "have they" */
    }
    return set(out, INTENT_REQUEST, 76, "imperative");
}

/* "I'll do my best", "to do the dishes": the verb of what stands before it. */
static bool is_plain_verb(const struct intent_piece *piece, size_t at)
{
    static const char *const before[] = {"to",    "will",   "would", "can",
                                         "could", "should", "must",  "might",
                                         "may",   "not",    NULL};
    static const char *const verbs[] = {"do", "have", "did", "had", NULL};
    const struct intent_word *word = &piece->words[at];

    return word_in(word, verbs) &&
           (intent_is_subject(word - 1) || word_in(word - 1, before) ||
            strstr(word[-1].s, "'ll") || strstr(word[-1].s, "'d") ||
            strstr(word[-1].s, "n't"));
}

/* "Anna is the boss", "the winner was my dog": what follows is no subject. */
static bool is_predicate(const struct intent_piece *piece, size_t at)
{
    static const char *const before[] = {
        "what",  "who", "where", "when", "why",  "how", "which",
        "whose", "and", "but",   "so",   "then", "or",  NULL};
    static const char *const owners[] = {
        "the",   "your",  "my",   "his",  "her",   "our", "their",
        "these", "those", "that", "this", "there", NULL};

    return intent_is_aux(&piece->words[at]) &&
           word_in(&piece->words[at + 1], owners) &&
           !word_in(&piece->words[at - 1], before) &&
           !piece->words[at - 1].has_comma;
}

/*
 * Without marks a question shows by its inversion, wherever it stands: a
 * statement has no "can you" or "what is" in it.
 */
static bool is_unmarked_question(const struct intent_piece *piece,
                                 struct intent_segment *out)
{
    struct intent_piece rest = *piece;

    for (size_t i = piece->body + 1; i + 2 < piece->n_words; i++) {
        rest.body = i;
        if (!intent_is_aux(&piece->words[i]) &&
            strncmp(piece->words[i].s, "wh", 2) != 0 &&
            strncmp(piece->words[i].s, "how", 3) != 0) {
            continue;
        }
        if (is_plain_verb(piece, i) || is_predicate(piece, i)) {
            continue;
        }
        if (use_cue(CUES_ASK, &rest, out) && out->act != INTENT_INFORM &&
            out->act != INTENT_COMMIT) {
            return true;
        }
        if (use_cue(CUES_QUESTION, &rest, out)) {
            return true;
        }
    }
    return false;
}

/* "Excuse me, waiter, would you ...": the asking clause after a comma. */
static bool asks_later(const struct intent_piece *piece,
                       struct intent_segment *out)
{
    struct intent_piece rest = *piece;

    for (size_t i = 1; i + 2 < piece->n_words; i++) {
        const struct cue *cue;

        if (!piece->words[i - 1].has_comma) {
            continue;
        }
        rest.body = i;
        if (strcmp(piece->words[i].s, "and") == 0 ||
            strcmp(piece->words[i].s, "so") == 0) {
            rest.body++;
        }
        cue = find_cue(CUES_ASK, &rest);
        if (cue && cue->act == INTENT_REQUEST && cue->percent >= 80 &&
            cue->where == CUE_BODY) {
            out->flags |= cue->flags;
            return set(out, INTENT_REQUEST, cue->percent, cue->name);
        }
    }
    return false;
}

/* "Too long, please shorten it", "I see, give me another": the order after a
 * comma. */
static bool orders_later(const struct intent_piece *piece,
                         struct intent_segment *out)
{
    /* "I jog, eat a good diet and ..." tells what one does */
    static const char *const tellers[] = {"i", "we", "he", "she", "they", NULL};
    static const char *const persons[] = {"me", "us", NULL};
    static const char *const objects[] = {"me",   "us",      "it",  "this",
                                          "that", "them",    "the", "a",
                                          "an",   "another", NULL};
    const char *const *wanted =
        word_in(&piece->words[piece->body], tellers) ? persons : objects;

    for (size_t i = piece->body + 1; i + 1 < piece->n_words; i++) {
        const struct intent_word *word = &piece->words[i];

        if (!word[-1].has_comma) {
            continue;
        }
        if (strcmp(word->s, "please") == 0 && intent_is_verb(word + 1)) {
            return set(out, INTENT_REQUEST, 85, "please");
        }
        if (intent_is_verb(word) && !intent_is_aux(word) &&
            word_in(word + 1, wanted) &&
            (!intent_is_noun_verb(word) || word_in(word + 1, persons))) {
            return set(out, INTENT_REQUEST, 72, "imperative-later");
        }
    }
    return false;
}

/* "As a tourist, what are the best places": a question by its words. */
static bool asks_behind_comma(const struct intent_piece *piece,
                              struct intent_segment *out)
{
    static const char *const asking[] = {"what", "how", "why", NULL};

    for (size_t i = piece->body + 1; i + 3 < piece->n_words; i++) {
        const struct intent_word *word = &piece->words[i];

        if (word[-1].has_comma && word_in(word, asking) &&
            intent_is_aux(word + 1)) {
            return set(out, INTENT_QUESTION, 72, "wh-aux");
        }
    }
    return false;
}

/* "Pass me the salt, will you?" */
static bool has_tag(const struct intent_piece *piece)
{
    const struct intent_word *last = &piece->words[piece->n_words - 1];

    return strcmp(last->s, "okay") == 0 || strcmp(last->s, "alright") == 0 ||
           (piece->n_words > 2 && strcmp(last->s, "you") == 0 &&
            intent_is_aux(last - 1));
}

static void add_flags(const struct intent_piece *piece, uint32_t *flags)
{
    const struct cue *table = intent_cues[CUES_FLAG];

    for (size_t i = 0; table[i].pattern; i++) {
        if ((*flags & table[i].flags) != table[i].flags &&
            cue_matches(&table[i], first_masks[CUES_FLAG][i], piece)) {
            *flags |= table[i].flags;
        }
    }
}

void intent_rule(const struct intent_piece *piece, bool has_end,
                 struct intent_segment *out)
{
    const struct intent_word *last = &piece->words[piece->n_words - 1];

    (void)pthread_once(&masks_once, make_masks);
    out->from = piece->words[0].from;
    out->to = last->to;
    out->flags = 0;
    (void)set(out, INTENT_INFORM, 50, "default");
    add_flags(piece, &out->flags);
    if (use_cue(CUES_GREETING, piece, out) || use_cue(CUES_ASK, piece, out) ||
        asks_later(piece, out)) {
        return;
    }
    if (piece->end == '?') {
        if (has_tag(piece) && is_imperative(piece, out)) {
            return;
        }
        (void)set(out, INTENT_QUESTION, 85, "question-mark");
        return;
    }
    if (is_imperative(piece, out) || use_cue(CUES_ADVICE, piece, out) ||
        orders_later(piece, out)) {
        return;
    }
    if (final_please(piece)) {
        out->flags |= INTENT_WEAK;
        (void)set(out, INTENT_REQUEST, 80, "final-please");
        return;
    }
    if (use_cue(CUES_QUESTION, piece, out)) {
        return;
    }
    if (!has_end && !piece->end && is_unmarked_question(piece, out)) {
        return;
    }
    if (asks_behind_comma(piece, out)) {
        return;
    }
    (void)set(out, INTENT_INFORM, 50, "default");
    (void)use_cue(CUES_ANSWER, piece, out);
}
