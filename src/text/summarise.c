/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summarise.c - pick the telling sentences. See summarise.h.
 *
 * A sentence is worth the words it shares with the rest of the talk, by how
 * rare they are in general and how often they come here, over the root of its
 * length; names, decisions and questions that stayed open add to it. Sentences
 * are taken best first, each counted only for what is not covered yet, and put
 * back into their order.
 */
#include "text/summarise.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "text/chars.h"
#include "text/settled.h"
#include "text/smalltalk.h"

#include <math.h>
#include <string.h>

#define MAX_SENTENCES 2000
#define MAX_ITEMS 400
#define MAX_WORDS 4096
/* Places of the table that finds words: a power of two, at most half full. */
#define WORD_PLACES 8192
/* A longer sentence is cut to this before it is taken. */
#define SENTENCE_TOKENS 90
#define CUT_MARK "…"
#define DECISION_BONUS 1.5
#define QUESTION_BONUS 1.0
#define NAME_BONUS 0.4
#define FIRST_BONUS 1.5
/* Names and words listed in the macro summary. */
#define LISTED 12

struct word {
    uint64_t hash;
    struct str text;
    double weight;
    size_t n_turns;
    size_t last_turn; /* counted last, plus one */
    bool is_covered;
};

struct piece {
    size_t turn;
    size_t from;
    size_t to;
    size_t first_token;
    size_t end_token;
    size_t n_tokens; /* as an LLM counts */
    double bonus;
    bool is_taken;
    bool is_question;
    bool is_cut; /* its sentence goes on */
};

struct work {
    struct arena *arena;
    const struct summary_turn *turns;
    size_t count;
    struct word *words;
    size_t n_words;
    uint16_t *places; /* by hash: which word, plus one; 0 = none */
    struct piece *pieces;
    size_t n_pieces;
    struct summary_item *items;
    size_t n_items;
};

/* --- the words of the talk -------------------------------------------------
 */

_Static_assert(WORD_PLACES >= 2 * MAX_WORDS && MAX_WORDS < UINT16_MAX,
               "the table must have room");

/* Where a word stands in the table, or would. */
static uint16_t *place_of(const struct work *work, uint64_t hash)
{
    size_t i = (size_t)(hash ^ hash >> 32) % WORD_PLACES;

    while (work->places[i] && work->words[work->places[i] - 1].hash != hash) {
        i = (i + 1) % WORD_PLACES;
    }
    return &work->places[i];
}

static struct word *word_find(const struct work *work, uint64_t hash)
{
    uint16_t number = *place_of(work, hash);

    return number ? &work->words[number - 1] : NULL;
}

static void add_words(struct work *work, size_t turn)
{
    const struct analysis *analysis = work->turns[turn].analysis;

    for (size_t i = 0; i < analysis->n_keywords && i < 40; i++) {
        const struct keyword *keyword = &analysis->keywords[i];
        uint64_t hash = str_hash(keyword->stem);
        struct word *word = word_find(work, hash);

        if (!word && work->n_words < MAX_WORDS) {
            word = &work->words[work->n_words++];
            *place_of(work, hash) = (uint16_t)work->n_words;
            *word = (struct word){.hash = hash, .text = keyword->word};
        }
        if (word && word->last_turn != turn + 1) {
            word->n_turns++;
            word->last_turn = turn + 1;
            word->weight = (double)keyword->idf *
                           (1 + log((double)word->n_turns)) *
                           (keyword->is_noun ? 1.0 : 0.6);
        }
    }
}

/* --- sizes -----------------------------------------------------------------
 */

/*
 * What a sentence takes of a summary. The bound counts every byte past ASCII:
 * in Russian it is four times what is there, so that a summary had half a
 * sentence. Twice the estimate is more than enough.
 */
static size_t size_of(struct str text)
{
    size_t bound = text_token_bound(text);
    size_t likely = 2 * text_token_estimate(text);

    return likely > 0 && likely < bound ? likely : bound;
}

