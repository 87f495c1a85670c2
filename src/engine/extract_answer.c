/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_answer.c - a question and its answer make one fact.
 *
 * Between people: "How long have you been married?" - "5 years" becomes "How
 * long Ann has been married: 5 years". From an assistant: the sentence of the
 * answer that says what was asked. Long questions, two questions in one and
 * answers that point elsewhere make nothing.
 */
#include "engine/extract_internal.h"

#include <string.h>

#define MAX_QUESTION_WORDS 16
#define MAX_ANSWER_WORDS 8
#define MAX_LONG_ANSWER_WORDS 14
#define MAX_ANSWER_SENTENCES 6

/* The last question of the turn before, split; false if there is none. */
static bool question_before(const struct extraction *x,
                            struct intent_pieces *out_pieces,
                            const struct intent_piece **out_question)
{
    const struct extract_turn *before;

    if (x->input->n_previous == 0) {
        return false;
    }
    before = &x->input->previous[0];
    if (before->role == EXTRACT_OTHER ||
        (before->intent && before->intent->act != INTENT_QUESTION) ||
        (before->role == x->turn->role &&
         str_eq(before->speaker, x->turn->speaker)) ||
        extract_pieces(x->arena, before, out_pieces) != CLEW_OK ||
        out_pieces->count == 0) {
        return false;
    }
    *out_question = &out_pieces->items[out_pieces->count - 1];
    if (out_pieces->count > 1 && (*out_question)->end != '?') {
        *out_question = &out_pieces->items[out_pieces->count - 2];
    }
    return (*out_question)->end == '?' || out_pieces->count == 1;
}

static bool wants_long_answer(const struct intent_piece *q)
{
    return words_have(q->words, q->body, q->n_words,
                      "where when long many much who why often old");
}

/*
 * "where do you live" -> "Where Ann lives". Only "wh [noun] aux you rest":
 * other shapes would need more grammar than is safe.
 */
static bool question_text(const struct extraction *x,
                          const struct intent_piece *q, struct buf *out)
{
    const struct intent_word *words = q->words;
    size_t at = q->body;
    size_t aux;

    if (!word_any(&words[at], "where when who what which how")) {
        return false;
    }
    for (aux = at + 1; aux < q->n_words && aux < at + 4; aux++) {
        if (word_any(&words[aux], "are do did have were will")) {
            break;
        }
    }
    if (aux >= q->n_words || aux >= at + 4 || aux + 2 >= q->n_words ||
        !word_is(&words[aux + 1], "you") ||
        words_have(words, aux + 2, q->n_words,
                   "and or it that this them there think like feel mean up "
                   "say know you your doing all guys holding") ||
        word_is(&words[q->n_words - 1], "been")) {
        return false;
    }
    for (size_t i = at; i < aux; i++) {
        (void)buf_append_cstr(out, words[i].s); /* checked by the caller */
        (void)buf_append_char(out, ' ');        /* the same */
    }
    if (out->len > 0) {
        out->data[0] = (char)(out->data[0] - 'a' + 'A');
    }
    (void)buf_append_str(out, x->self); /* the same */
    if (word_is(&words[aux], "are")) {
        (void)buf_append_cstr(out, " is"); /* the same */
    } else if (word_is(&words[aux], "have")) {
        (void)buf_append_cstr(out, " has"); /* the same */
    } else if (word_is(&words[aux], "were")) {
        (void)buf_append_cstr(out, " was"); /* the same */
    } else if (word_is(&words[aux], "will")) {
        (void)buf_append_cstr(out, " will"); /* the same */
    } else if (word_is(&words[aux], "did")) {
        (void)buf_append_cstr(out, " did"); /* the same */
    }
    for (size_t i = aux + 2; i < q->n_words; i++) {
        (void)buf_append_char(out, ' '); /* the same */
        (void)buf_append_str(out, str_sub(x->input->previous[0].text,
                                          words[i].from, words[i].to));
        if (i == aux + 2 && word_is(&words[aux], "do")) {
            (void)buf_append_char(out, 's'); /* the same */
        }
    }
    return buf_status(out) == CLEW_OK;
}

