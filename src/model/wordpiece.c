/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wordpiece.c - text to token ids in one pass. See wordpiece.h.
 *
 * A word is gathered normalised into a small buffer and cut when it ends, so
 * no copy of the text is made. Tokens are found in one open-addressed table;
 * hashes of all prefixes come from one walk, the longest is tried first.
 * Pieces that go on ("##ing") are kept without their mark, under other hashes.
 */
#include "model/wordpiece.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

#define HASH_HEAD 0x811C9DC5u
#define HASH_TAIL 0x2545F491u
#define ID_BITS 20
#define ID_MASK ((1u << ID_BITS) - 1)
/* One decomposition: U+FDFA is not canonical, four marks are the most. */
#define DECOMPOSED_MAX 8

struct wordpiece {
    const struct str *tokens;
    size_t n_tokens;
    uint32_t unknown_id;
    uint32_t mask;       /* slots - 1 */
    size_t longest_head; /* bytes of the longest token of each kind, no mark */
    size_t longest_tail;
    bool is_cased;
    uint32_t slots[]; /* 12 bits of hash, id + 1; 0 is free */
};

/* The word being gathered, and where its pieces go. */
struct run {
    const struct wordpiece *wordpiece;
    uint32_t *ids;
    size_t n_ids;
    size_t cap;
    size_t n_chars;
    size_t len;
    char word[WORDPIECE_MAX_WORD_CHARS * 4];
};

enum kind { KIND_DROP, KIND_SPACE, KIND_ALONE, KIND_LETTER };

static uint32_t hash_step(uint32_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 0x01000193u;
}

/* FNV's low bits are weak; spread the high ones over them. */
static uint32_t hash_end(uint32_t hash)
{
    hash ^= hash >> 15;
    hash *= 0x2C1B3C6Du;
    return hash ^ hash >> 13;
}

static bool is_tail(struct str token)
{
    return token.len > 2 && token.s[0] == '#' && token.s[1] == '#';
}

static struct str body_of(struct str token)
{
    return is_tail(token) ? str_sub(token, 2, token.len) : token;
}

/* The slot that holds `body` of that kind, or the free one where it belongs. */
static uint32_t slot_of(const struct wordpiece *wp, struct str body, bool tail,
                        uint32_t hash)
{
    uint32_t end = hash_end(hash);
    uint32_t at = end & wp->mask;

    while (wp->slots[at] != 0) {
        if (wp->slots[at] >> ID_BITS == end >> ID_BITS) {
            struct str token = wp->tokens[(wp->slots[at] & ID_MASK) - 1];

            if (is_tail(token) == tail && str_eq(body_of(token), body)) {
                break;
            }
        }
        at = (at + 1) & wp->mask;
    }
    return at;
}

static uint32_t hash_of(struct str body, bool tail)
{
    uint32_t hash = tail ? HASH_TAIL : HASH_HEAD;

    for (size_t i = 0; i < body.len; i++) {
        hash = hash_step(hash, body.s[i]);
    }
    return hash;
}

static void add_token(struct wordpiece *wp, uint32_t id)
{
    struct str body = body_of(wp->tokens[id]);
    bool tail = is_tail(wp->tokens[id]);
    uint32_t hash = hash_of(body, tail);
    uint32_t at = slot_of(wp, body, tail, hash);
    size_t *longest = tail ? &wp->longest_tail : &wp->longest_head;

    wp->slots[at] = (hash_end(hash) >> ID_BITS) << ID_BITS | (id + 1);
    if (body.len > *longest && body.len <= WORDPIECE_MAX_TOKEN_BYTES) {
        *longest = body.len;
    }
}

/*
 * The longest token that starts `rest`: its bytes, 0 if there is none. A
 * cut inside a character can match nothing, because tokens are whole UTF-8.
 */