/* Does a text end with a mark of Chinese or Japanese, which needs no blank? */
static bool ends_wide(struct str text)
{
    static const char *const marks[] = {"。", "！", "？", "，", "、", "；"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_ends(text, str_of(marks[i]))) {
            return true;
        }
    }
    return false;
}

/* Its start within `max`, up to a blank or a mark where there is one. */
static struct str cut_by(struct str text, size_t max,
                         size_t (*size)(struct str))
{
    size_t low = 0;
    size_t high = text.len;

    if (size(text) <= max) {
        return text;
    }
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (size(str_sub(text, 0, middle)) <= max) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low = utf8_cut(text, low);
    for (size_t i = low; i > low / 2; i--) {
        if ((i < text.len && (text.s[i] == ' ' || text.s[i] == '\n')) ||
            ends_wide(str_sub(text, 0, i))) {
            return str_sub(text, 0, i);
        }
    }
    return str_sub(text, 0, low);
}

/* --- sentences -------------------------------------------------------------
 */

static struct str text_of(const struct work *work, const struct piece *piece)
{
    return str_trim(str_sub(work->turns[piece->turn].analysis->text,
                            piece->from, piece->to));
}

/* Nobody of the other side spoke after it. */
static bool stays_open(const struct work *work, size_t turn)
{
    for (size_t i = turn + 1; i < work->count; i++) {
        if (work->turns[i].is_user != work->turns[turn].is_user) {
            return false;
        }
    }
    return true;
}

static bool add_item(struct work *work, enum summary_item_kind kind,
                     struct str text, size_t turn)
{
    if (kind == SUMMARY_NAME) {
        for (size_t i = 0; i < work->n_items; i++) {
            if (work->items[i].kind == kind &&
                str_ieq(work->items[i].text, text)) {
                work->items[i].n_turns++;
                return false;
            }
        }
    }
    if (work->n_items == MAX_ITEMS || text.len == 0) {
        return false;
    }
    work->items[work->n_items++] = (struct summary_item){kind, text, turn, 1};
    return true;
}

static void add_pieces(struct work *work, size_t turn)
{
    const struct analysis *analysis = work->turns[turn].analysis;

    for (size_t i = 0; i < analysis->n_sentences; i++) {
        const struct sentence *sentence = &analysis->sentences[i];
        struct piece piece = {.turn = turn,
                              .from = sentence->span.from,
                              .to = sentence->span.to,
                              .first_token = sentence->span.first_token,
                              .end_token = sentence->span.end_token,
                              .is_question = sentence->is_question};
        struct str text = text_of(work, &piece);

        text = str_sub(text, smalltalk_skip(text), text.len);
        if (work->n_pieces == MAX_SENTENCES || sentence->is_code ||
            smalltalk_is(text) || smalltalk_is_caption(text)) {
            continue;
        }
        piece.is_cut = size_of(text) > SENTENCE_TOKENS;
        text = cut_by(text, SENTENCE_TOKENS, size_of);
        piece.from = (size_t)(text.s - analysis->text.s);
        piece.to = piece.from + text.len;
        piece.n_tokens = size_of(text);
        piece.n_tokens += piece.is_cut ? text_token_bound(STR(CUT_MARK)) : 0;
        if (settled_is(text) && !sentence->is_question) {
            piece.bonus += DECISION_BONUS;
            (void)add_item(work, SUMMARY_DECISION, text, turn);
        }
        if (settled_is_open(text) ||
            (sentence->is_question && stays_open(work, turn))) {
            piece.bonus += QUESTION_BONUS;
            (void)add_item(work, SUMMARY_QUESTION, text, turn);
        }
        if (work->n_pieces == 0) { /* what it is about, after greetings */
            piece.bonus += FIRST_BONUS;
        }
        work->pieces[work->n_pieces++] = piece;
    }
}