/* The first short segment of the answer that holds something. */
static const struct intent_piece *short_answer(const struct extraction *x,
                                               size_t max_words)
{
    for (size_t i = 0; i < x->pieces.count && i < 2; i++) {
        const struct intent_piece *piece = &x->pieces.items[i];
        size_t n = piece->n_words - piece->body;

        /* only pleasantries may come before the answer */
        if (i == 1 &&
            !words_have(x->pieces.items[0].words, 0, x->pieces.items[0].n_words,
                        "thanks thank yeah yes hey oh sure")) {
            return NULL;
        }
        if (piece->end == '?' || n > max_words ||
            words_have(piece->words, 0, piece->n_words,
                       "you your i i'm i've i'd i'll it it's that this they "
                       "we we're we've we'll not still "
                       "thanks thank no yes yeah was were is are hey same "
                       "nothing sure wow") ||
            (n == 1 &&
             str_ieq(x->other, str_of(piece->words[piece->body].s))) ||
            (words_content(piece->words, piece->body, piece->n_words) == 0 &&
             words_numbers(piece->words, piece->body, piece->n_words) == 0)) {
            continue;
        }
        return piece;
    }
    return NULL;
}

static enum clew_status finish_answer(struct extraction *x, struct buf *text,
                                      const struct intent_piece *question,
                                      uint32_t from, uint32_t to,
                                      const char *rule)
{
    struct extract_item *item;
    enum clew_status status = rewrite_date(x, from, to, text);

    (void)buf_append_char(text, '.'); /* checked below */
    if (status == CLEW_OK) {
        status = buf_status(text);
    }
    if (status == CLEW_TOO_LARGE) {
        return CLEW_OK;
    }
    if (status != CLEW_OK) {
        return status;
    }
    item = extract_add(x, EXTRACT_FACT, rule, 0.7f);
    if (!item) {
        return CLEW_NO_MEMORY;
    }
    item->summary = arena_str(x->arena, buf_str(text));
    extract_cite_add(item, 0, from, to);
    extract_cite_add(item, 1, question->words[0].from,
                     question->words[question->n_words - 1].to);
    return item->summary.s ? CLEW_OK : CLEW_NO_MEMORY;
}

static enum clew_status answer_of_person(struct extraction *x,
                                         const struct intent_piece *q)
{
    const struct intent_piece *answer = short_answer(
        x, wants_long_answer(q) ? MAX_LONG_ANSWER_WORDS : MAX_ANSWER_WORDS);
    struct buf text;
    enum clew_status status = CLEW_OK;

    if (!answer || q->n_words > MAX_QUESTION_WORDS) {
        return CLEW_OK;
    }
    buf_init(&text, 1024);
    if (question_text(x, q, &text)) {
        uint32_t from = answer->words[answer->body].from;
        uint32_t to = answer->words[answer->n_words - 1].to;

        (void)buf_append_cstr(&text, ": "); /* checked in finish_answer */
        (void)buf_append_str(&text, str_sub(x->turn->text, from, to));
        status = finish_answer(x, &text, q, from, to, "fact-answer");
    }
    buf_release(&text);
    return status;
}

/* Words two pieces share, of those that say something. */
static size_t overlap(const struct intent_piece *a,
                      const struct intent_piece *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_words; i++) {
        if (word_is_generic(&a->words[i])) {
            continue;
        }
        for (size_t k = 0; k < b->n_words; k++) {
            size_t len = a->words[i].len < b->words[k].len ? a->words[i].len
                                                           : b->words[k].len;

            /* the same word, give or take its ending */
            if (word_is(&a->words[i], b->words[k].s) ||
                (len > 2 && memcmp(a->words[i].s, b->words[k].s,
                                   len > 4 ? len - 1 : len) == 0)) {
                n++;
                break;
            }
        }
    }
    return n;
}

/* The word behind "what is" in "what is X?"; 0 if it asks something else. */
static size_t definition_at(const struct intent_piece *q)
{
    size_t at = q->body;
    size_t from;

    if (!word_any(&q->words[at], "what's what who who's where where's when")) {
        return 0;
    }
    from = at + 1;
    if (!word_any(&q->words[at], "what's who's where's")) {
        if (from >= q->n_words ||
            !word_any(&q->words[from], "is are was were")) {
            return 0;
        }
        from++;
    }
    if (from >= q->n_words || words_have(q->words, from, q->n_words,
                                         "you your it this that my up wrong")) {
        return 0;
    }
    return from;
}

