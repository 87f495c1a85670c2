/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_fact.c - statements about the speaker that are worth keeping.
 *
 * A fact has a first-person subject, a verb that says something, enough
 * content of its own, and no pronoun that only an earlier turn explains. A
 * second sentence that goes on about the same thing ("They're calm.") is told
 * along with the first, where its pronoun has its noun.
 */
#include "engine/extract_internal.h"

#include <string.h>

/* Content words, names and numbers a statement needs; more for a mood. */
#define SCORE_FLOOR 2
/* When it is known what was done when: "I did yoga yesterday". */
#define DATED_FLOOR 1
#define SOFT_SCORE_FLOOR 4
/* A sentence of at most this score goes along with the one before it. */
#define LITTLE 6
#define MERGED_MAX_WORDS 40
/* What "something" and "someone" must be made up for with. */
#define VAGUE_FLOOR 5
/* What is left of a statement without the remarks behind it. */
#define MIN_CUT_WORDS 3
#define CUT_FLOOR 3
/* What "we" did must say so much if nobody knows who "we" are. */
#define NOBODY_FLOOR 3
/* A turn of this length is likely to hold a paste. */
#define PASTED_BYTES 1500u
/* Facts of one turn: the best ones. */
#define MAX_FACTS 2

/* Verbs and adjectives that tell a mood or an opinion, not a fact. */
#define SOFT                                                                   \
    "think guess hope feel felt wish know knew believe agree understand see "  \
    "wonder mean bet suppose appreciate remember thought hear heard glad "     \
    "sorry sure happy excited thrilled proud grateful thankful okay fine "     \
    "good great curious impressed amazed ready feeling stoked honored "        \
    "pumped blessed doing so always totally lucky"
#define MODALS                                                                 \
    "can can't could couldn't would wouldn't should shouldn't might must "     \
    "will won't i'd we'd i'll we'll"
/* Never a fact, however long. */
#define EMPTY                                                                  \
    "forget wait promise imagine talk agree bet mean guess wonder hear "       \
    "appreciate look looking recommend suggest"

struct fact {
    struct clause clause;
    const struct intent_piece *tail; /* sentence told along, NULL if none */
    struct clause tail_clause;
    size_t score;
};

/* The first word that says what is done: past subject, auxiliaries, adverbs. */
static size_t head_of(const struct clause *c)
{
    const struct intent_word *words = c->piece->words;
    size_t i = c->subject + !c->is_elided;

    while (i + 1 < c->end &&
           (word_is_adverb(&words[i]) || strchr(words[i].s, '%') ||
            word_any(&words[i], MODALS) ||
            word_any(&words[i], "am was is are have had been has do did were "
                                "a an the not be being gonna so very"))) {
        i++;
    }
    return i;
}

static bool is_gerund(const struct intent_word *word)
{
    return word->len > 4 && memcmp(word->s + word->len - 3, "ing", 3) == 0;
}

/* "going to keep pushing": a mood, where "keep bees" is none. */
static bool keeps_on(const struct intent_word *head,
                     const struct intent_word *end)
{
    if (word_is(head, "going") && head + 2 < end && word_is(head + 1, "to")) {
        head += 2;
    }
    return word_any(head, "keep keeping") && head + 1 < end &&
           is_gerund(head + 1);
}

static bool speaks_to_other(const struct clause *c)
{
    return words_have(c->piece->words, c->first, c->end,
                      "you your you're you've you'll you'd yours yourself");
}

static bool is_self_clause(const struct clause *c)
{
    return word_any(&c->piece->words[c->subject],
                    "i i'm i've i'd i'll we we're we've we'd we'll") ||
           c->is_elided;
}

/* "I do - Oscar": half of an answer. */
static bool is_short_answer(const struct clause *c)
{
    const struct intent_word *next = &c->piece->words[c->subject + 1];

    return is_self_clause(c) && next->has_comma &&
           word_any(next, "do did have am was will can");
}

/* Said of anything and anybody: they make no statement worth keeping. */
#define VAGUE                                                                  \
    "working solution solutions option options hurdle hurdles determined "     \
    "project projects pushing push forward ideas challenges success "          \
    "motivated focused effort efforts exploring faced chasing pursuing "       \
    "figuring tackle paying handling emotions mix overall"

static size_t score_of(const struct clause *c)
{
    const struct intent_word *words = c->piece->words;
    size_t score = words_content(words, c->first, c->end);

    for (size_t i = c->first; i < c->end; i++) {
        score -= score > 0 && word_any(&words[i], VAGUE);
    }
    score += words_names(words, c->first, c->end) > 0;
    score += words_numbers(words, c->first, c->end) > 0;
    return score;
}