static void add_names(struct work *work, size_t turn)
{
    const struct analysis *analysis = work->turns[turn].analysis;

    for (size_t i = 0; i < analysis->n_entities; i++) {
        const struct entity *entity = &analysis->entities[i];

        if (entity->kind <= ENTITY_PROJECT || entity->kind == ENTITY_NAME) {
            (void)add_item(work, SUMMARY_NAME, entity->text, turn);
        }
    }
}

static enum clew_status read_turns(struct work *work)
{
    work->words = arena_zero(work->arena, MAX_WORDS, sizeof(*work->words));
    work->pieces =
        arena_zero(work->arena, MAX_SENTENCES, sizeof(*work->pieces));
    work->items = arena_zero(work->arena, MAX_ITEMS, sizeof(*work->items));
    work->places = arena_zero(work->arena, WORD_PLACES, sizeof(*work->places));
    if (!work->words || !work->pieces || !work->items || !work->places) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < work->count; i++) {
        add_words(work, i);
        add_names(work, i);
        add_pieces(work, i);
    }
    return CLEW_OK;
}

/* --- picking ---------------------------------------------------------------
 */

/* What a sentence adds to what is covered. */
static double worth(const struct work *work, const struct piece *piece)
{
    const struct tokens *tokens = &work->turns[piece->turn].analysis->tokens;
    const struct summary_turn *turn = &work->turns[piece->turn];
    struct str text = text_of(work, piece);
    double sum = 0;

    for (size_t i = piece->first_token; i < piece->end_token; i++) {
        const struct token *token = &tokens->items[i];
        const struct word *word =
            token->kind == TOKEN_PUNCT || token->flags & TOKEN_STOP
                ? NULL
                : word_find(work, str_hash(token->stem));

        sum += word && !word->is_covered ? word->weight : 0;
    }
    sum /= sqrt((double)piece->n_tokens + 6) * 4;
    for (size_t i = 0; i < work->n_items; i++) {
        if (work->items[i].kind == SUMMARY_NAME &&
            work->items[i].turn == piece->turn &&
            str_find(text, work->items[i].text, 0) != SIZE_MAX) {
            sum += NAME_BONUS;
        }
    }
    return sum + (sum > 0 ? piece->bonus : 0) + (turn->is_user ? 0.2 : 0);
}

static void cover(struct work *work, const struct piece *piece)
{
    const struct tokens *tokens = &work->turns[piece->turn].analysis->tokens;

    for (size_t i = piece->first_token; i < piece->end_token; i++) {
        struct word *word = word_find(work, str_hash(tokens->items[i].stem));

        if (word) {
            word->is_covered = true;
        }
    }
}

/* Take the best sentences within the limits; false if none is left to take. */
static void pick(struct work *work, size_t max_tokens, size_t max_pieces)
{
    size_t used = 0;

    for (size_t i = 0; i < work->n_words; i++) {
        work->words[i].is_covered = false;
    }
    for (size_t i = 0; i < work->n_pieces; i++) {
        work->pieces[i].is_taken = false;
    }
    for (size_t taken = 0; taken < max_pieces; taken++) {
        struct piece *best = NULL;
        double best_worth = 0.25; /* less says nothing new */

        for (size_t i = 0; i < work->n_pieces; i++) {
            struct piece *piece = &work->pieces[i];
            double value;

            if (piece->is_taken || used + piece->n_tokens + 1 > max_tokens) {
                continue;
            }
            value = worth(work, piece);
            if (value > best_worth) {
                best_worth = value;
                best = piece;
            }
        }
        if (!best) {
            return;
        }
        best->is_taken = true;
        used += best->n_tokens + 1;
        cover(work, best);
    }
}

/* What goes on needs an end of what was there before, and a blank where the
 * script has any. */