static size_t longest_piece(const struct wordpiece *wp, struct str rest,
                            bool tail, uint32_t *out_id)
{
    uint32_t hashes[WORDPIECE_MAX_TOKEN_BYTES];
    size_t max = tail ? wp->longest_tail : wp->longest_head;
    uint32_t hash = tail ? HASH_TAIL : HASH_HEAD;
    size_t len = rest.len < max ? rest.len : max;

    for (size_t i = 0; i < len; i++) {
        hash = hash_step(hash, rest.s[i]);
        hashes[i] = hash;
    }
    for (; len > 0; len--) {
        uint32_t at = slot_of(wp, str_sub(rest, 0, len), tail, hashes[len - 1]);

        if (wp->slots[at] != 0) {
            *out_id = (wp->slots[at] & ID_MASK) - 1;
            return len;
        }
    }
    return 0;
}

static void put_id(struct run *run, uint32_t id)
{
    if (run->n_ids < run->cap) {
        run->ids[run->n_ids] = id;
        run->n_ids++;
    }
}

/* The gathered word becomes pieces, or one unknown if any part is unknown. */
static void end_word(struct run *run)
{
    uint32_t pieces[WORDPIECE_MAX_WORD_CHARS];
    struct str rest = {run->word, run->len};
    size_t n_pieces = 0;
    bool is_known = run->n_chars <= WORDPIECE_MAX_WORD_CHARS;

    if (run->n_chars == 0) {
        return;
    }
    while (is_known && rest.len > 0) {
        size_t len = longest_piece(run->wordpiece, rest, n_pieces > 0,
                                   &pieces[n_pieces]);

        is_known = len > 0;
        n_pieces++;
        rest = str_sub(rest, len, rest.len);
    }
    if (!is_known) {
        put_id(run, run->wordpiece->unknown_id);
    }
    for (size_t i = 0; is_known && i < n_pieces; i++) {
        put_id(run, pieces[i]);
    }
    run->n_chars = 0;
    run->len = 0;
}

static void put_char(struct run *run, uint32_t c)
{
    if (run->n_chars < WORDPIECE_MAX_WORD_CHARS) {
        run->len += utf8_put(c, run->word + run->len);
    }
    run->n_chars++;
}

static bool is_cjk(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

static bool is_ascii_punct(uint32_t c)
{
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) ||
           (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

static enum kind kind_of_ascii(uint32_t c)
{
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        return KIND_SPACE;
    }
    if (c < 32 || c == 127) {
        return KIND_DROP;
    }
    return is_ascii_punct(c) ? KIND_ALONE : KIND_LETTER;
}

/* Unassigned characters stay, as in the reference. */
static bool is_removed(uint32_t c)
{
    switch ((int)utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
        return true;
    default:
        return c == 0xFFFD;
    }
}

static enum kind kind_of(uint32_t c)
{
    if (c < 128) {
        return kind_of_ascii(c);
    }
    switch ((int)utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return KIND_SPACE;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
        return KIND_ALONE;
    default:
        return KIND_LETTER;
    }
}

/* One character that is already normalised. */
static void take_char(struct run *run, uint32_t c, enum kind kind)
{
    switch (kind) {
    case KIND_DROP:
        break;
    case KIND_SPACE:
        end_word(run);
        break;
    case KIND_ALONE:
        end_word(run);
        put_char(run, c);
        end_word(run);
        break;
    case KIND_LETTER:
        put_char(run, c);
        break;
    }
}

/* Decompose, drop the accents, lower. */
static void take_folded(struct run *run, uint32_t c)
{
    utf8proc_int32_t parts[DECOMPOSED_MAX];
    int last_class = UTF8PROC_BOUNDCLASS_START;
    utf8proc_ssize_t n =
        utf8proc_decompose_char((utf8proc_int32_t)c, parts, DECOMPOSED_MAX,
                                UTF8PROC_DECOMPOSE, &last_class);

    for (utf8proc_ssize_t i = 0; i < n && i < DECOMPOSED_MAX; i++) {
        if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN) {
            uint32_t lower = (uint32_t)utf8proc_tolower(parts[i]);

            take_char(run, lower, kind_of(lower));
        }
    }
}