/* "I can't have dairy": a limit, however short. */
static bool is_limit(const struct clause *c)
{
    const struct intent_word *words = c->piece->words;

    for (size_t i = c->subject + 1; i + 2 < c->end; i++) {
        if (word_any(&words[i], "can't cannot couldn't") &&
            word_any(&words[i + 1], "have eat drink tolerate stand")) {
            return words_content(words, i + 2, c->end) > 0;
        }
    }
    return false;
}

/* "I love horses", "I've always hated mornings": what somebody likes. */
static bool is_taste(const struct clause *c, size_t head)
{
    const struct intent_word *words = c->piece->words;

    return is_self_clause(c) && head + 1 < c->end &&
           word_any(&words[head],
                    "love loved like liked hate hated enjoy enjoyed prefer "
                    "adore dislike") &&
           words_content(words, head + 1, c->end) > 0 &&
           (words[head + 1].is_capital || !word_is_generic(&words[head + 1]));
}

/* "I'm looking into jobs in mental health": after what, it says. */
static bool seeks(const struct clause *c, size_t head)
{
    const struct intent_word *words = c->piece->words;

    return word_is(&words[head], "looking") && head + 2 < c->end &&
           word_any(&words[head + 1], "into for") &&
           words_content(words, head + 2, c->end) >= 2;
}

/* "I'm lucky to have my husband and kids": whom or what somebody has. */
static bool is_glad_of(const struct clause *c, size_t head)
{
    const struct intent_word *words = c->piece->words;

    return head + 4 < c->end &&
           word_any(&words[head], "lucky blessed grateful thankful glad") &&
           word_is(&words[head + 1], "to") &&
           word_is(&words[head + 2], "have") &&
           word_any(&words[head + 3], "a an my two three such") &&
           words_content(words, head + 3, c->end) >= 2;
}

/* "Thinking it over could help me", "I can see why": so it might be. */
static bool is_supposed(const struct clause *c)
{
    const struct intent_word *words = c->piece->words;

    if (!is_self_clause(c)) {
        size_t end = c->first + 12 < c->end ? c->first + 12 : c->end;

        return words_have(words, c->first, end, "could would might");
    }
    return c->subject + 3 < c->end && word_is(&words[c->subject + 1], "can") &&
           word_any(&words[c->subject + 2], "see imagine understand");
}

/* `more` is what a sentence told along says besides. */
static bool is_fact(const struct extraction *x, const struct clause *c,
                    size_t more, size_t *out_score)
{
    const struct intent_word *words = c->piece->words;
    const struct intent_word *head = &words[head_of(c)];
    size_t score = score_of(c);
    bool is_soft = is_self_clause(c) &&
                   (word_any(head, SOFT) || keeps_on(head, words + c->end) ||
                    words_have(words, c->subject, head_of(c), MODALS));

    *out_score = score;
    if (is_self_clause(c) &&
        ((word_any(head, EMPTY) && !seeks(c, head_of(c))) ||
         (word_any(head, "love like loved enjoy") &&
          head + 1 < words + c->end &&
          word_any(head + 1, "the how that all your this these those it")))) {
        return false; /* "I love the way it looks": a reaction */
    }
    if (speaks_to_other(c) || is_short_answer(c) || is_supposed(c)) {
        return false;
    }
    if (score < VAGUE_FLOOR &&
        words_have(words, c->first, c->end, "something someone somewhere") &&
        !words_have(words, c->first, c->end, "named called")) {
        return false;
    }
    if (is_limit(c)) {
        return clause_stands_alone(c);
    }
    if (is_soft && score < SOFT_SCORE_FLOOR && !is_glad_of(c, head_of(c))) {
        return false;
    }
    if ((score == 0 || score + more / 2 < SCORE_FLOOR) &&
        !is_taste(c, head_of(c)) &&
        (score < DATED_FLOOR || !extract_is_event(x, c))) {
        return false;
    }
    return clause_stands_alone(c);
}

/* "They're calm and low-maintenance." behind "I'm drawn to turtles." */
static bool goes_on(const struct extraction *x,
                    const struct intent_piece *piece, struct clause *out)
{
    const struct intent_word *words = piece->words;
    size_t end = piece->n_words;

    if (piece->end == '?' || piece->n_words < 4 || piece->n_words > 22 ||
        !word_any(&words[piece->body], "it it's they they're he he's she "
                                       "she's its their") ||
        words_have(words, 0, end, "you your you're")) {
        return false;
    }
    for (size_t i = 0; i < end; i++) {
        if (words[i].from > 0 && x->turn->text.s[words[i].from - 1] == '[') {
            end = i;
        }
    }
    *out = (struct clause){.piece = piece,
                           .first = piece->body,
                           .subject = piece->body,
                           .end = end};
    return end > piece->body + 3 && words_content(words, piece->body, end) >= 2;
}

