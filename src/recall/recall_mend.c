/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_mend.c - a word that nothing in reach knows, as one that something
 * does.
 *
 * The index holds hashes of terms, so the words near a slip are made
 * (text/spell.h) and asked for one by one; a word two edits away only if none
 * is nearer, and only of a long word. Among those known the likelier slip wins,
 * then what more documents have. A word of the lexicon is never a slip: who
 * asks about a pear must not be told of a bear. Where the lexicon knows little
 * (names, languages other than English) a word must be longer to be mended, and
 * one that is written small not just another form of a known one.
 */
#include "recall/recall_internal.h"

#include "text/fold.h"
#include "text/lexicon.h"
#include "text/spell.h"
#include "text/stem.h"
#include "text/token.h"

#include <string.h>

/* A longer question is a text: its odd words are names and code. */
#define MAX_QUERY_BYTES 512u
/* Letters from which one edit, and two, are tried: of English words, and of
 * those the lexicon cannot judge. */
#define ONE_LETTERS 4
#define TWO_LETTERS 8
#define ONE_LETTERS_UNSURE 6
#define TWO_LETTERS_UNSURE 10
/* Words asked for in one question: some twenty milliseconds. */
#define MAX_TRIED 20000u
/* What a candidate may take; stems and hashes, nothing that stays. */
#define SCRATCH_BYTES ((size_t)8 << 20)
#define SCRATCH_CLEAR 256u
#define MAX_WORD_BYTES 64u
/* Verbs and adjectives change so much of their ends. */
#define ENDING_BYTES 3u

/* What a word may have been meant to be. */
struct meant {
    char word[MAX_WORD_BYTES];
    size_t len; /* 0: nothing */
    enum spell_step step;
    bool is_real;   /* the lexicon has it */
    uint64_t count; /* documents in reach */
};

struct mending {
    struct population pops[INDEX_KINDS];
    size_t n_pops;
    struct arena scratch;
    enum text_language language; /* that words are stemmed by */
    struct str slip;
    bool may_inflect; /* the slip may be a word's other form */
    size_t n_tried;
    bool has_failed;
    struct meant best; /* so far */
};

static bool is_real(struct str folded)
{
    struct lex_word word;

    return lexicon_find(folded, str_hash(folded), &word) &&
           !(word.flags & LEX_STEM_ONLY) &&
           (word.flags & LEX_TAGGED || word.stop_mask != 0 ||
            word.kind != LEX_NO_NAME);
}

/* Documents in reach that know a word; many, if it is one of those that every
 * text has and no index. */
static uint64_t count_of(struct mending *m, struct str word,
                         enum spell_step step)
{
    struct lex_word known;
    struct str stem;
    uint64_t hash;
    uint64_t count = 0;

    if (step == SPELL_SLIP && lexicon_find(word, str_hash(word), &known) &&
        known.stop_mask & 1u << TEXT_ENGLISH) {
        return UINT64_MAX;
    }
    if (!stem_word(&m->scratch, word, m->language, &stem)) {
        m->has_failed = true;
        return 0;
    }
    hash = index_term_hash(stem);
    for (size_t i = 0; i < m->n_pops; i++) {
        count += population_count(&m->pops[i], hash);
    }
    return count;
}

/* What is a word anyway, the likelier slip, what is known better; of two with
 * one stem the whole word rather than a stump. */
static bool is_better(const struct meant *m, const struct meant *than)
{
    if (than->len == 0) {
        return true;
    }
    if (m->is_real != than->is_real) {
        return m->is_real;
    }
    if (m->step != than->step) {
        return m->step < than->step;
    }
    if (m->count != than->count) {
        return m->count > than->count;
    }
    return m->len != than->len ? m->len > than->len
                               : memcmp(m->word, than->word, m->len) < 0;
}

/* Do they differ in nothing but their ends: "brauchte", "brauchst"? */
static bool is_other_form(struct str a, struct str b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.s[n] == b.s[n]) {
        n++;
    }
    return a.len <= n + ENDING_BYTES && b.len <= n + ENDING_BYTES;
}

static void try_word(void *arg, struct str word, enum spell_step step)
{
    struct mending *m = arg;
    struct meant meant = {.len = word.len, .step = step};

    if (m->has_failed || m->n_tried >= MAX_TRIED ||
        word.len > sizeof(meant.word) ||
        (m->may_inflect && is_other_form(word, m->slip))) {
        return;
    }
    if (++m->n_tried % SCRATCH_CLEAR == 0) {
        arena_clear(&m->scratch);
    }
    meant.count = count_of(m, word, step);
    if (meant.count > 0) {
        memcpy(meant.word, word.s, word.len);
        meant.is_real = is_real(word);
        if (is_better(&meant, &m->best)) {
            m->best = meant;
        }
    }
}

static bool is_known(const struct recall_result *result, struct str stem)
{
    for (size_t i = 0; i < result->n_terms; i++) {
        if (str_eq(result->terms[i], stem)) {
            return result->is_known[i];
        }
    }
    return true; /* not searched by */
}

/* Bytes of a possessive's end in its source: "Ann's", with either mark. */
static size_t possessive_bytes(struct str query, const struct token *token)
{
    struct str source = str_sub(query, token->from, token->to);

    if (!str_ends(token->folded, STR("'s"))) {
        return 0;
    }
    return str_ends(source, STR("'s")) || str_ends(source, STR("'S"))
               ? strlen("'s")
               : strlen("\u2019s");
}