/* "What is X?" + "Y." -> "X: Y." */
static bool defines(const struct extraction *x, const struct intent_piece *q,
                    struct buf *out)
{
    const struct extract_turn *before = &x->input->previous[0];
    size_t from = definition_at(q);

    if (!from) {
        return false;
    }
    (void)buf_append_str(out, str_sub(before->text, q->words[from].from,
                                      q->words[q->n_words - 1].to));
    if (out->len > 0 && out->data[0] >= 'a' && out->data[0] <= 'z') {
        out->data[0] = (char)(out->data[0] - 'a' + 'A');
    }
    return buf_status(out) == CLEW_OK;
}

/* A sentence that stands for itself and answers, not one that leads on. */
static bool says_it(const struct extraction *x,
                    const struct intent_piece *piece)
{
    const struct intent_word *words = piece->words;
    struct str text = x->turn->text;
    uint32_t to = words[piece->n_words - 1].to;
    uint32_t from = words[0].from;

    return piece->end != '?' && piece->n_words >= 4 && piece->n_words <= 40 &&
           (to >= text.len || text.s[to] != ':') &&
           (from == 0 || !strchr("#*-`|>", text.s[from - 1])) &&
           (from < 2 || !strchr("#*-`|>", text.s[from - 2])) &&
           !intent_is_verb(&words[piece->body]) && piece->body == 0 &&
           !(words[0].s[0] >= '0' && words[0].s[0] <= '9' &&
             words[0].len < 3) &&
           !word_any(&words[0], "however but while when because below some "
                                "both also and or so then first") &&
           !word_any(&words[piece->body],
                     "it it's this that these those they i i'm i'd sure "
                     "great you here here's if what's let's there their") &&
           !words_have(words, 0, piece->n_words,
                       "i i'm me you your you're depend depends vary "
                       "following below above these");
}

static enum clew_status answer_of_assistant(struct extraction *x,
                                            const struct intent_piece *q)
{
    const struct intent_piece *best = NULL;
    size_t best_score = 0;
    struct buf text;
    enum clew_status status = CLEW_OK;
    uint32_t from;
    uint32_t to;

    if (words_content(q->words, 0, q->n_words) < (definition_at(q) ? 1u : 2u) ||
        q->n_words > MAX_QUESTION_WORDS + 6) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < x->pieces.count && i < MAX_ANSWER_SENTENCES; i++) {
        const struct intent_piece *piece = &x->pieces.items[i];
        size_t score = overlap(q, piece);

        if (score > best_score && says_it(x, piece)) {
            best = piece;
            best_score = score;
        }
    }
    buf_init(&text, 2048);
    if (best) {
        from = best->words[best->body].from;
        to = best->words[best->n_words - 1].to;
        (void)buf_append_str(&text, str_sub(x->turn->text, from, to));
        status = finish_answer(x, &text, q, from, to, "fact-answered");
    } else if (x->pieces.count == 1 && short_answer(x, MAX_ANSWER_WORDS) &&
               defines(x, q, &text)) {
        const struct intent_piece *answer = &x->pieces.items[0];

        from = answer->words[answer->body].from;
        to = answer->words[answer->n_words - 1].to;
        (void)buf_append_cstr(&text, ": "); /* checked in finish_answer */
        (void)buf_append_str(&text, str_sub(x->turn->text, from, to));
        status = finish_answer(x, &text, q, from, to, "fact-answered");
    }
    buf_release(&text);
    return status;
}

enum clew_status extract_answer(struct extraction *x)
{
    struct intent_pieces pieces;
    const struct intent_piece *question;

    if (!question_before(x, &pieces, &question)) {
        return CLEW_OK;
    }
    if (x->turn->role == EXTRACT_ASSISTANT && x->turn->speaker.len == 0) {
        return answer_of_assistant(x, question);
    }
    return answer_of_person(x, question);
}