static enum clew_status summarise(const struct extraction *x,
                                  const struct fact *fact, struct buf *out)
{
    uint32_t from;
    uint32_t to;
    enum clew_status status = rewrite_clause(x, &fact->clause, true, out);

    if (status != CLEW_OK) {
        return status;
    }
    clause_bytes(&fact->clause, &from, &to);
    status = rewrite_date(x, from, to, out);
    if (status == CLEW_OK && fact->tail) {
        (void)buf_append_cstr(out, "; "); /* checked with buf_status */
        status = rewrite_clause(x, &fact->tail_clause, false, out);
        clause_bytes(&fact->tail_clause, &from, &to);
        if (status == CLEW_OK) {
            status = rewrite_date(x, from, to, out);
        }
    }
    (void)buf_append_char(out, '.'); /* checked with buf_status */
    return status == CLEW_OK ? buf_status(out) : status;
}

static enum clew_status add_fact(struct extraction *x, const struct fact *fact)
{
    struct buf text;
    struct extract_item *item;
    const struct clause *clause;
    enum clew_status status;
    uint32_t from;
    uint32_t to;

    buf_init(&text, 4096);
    status = summarise(x, fact, &text);
    clause = &fact->clause;
    if (status == CLEW_TOO_LARGE) {
        buf_release(&text);
        return CLEW_OK; /* no sentence of knowledge is that long */
    }
    item = status == CLEW_OK ? extract_add(x, EXTRACT_FACT, "fact-self",
                                           fact->score >= 5 ? 0.8f : 0.7f)
                             : NULL;
    if (item) {
        item->summary = arena_str(x->arena, buf_str(&text));
        clause_bytes(&fact->clause, &from, &to);
        extract_cite_add(item, 0, from, to);
        if (fact->tail) {
            clause_bytes(&fact->tail_clause, &from, &to);
            extract_cite_add(item, 0, from, to);
        }
        if (clause->with_back > 0) {
            extract_cite_add(item, clause->with_back, clause->with_from,
                             clause->with_to);
        }
        extract_settle_event(x, item, &fact->clause);
    }
    buf_release(&text);
    if (status != CLEW_OK) {
        return status;
    }
    return item && item->summary.s ? CLEW_OK : CLEW_NO_MEMORY;
}

/* Keep the best few, in the order they were said. */
static void keep(struct fact *best, size_t *n, const struct fact *fact)
{
    size_t worst = 0;

    if (*n < MAX_FACTS) {
        best[(*n)++] = *fact;
        return;
    }
    for (size_t i = 1; i < *n; i++) {
        worst = best[i].score < best[worst].score ? i : worst;
    }
    if (best[worst].score < fact->score) {
        memmove(best + worst, best + worst + 1,
                (*n - worst - 1) * sizeof(*best));
        best[*n - 1] = *fact;
    }
}