static void take_wide(struct run *run, uint32_t c)
{
    bool cjk = is_cjk(c);

    /* U+0085 is white space to Unicode though a control character: cleaning
     * comes first and removes it */
    if (is_removed(c)) {
        return;
    }
    if (cjk) {
        end_word(run);
    }
    if (run->wordpiece->is_cased) {
        take_char(run, c, kind_of(c));
    } else {
        take_folded(run, c);
    }
    if (cjk) {
        end_word(run);
    }
}

size_t wordpiece_run(const struct wordpiece *wordpiece, struct str text,
                     uint32_t *out_ids, size_t cap)
{
    struct run run;
    size_t at = 0;

    run.wordpiece = wordpiece;
    run.ids = out_ids;
    run.cap = cap;
    run.n_ids = 0;
    run.n_chars = 0;
    run.len = 0;
    while (at < text.len && run.n_ids < cap) {
        unsigned char byte = (unsigned char)text.s[at];

        if (byte < 128) {
            uint32_t c = byte;

            at++;
            if (c >= 'A' && c <= 'Z' && !wordpiece->is_cased) {
                c += 'a' - 'A';
            }
            take_char(&run, c, kind_of_ascii(c));
        } else {
            take_wide(&run, utf8_next(text, &at));
        }
    }
    end_word(&run);
    return run.n_ids;
}

bool wordpiece_ends_word(char byte)
{
    enum kind kind = (unsigned char)byte < 128
                         ? kind_of_ascii((unsigned char)byte)
                         : KIND_LETTER;

    return kind == KIND_SPACE || kind == KIND_ALONE;
}

bool wordpiece_find(const struct wordpiece *wordpiece, struct str token,
                    uint32_t *out_id)
{
    struct str body = body_of(token);
    bool tail = is_tail(token);
    uint32_t at = slot_of(wordpiece, body, tail, hash_of(body, tail));

    if (wordpiece->slots[at] == 0) {
        return false;
    }
    *out_id = (wordpiece->slots[at] & ID_MASK) - 1;
    return true;
}

enum clew_status wordpiece_new(const struct str *tokens, size_t n_tokens,
                               bool is_cased, struct wordpiece **out,
                               struct clew_error *err)
{
    struct wordpiece *wp;
    size_t n_slots = 16;

    if (n_tokens == 0 || n_tokens > WORDPIECE_MAX_TOKENS) {
        return clew_fail(err, CLEW_INVALID,
                         "a vocabulary must have 1 to %u tokens, not %zu",
                         WORDPIECE_MAX_TOKENS, n_tokens);
    }
    while (n_slots < n_tokens * 2) {
        n_slots *= 2;
    }
    wp = alloc_zero(1, sizeof(*wp) + n_slots * sizeof(wp->slots[0]));
    if (!wp) {
        return CLEW_NO_MEMORY;
    }
    wp->tokens = tokens;
    wp->n_tokens = n_tokens;
    wp->is_cased = is_cased;
    wp->mask = (uint32_t)n_slots - 1;
    for (size_t i = 0; i < n_tokens; i++) {
        add_token(wp, (uint32_t)i);
    }
    if (!wordpiece_find(wp, STR("[UNK]"), &wp->unknown_id)) {
        wordpiece_free(wp);
        return clew_fail(err, CLEW_INVALID, "the vocabulary has no \"[UNK]\"");
    }
    *out = wp;
    return CLEW_OK;
}

void wordpiece_free(struct wordpiece *wordpiece)
{
    alloc_free(wordpiece);
}

size_t wordpiece_split(struct str text, struct str *out, size_t cap)
{
    size_t count = 0;

    while (text.len > 0) {
        const char *end = memchr(text.s, '\n', text.len);
        size_t len = end ? (size_t)(end - text.s) : text.len;

        if (out && count < cap) {
            out[count].s = text.s;
            /* a file with CRLF line ends */
            out[count].len = len > 0 && text.s[len - 1] == '\r' ? len - 1 : len;
        }
        count++;
        text = str_sub(text, end ? len + 1 : len, text.len);
    }
    return count;
}