static void end_sentence(struct buf *out)
{
    struct str text = buf_str(out);
    size_t at = text.len;
    uint32_t c;
    uint32_t len;
    enum char_class class;

    if (text.len == 0) {
        return;
    }
    do {
        at--;
    } while (at > 0 && ((unsigned char)text.s[at] & 0xc0) == 0x80);
    class = char_at(text, at, &c, &len);
    if (class == CHAR_HAN) {
        buf_append_cstr(out, "。");
        return;
    }
    if (char_is_word(class) || class == CHAR_HANGUL) {
        buf_append_cstr(out, ". ");
    } else if (!ends_wide(text)) {
        buf_append_char(out, ' ');
    }
}

/* The taken sentences in their order, with where they stand. */
static enum clew_status join(struct work *work, struct summary_text *out)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    out->n_cites = 0;
    out->cites =
        arena_zero(work->arena, work->n_pieces + 1, sizeof(*out->cites));
    for (size_t i = 0; out->cites && i < work->n_pieces; i++) {
        const struct piece *piece = &work->pieces[i];

        if (piece->is_taken) {
            end_sentence(&text);
            buf_append_str(&text, text_of(work, piece));
            buf_append_cstr(&text, piece->is_cut ? CUT_MARK : "");
            out->cites[out->n_cites++] =
                (struct summary_cite){piece->turn, piece->from, piece->to};
        }
    }
    out->text = buf_status(&text) == CLEW_NO_MEMORY
                    ? (struct str){NULL, 0}
                    : arena_str(work->arena, buf_str(&text));
    buf_release(&text);
    return out->cites && out->text.s ? CLEW_OK : CLEW_NO_MEMORY;
}

/* --- what recurs -----------------------------------------------------------
 */

/* Start a labelled list; its first entry comes next. */
static void begin_list(struct buf *out, const char *label)
{
    buf_printf(out, "%s%s: ", out->len ? "\n" : "", label);
}

static void list_words(const struct work *work, struct buf *out)
{
    size_t picked[LISTED];
    size_t n = 0;

    while (n < LISTED) {
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < work->n_words; i++) {
            bool is_new = work->words[i].n_turns > 1 &&
                          !smalltalk_is(work->words[i].text);

            for (size_t k = 0; k < n; k++) {
                is_new = is_new && picked[k] != i;
            }
            if (is_new && (best == SIZE_MAX ||
                           work->words[i].weight > work->words[best].weight)) {
                best = i;
            }
        }
        if (best == SIZE_MAX) {
            break;
        }
        picked[n++] = best;
    }
    if (n > 0) {
        begin_list(out, "Topics");
    }
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s%.*s", i ? ", " : "",
                   (int)work->words[picked[i]].text.len,
                   work->words[picked[i]].text.s);
    }
}

static void list_items(const struct work *work, enum summary_item_kind kind,
                       const char *label, const char *separator, size_t max,
                       struct summary_text *out, struct buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < work->n_items && n < max; i++) {
        const struct summary_item *item = &work->items[i];

        if (item->kind != kind) {
            continue;
        }
        if (n == 0) {
            begin_list(text, label);
        }
        if (n > 0 && kind != SUMMARY_NAME) {
            end_sentence(text);
        }
        buf_append_cstr(text, n ? separator : "");
        buf_append_str(text, item->text);
        out->cites[out->n_cites++] = (struct summary_cite){
            item->turn,
            (size_t)(item->text.s - work->turns[item->turn].analysis->text.s),
            (size_t)(item->text.s - work->turns[item->turn].analysis->text.s) +
                item->text.len};
        n++;
    }
}

static enum clew_status recurs(struct work *work, size_t max_bytes,
                               size_t max_tokens, struct summary_text *out)
{
    struct buf text;
    struct str cut;

    buf_init(&text, 1 << 20);
    out->cites =
        arena_zero(work->arena, work->n_items + 1, sizeof(*out->cites));
    out->n_cites = 0;
    if (!out->cites) {
        return CLEW_NO_MEMORY;
    }
    list_words(work, &text);
    list_items(work, SUMMARY_NAME, "Names", ", ", 40, out, &text);
    list_items(work, SUMMARY_DECISION, "Decided", " ", LISTED, out, &text);
    list_items(work, SUMMARY_QUESTION, "Open", " ", LISTED, out, &text);
    cut = summary_cut(buf_str(&text), max_tokens);
    if (cut.len > max_bytes) {
        cut = utf8_head(cut, max_bytes);
    }
    out->text = buf_status(&text) == CLEW_NO_MEMORY
                    ? (struct str){NULL, 0}
                    : arena_str(work->arena, cut);
    buf_release(&text);
    return out->text.s ? CLEW_OK : CLEW_NO_MEMORY;
}