static bool in_list(const char *name, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A question or an instruction states nothing, but "I want ..." does. */
static bool asks(const struct extraction *x, size_t i)
{
    static const char *const orders[] = {
        "imperative",  "please", "remind-me", "dont",
        "let-me-know", "soft",   NULL};
    const struct intent *intent = x->turn->intent;

    if (i >= intent->n_segments) {
        return false;
    }
    /* what is asked of an assistant is an effort, not a fact */
    if (intent->segments[i].act == INTENT_REQUEST &&
        x->turn->speaker.len == 0) {
        return true;
    }
    if (strcmp(intent->segments[i].rule, "lets") == 0) {
        const struct intent_piece *piece = &x->pieces.items[i];

        /* "I'm for it, so let's go" says something first */
        return words_have(piece->words, 0, 4, "let's let");
    }
    return intent->segments[i].act == INTENT_QUESTION ||
           in_list(intent->segments[i].rule, orders);
}

/* In the middle of a long turn people paste what others wrote. */
static bool is_pasted(const struct extraction *x, size_t i)
{
    return x->turn->text.len > PASTED_BYTES && i >= 3 &&
           i + 3 < x->pieces.count;
}

/* A decision or a reminder was made of it already. */
static bool is_told(const struct extraction *x, size_t i)
{
    const struct intent_piece *piece = &x->pieces.items[i];

    for (size_t k = 0; k < x->out->n_items; k++) {
        const struct extract_item *item = &x->out->items[k];

        if (item->type != EXTRACT_EFFORT && item->cites[0].back == 0 &&
            item->cites[0].from < piece->words[piece->n_words - 1].to &&
            item->cites[0].to > piece->words[0].from) {
            return true;
        }
    }
    return false;
}

/*
 * A statement right behind that would not be worth keeping by itself, but
 * tells more about the first: "We roast marshmallows." It goes along.
 */
static bool adds_little(const struct extraction *x, size_t i, struct fact *fact)
{
    size_t score;
    size_t n_words = fact->clause.end - fact->clause.first;

    return !asks(x, i) &&
           clause_of(x, &x->pieces.items[i], &fact->tail_clause) &&
           is_self_clause(&fact->tail_clause) && !fact->tail_clause.is_elided &&
           n_words + fact->tail_clause.end - fact->tail_clause.first <=
               MERGED_MAX_WORDS &&
           is_fact(x, &fact->tail_clause, 0, &score) && score <= LITTLE;
}

/* May a statement end before word `end`: at a comma, or where it would point
 * back ("with that name", "because of it")? */
static bool ends_at(const struct clause *c, size_t end)
{
    const struct intent_word *word = &c->piece->words[end];

    return word[-1].has_comma ||
           (end + 1 < c->end &&
            word_any(word, "with for from in on at about because after by") &&
            word_any(word + 1, "that this these those it them of"));
}

/* Is it one, whole or without the remarks behind its last commas? */
static bool is_fact_cut(const struct extraction *x, struct clause *c,
                        size_t more, size_t *out_score)
{
    struct clause cut = *c;

    if (is_fact(x, c, more, out_score)) {
        return true;
    }
    for (size_t end = c->end - 1; end > c->subject + MIN_CUT_WORDS; end--) {
        if (!ends_at(c, end)) {
            continue;
        }
        cut.end = end;
        if (is_fact(x, &cut, 0, out_score) && *out_score >= CUT_FLOOR) {
            *c = cut;
            return true;
        }
    }
    return false;
}

/* The first clause of sentence `i` that is a fact: "... - I gave a talk". */
static bool find_fact(const struct extraction *x, size_t i, struct fact *fact)
{
    const struct intent_piece *piece = &x->pieces.items[i];
    bool has_clause = clause_of(x, piece, &fact->clause);
    struct clause next;
    size_t more = 0;

    if (has_clause && i + 1 < x->pieces.count &&
        goes_on(x, &x->pieces.items[i + 1], &next)) {
        more = words_content(next.piece->words, next.first, next.end);
    }
    while (has_clause && !is_fact_cut(x, &fact->clause, more, &fact->score)) {
        has_clause =
            clause_after(x, piece, fact->clause.subject, &fact->clause);
    }
    return has_clause;
}

/* "We push each other to be better": nothing, unless it is known who "we"
 * are. */
static bool is_of_nobody(const struct extraction *x, const struct fact *fact)
{
    const struct clause *c = &fact->clause;
    const struct clause *tail = &fact->tail_clause;
    size_t score = fact->score;

    if (fact->tail) {
        score += words_content(tail->piece->words, tail->first, tail->end);
    }
    if (c->with.s || extract_is_event(x, c)) {
        return false;
    }
    if (words_have(c->piece->words, c->subject, c->end, "other other's") &&
        words_have(c->piece->words, c->subject, c->end, "each")) {
        return true;
    }
    return !clause_names_people(c) &&
           word_any(&c->piece->words[c->subject],
                    "we we're we've we'd we'll") &&
           (score < NOBODY_FLOOR ||
            words_have(c->piece->words, c->subject, c->end, "common both"));
}

enum clew_status extract_facts(struct extraction *x)
{
    struct fact best[MAX_FACTS];
    size_t n = 0;

    if (x->turn->role != EXTRACT_USER && x->turn->speaker.len == 0) {
        return CLEW_OK; /* an assistant says nothing about itself */
    }
    for (size_t i = 0; i < x->pieces.count; i++) {
        struct fact fact = {.tail = NULL};

        if (asks(x, i) || is_pasted(x, i) || is_told(x, i) ||
            !find_fact(x, i, &fact)) {
            continue;
        }
        if (i + 1 < x->pieces.count &&
            (goes_on(x, &x->pieces.items[i + 1], &fact.tail_clause) ||
             adds_little(x, i + 1, &fact))) {
            fact.tail = &x->pieces.items[i + 1];
            i++;
        }
        if (clause_find_with(x, &fact.clause) != CLEW_OK) {
            return CLEW_NO_MEMORY;
        }
        if (is_of_nobody(x, &fact)) {
            continue;
        }
        keep(best, &n, &fact);
    }
    for (size_t i = 0; i < n; i++) {
        enum clew_status status = add_fact(x, &best[i]);

        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}