/* Letters of a word that may be a slip; 0 if it is none. */
static size_t slip_letters(const struct recall_result *result,
                           const struct token *token, struct str plain)
{
    if (token->kind != TOKEN_WORD || token->flags & (TOKEN_PART | TOKEN_STOP) ||
        token->flags & (TOKEN_ALL_CAPS | TOKEN_IN_CODE) ||
        is_known(result, token->stem) || is_real(token->folded)) {
        return 0;
    }
    return spell_letters(plain);
}

/* Every Latin word is indexed by its English stem too (terms_of). */
static enum text_language stemmed_by(const struct tokens *tokens,
                                     struct str word)
{
    return (unsigned char)word.s[0] < 0x80 ? TEXT_ENGLISH : tokens->language;
}

/* Find what one token was meant to be; `m->best.len` is 0 if nothing fits. */
static enum clew_status mend_token(struct mending *m, struct arena *arena,
                                   const struct recall_result *result,
                                   const struct tokens *tokens,
                                   const struct token *token,
                                   struct clew_error *err)
{
    bool is_name =
        token->flags & TOKEN_CAPITAL && !(token->flags & TOKEN_SENTENCE_START);
    bool is_unsure = is_name || (tokens->language != TEXT_ENGLISH &&
                                 tokens->language != TEXT_UNKNOWN);
    struct str plain;
    size_t n;

    m->best.len = 0;
    if (!fold_marks(arena, token->folded, &plain)) {
        return clew_no_memory(err);
    }
    if (str_ends(plain, STR("'s"))) {
        plain.len -= strlen("'s");
    }
    n = slip_letters(result, token, plain);
    m->slip = plain;
    m->may_inflect = is_unsure && !(token->flags & TOKEN_CAPITAL);
    if (n >= (is_unsure ? ONE_LETTERS_UNSURE : ONE_LETTERS)) {
        m->language = stemmed_by(tokens, plain);
        spell_one(plain, try_word, m);
    }
    if (m->best.len == 0 &&
        n >= (is_unsure ? TWO_LETTERS_UNSURE : TWO_LETTERS)) {
        spell_two(plain, try_word, m);
    }
    return m->has_failed ? clew_no_memory(err) : CLEW_OK;
}

/* The question up to a token, and the word it was meant to be. */
static enum clew_status put_word(struct recall_mended *out, struct arena *arena,
                                 const struct mending *m, struct str query,
                                 size_t *from, const struct token *token,
                                 struct clew_error *err)
{
    size_t end = possessive_bytes(query, token);
    const char *word = arena_printf(arena, "%.*s%s", (int)m->best.len,
                                    m->best.word, end ? "'s" : "");
    const char *text = arena_printf(arena, "%.*s%.*s%.*s", (int)out->query.len,
                                    out->query.s ? out->query.s : "",
                                    (int)(token->from - *from), query.s + *from,
                                    (int)m->best.len, m->best.word);

    if (!word || !text) {
        return clew_no_memory(err);
    }
    out->query = str_of(text);
    out->words[out->count++] = str_of(word);
    *from = token->to - end;
    return CLEW_OK;
}

static enum clew_status mend_all(struct mending *m, struct arena *arena,
                                 struct str query,
                                 const struct recall_result *result,
                                 struct recall_mended *out,
                                 struct clew_error *err)
{
    struct tokens tokens;
    size_t from = 0;
    enum clew_status status = tokens_of(arena, query, &tokens);

    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < tokens.count && out->count < RECALL_MENDS; i++) {
        const struct token *token = &tokens.items[i];

        status = mend_token(m, arena, result, &tokens, token, err);
        if (status == CLEW_OK && m->best.len > 0) {
            status = put_word(out, arena, m, query, &from, token, err);
        }
        if (status != CLEW_OK) {
            return status;
        }
    }
    if (out->count > 0) {
        const char *text =
            arena_printf(arena, "%.*s%.*s", (int)out->query.len, out->query.s,
                         (int)(query.len - from), query.s + from);

        if (!text) {
            return clew_no_memory(err);
        }
        out->query = str_of(text);
    }
    return CLEW_OK;
}

static bool has_unknown(const struct recall_result *result)
{
    for (size_t i = 0; i < result->n_terms; i++) {
        if (!result->is_known[i]) {
            return true;
        }
    }
    return false;
}

enum clew_status recall_mend(const struct index_view *view, struct arena *arena,
                             const struct recall_request *request,
                             const struct recall_result *result,
                             struct recall_mended *out, struct clew_error *err)
{
    uint32_t kinds = request->kinds
                         ? request->kinds
                         : RECALL_TURN | RECALL_MEMORY | RECALL_EPISODE;
    struct recall_query query = {.request = request};
    struct mending *m;
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (request->query.len > MAX_QUERY_BYTES || !has_unknown(result)) {
        return CLEW_OK;
    }
    m = arena_zero(arena, 1, sizeof(*m));
    if (!m) {
        return clew_no_memory(err);
    }
    for (int k = 0; k < INDEX_KINDS && status == CLEW_OK; k++) {
        if (kinds & (1u << k) || (k == INDEX_TURN && kinds & RECALL_CHAT)) {
            status = population_init(&m->pops[m->n_pops++], arena, view, &query,
                                     (enum index_kind)k, err);
        }
    }
    arena_init(&m->scratch, SCRATCH_BYTES);
    if (status == CLEW_OK) {
        status = mend_all(m, arena, request->query, result, out, err);
    }
    arena_release(&m->scratch);
    return status;
}