/* --- the parts others use --------------------------------------------------
 */

struct str summary_cut(struct str text, size_t max_tokens)
{
    return cut_by(text, max_tokens, text_token_bound);
}

/* At least half the longer words of the item are there. */
static bool names(struct str text, const struct summary_item *item)
{
    struct str rest = item->text;
    struct str word;
    size_t n = 0;
    size_t found = 0;

    if (str_ifind(text, item->text, 0) != SIZE_MAX) {
        return true;
    }
    if (item->kind == SUMMARY_NAME) {
        return false;
    }
    while (str_split(&rest, ' ', &word)) {
        if (word.len > 3) {
            n++;
            found += str_ifind(text, word, 0) != SIZE_MAX;
        }
    }
    return n > 0 && found * 2 >= n;
}

double summary_coverage(struct str text, const struct summary_item *items,
                        size_t count)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        found += names(text, &items[i]);
    }
    return count ? (double)found / (double)count : 1;
}

enum clew_status summary_items(struct arena *arena,
                               const struct summary_turn *turns, size_t count,
                               struct summary_item **out_items,
                               size_t *out_count)
{
    struct work work = {.arena = arena, .turns = turns, .count = count};
    enum clew_status status = read_turns(&work);

    if (status == CLEW_OK) {
        *out_items = work.items;
        *out_count = work.n_items;
    }
    return status;
}

static double coverage_of(struct work *work, const struct summary *summary)
{
    const char *all =
        arena_printf(work->arena, "%.*s\n%.*s\n%.*s",
                     (int)summary->micro.text.len, summary->micro.text.s,
                     (int)summary->meso.text.len, summary->meso.text.s,
                     (int)summary->macro.text.len, summary->macro.text.s);

    return summary_coverage(str_of(all), work->items, work->n_items);
}

/* A talk of nothing telling: take its first sentence. */
static void pick_first(struct work *work, size_t max_tokens)
{
    for (size_t i = 0; i < work->n_pieces; i++) {
        if (work->pieces[i].is_taken) {
            return;
        }
    }
    if (work->n_pieces > 0 && work->pieces[0].n_tokens <= max_tokens) {
        work->pieces[0].is_taken = true;
    }
}

enum clew_status summarise(struct arena *arena,
                           const struct summary_turn *turns, size_t count,
                           struct summary *out)
{
    struct work work = {.arena = arena, .turns = turns, .count = count};
    size_t bytes = 0;
    size_t tokens = 0;
    enum clew_status status = read_turns(&work);

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < count; i++) {
        bytes += turns[i].analysis->text.len;
        tokens += text_token_bound(turns[i].analysis->text);
    }
    if (status == CLEW_OK) {
        pick(&work, SUMMARY_MICRO_TOKENS, SUMMARY_MICRO_SENTENCES);
        pick_first(&work, SUMMARY_MICRO_TOKENS);
        status = join(&work, &out->micro);
    }
    if (status == CLEW_OK) {
        pick(&work, SUMMARY_MESO_TOKENS, SIZE_MAX);
        pick_first(&work, SUMMARY_MESO_TOKENS);
        status = join(&work, &out->meso);
    }
    if (status == CLEW_OK) {
        status = recurs(&work, bytes,
                        tokens < SUMMARY_MACRO_TOKENS ? tokens
                                                      : SUMMARY_MACRO_TOKENS,
                        &out->macro);
    }
    if (status == CLEW_OK) {
        out->coverage = coverage_of(&work, out);
    }
    return status;
}
