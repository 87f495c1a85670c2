/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_count.c - how many tokens an LLM makes of a text. See analysis.h.
 *
 * Both encodings (cl100k, o200k) first cut the text by a pattern: words with
 * the space before them, up to three digits, runs of punctuation, white space.
 * The cut is redone here; each piece is then counted from the lexicon, which
 * knows how many tokens common words have, or bounded by what byte-pair
 * merging guarantees: two neighbours that are a token together never stay
 * apart. So of two single letters whose pair is a token (the tables, made by
 * models/lexicon/count_tokens.mjs), at least one is part of a longer token, and
 * a letter and a pair that are one token together do not stay apart either. A
 * character past ASCII counts in the bound what it counts alone: in no sequence
 * that was tried (66,000 drawn by chance, of one script and of all) did one of
 * them cost more. What is not in the table counts its bytes.
 */
#include "text/analysis.h"

#include "text/chars.h"
#include "text/lexicon.h"

#include <limits.h>
#include <string.h>

#include "text/token_threes.inc"
#include "text/token_wide.inc"

/* Runs up to these lengths are one token in both encodings. */
#define SPACES_AS_ONE 79
#define NEWLINES_AS_ONE 10
#define TABS_AS_ONE 20
/* A longer word is cut here, to look it up and to bound it. */
#define WORD_MAX 128

/* Bit b of row a: the letters a, b are one token in both encodings. */
static const uint32_t pairs_lower[26] = {
    0x3ffffff, 0x3feffff, 0x3ffffff, 0x3ffffff, 0x3ffffff, 0x1fffdff, 0x3fef9ff,
    0x3fffdff, 0x3ffffff, 0x01fffbf, 0x17effff, 0x3feffff, 0x1ffffff, 0x3feffff,
    0x3feffff, 0x3ffffff, 0x0dfb99f, 0x3fffdff, 0x3ffffff, 0x3fefdff, 0x3feffff,
    0x1feffff, 0x1deffff, 0x38ef93f, 0x3defddf, 0x3dcfdbf,
};
static const uint32_t pairs_upper[26] = {
    0x3ffffff, 0x1feffff, 0x1fefdff, 0x1feffff, 0x2fffdff, 0x1defdff, 0x1fef9ff,
    0x3fffdff, 0x2ffffff, 0x02ed71f, 0x16efdff, 0x13efd7f, 0x1ffffff, 0x3feffff,
    0x0fefdff, 0x1feffff, 0x01fb817, 0x1fefdff, 0x3ffffff, 0x3fefdff, 0x1bebd7f,
    0x02efd7f, 0x0cefdff, 0x18e993f, 0x34cf855, 0x3c260b1,
};
static const uint32_t pairs_mixed[26] = {
    0x3feffee, 0x1164951, 0x196499f, 0x01e4113, 0x1bfbc2e, 0x096691d, 0x0164913,
    0x310c111, 0x08efc28, 0x0144011, 0x1022191, 0x1386131, 0x11ec11f, 0x19651db,
    0x00ebdaa, 0x19e4dd1, 0x0180100, 0x094c091, 0x35bfd95, 0x1f6c599, 0x00eb982,
    0x1145511, 0x1064191, 0x0000108, 0x0104011, 0x0000090,
};

struct count {
    double estimate;
    size_t bound;
};

static bool is_letter(unsigned char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(unsigned char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_punct(unsigned char c)
{
    return c < 0x80 && !is_letter(c) && !is_digit(c) && !is_space(c);
}

/* Are `a` and `b` one token, and never cut apart? */
static bool merges(unsigned char a, unsigned char b)
{
    if (a == ' ') {
        return is_letter(b);
    }
    if (!is_letter(a) || !is_letter(b)) {
        return false;
    }
    if (is_upper(a)) {
        return is_upper(b) ? pairs_upper[a - 'A'] >> (b - 'A') & 1
                           : pairs_mixed[a - 'A'] >> (b - 'a') & 1;
    }
    return !is_upper(b) && pairs_lower[a - 'a'] >> (b - 'a') & 1;
}

/* A character's place in the tables of three; 27: it has none. */
static size_t place_of(char c)
{
    return c == ' ' ? 0 : c >= 'a' && c <= 'z' ? (size_t)(c - 'a') + 1 : 27;
}

/* Are the three characters at `s` one token in `table`? `otherwise` where it
 * does not know them. */
static bool is_three(const uint32_t *table, const char *s, bool otherwise)
{
    size_t a = place_of(s[0]);
    size_t b = place_of(s[1]);
    size_t c = place_of(s[2]);

    if (a == 27 || b == 27 || c == 27) {
        return otherwise;
    }
    return table[27 * a + b] >> c & 1;
}

/* Less than any count, and still so after all that is added to it. */
#define NO_WAY (INT_MIN / 2)

/* The most tokens up to a place, by the length of the last: 1, 2, 3 or more. */
struct most {
    int by[4];
    int any; /* the most of them, here or before */
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The most that end with a token of one character at s[i]. */
static int end_in_one(const struct most *last, const char *s, size_t i)
{
    int most = larger(last->by[2], last->by[3]);

    if (i == 0 || !merges((unsigned char)s[i - 1], (unsigned char)s[i])) {
        most = larger(most, last->by[0]);
    }
    if (i < 2 || !is_three(threes_both, s + i - 2, false)) {
        most = larger(most, last->by[1]);
    }
    return most + 1;
}

/* … of two, s[i - 1] and s[i]. */
static int end_in_two(const struct most *last, const char *s, size_t i)
{
    int most = larger(last->by[1], larger(last->by[2], last->by[3]));

    if (i < 2 || !is_three(threes_both, s + i - 2, false)) {
        most = larger(most, last->by[0]);
    }
    return most + 1;
}

/* The most tokens that merging can leave of a run of letters. */
static size_t worst_case(struct str run)
{
    static const struct most none = {{NO_WAY, NO_WAY, NO_WAY, NO_WAY}, NO_WAY};
    static const struct most start = {{NO_WAY, NO_WAY, NO_WAY, 0}, 0};
    /* up to the last four places, the nearest first */
    struct most last[4] = {start, none, none, none};

    for (size_t i = 0; i < run.len; i++) {
        struct most here = {
            {end_in_one(&last[0], run.s, i), end_in_two(&last[1], run.s, i),
             i >= 2 && is_three(threes_any, run.s + i - 2, true)
                 ? last[2].any + 1
                 : NO_WAY,
             last[3].any + 1},
            0};

        here.any = larger(larger(here.by[0], here.by[1]),
                          larger(here.by[2], here.by[3]));
        here.any = larger(here.any, last[0].any);
        memmove(&last[1], &last[0], 3 * sizeof(*last));
        last[0] = here;
    }
    return (size_t)last[0].any;
}

enum form { FORM_BARE, FORM_SPACED, FORM_CAPITAL, FORM_SPACED_CAPITAL };

/* What the lexicon knows of a word; false if it does not, or of many tokens. */
static bool known_count(struct str word, bool has_space, struct count *out)
{
    char lower[WORD_MAX];
    struct lex_word entry;
    unsigned shift;
    bool is_capital;

    if (word.len == 0 || word.len > 24) {
        return false;
    }
    for (size_t i = 0; i < word.len; i++) {
        if (i > 0 && is_upper((unsigned char)word.s[i])) {
            return false;
        }
        lower[i] = (char)(is_upper((unsigned char)word.s[i]) ? word.s[i] | 0x20
                                                             : word.s[i]);
    }
    is_capital = is_upper((unsigned char)word.s[0]);
    word.s = lower;
    if (!lexicon_find(word, str_hash(word), &entry)) {
        return false;
    }
    shift = 2 * (unsigned)(is_capital ? (has_space ? FORM_SPACED_CAPITAL
                                                   : FORM_CAPITAL)
                                      : (has_space ? FORM_SPACED : FORM_BARE));
    out->bound = (size_t)(entry.token_max >> shift & 3) + 1;
    out->estimate = ((entry.token_sum >> shift & 3) + 2) / 2.0;
    return out->bound < 4;
}

/* Tokens to expect of a run of letters that the lexicon does not know. */
static double guess_piece(struct str piece, bool has_space)
{
    struct count known;
    double len = (double)piece.len;

    if (known_count(piece, has_space, &known)) {
        return known.estimate;
    }
    if (len <= 2) {
        return 1.0;
    }
    if (is_upper((unsigned char)piece.s[1])) {
        return 0.9 + 0.13 * len; /* capitals */
    }
    /* names are rarer than other words */
    return 0.9 + 0.09 * len + (has_space ? 0 : 0.1) +
           (is_upper((unsigned char)piece.s[0]) ? 0.35 : 0) +
           (len > 12 ? 0.25 * (len - 12) : 0);
}

/* The sum over the pieces of getUserName. */
static double guess_word(struct str word, bool has_space)
{
    double sum = 0;
    size_t from = 0;

    for (size_t i = 1; i <= word.len; i++) {
        bool ends =
            i == word.len ||
            (is_upper((unsigned char)word.s[i]) &&
             (!is_upper((unsigned char)word.s[i - 1]) ||
              (i + 1 < word.len && !is_upper((unsigned char)word.s[i + 1]))));

        if (ends) {
            sum += guess_piece(str_sub(word, from, i), has_space && from == 0);
            from = i;
        }
    }
    return sum;
}

/*
 * Is the word at `from` cut off cleanly on the left, so that nothing but one
 * space can be part of its piece?
 */
static bool is_clean_before(struct str text, size_t from)
{
    unsigned char before;
    unsigned char second;

    if (from == 0) {
        return true;
    }
    before = (unsigned char)text.s[from - 1];
    if (before == ' ' || before == '\n' || before == '\r' || is_digit(before)) {
        /* a digit must itself be clear of characters past ASCII */
        return true;
    }
    if (!is_punct(before) || from < 2) {
        return false;
    }
    second = (unsigned char)text.s[from - 2];
    return second == ' ' || is_punct(second);
}

static size_t letters_end(struct str text, size_t at)
{
    size_t end = at;

    while (end < text.len && end - at < WORD_MAX &&
           is_letter((unsigned char)text.s[end])) {
        end++;
    }
    return end;
}

/* Letters from `at`, an apostrophe and letters after them included if known. */
static size_t count_word(struct str text, size_t at, struct count *sum)
{
    size_t end = letters_end(text, at);
    bool has_space = at > 0 && text.s[at - 1] == ' ';
    unsigned char next = end < text.len ? (unsigned char)text.s[end] : ' ';
    bool is_clean = is_clean_before(text, at) && end - at < WORD_MAX;
    struct str word = str_sub(text, at, end);
    struct count known;

    if (next == '\'' && end + 1 < text.len &&
        is_letter((unsigned char)text.s[end + 1])) {
        size_t tail = letters_end(text, end + 1);
        unsigned char after =
            tail < text.len ? (unsigned char)text.s[tail] : ' ';

        if (is_clean && after < 0x80 && after != '\'' &&
            known_count(str_sub(text, at, tail), has_space, &known)) {
            sum->bound += known.bound;
            sum->estimate += known.estimate;
            return tail;
        }
        is_clean = false; /* the ending may be part of the piece */
    }
    if (is_clean && next < 0x80 && known_count(word, has_space, &known)) {
        sum->bound += known.bound;
        sum->estimate += known.estimate;
        return end;
    }
    sum->estimate += guess_word(word, has_space);
    if (at > 0 && text.s[at - 1] == '\'' && word.len > 1) {
        /* 't of 'there may be cut off: bound what is left and right of it */
        sum->bound += 2 + worst_case(str_sub(word, 2, word.len));
    } else if (has_space) {
        sum->bound += worst_case(str_sub(text, at - 1, end));
    } else {
        sum->bound += worst_case(word);
    }
    return end;
}

static size_t count_digits(struct str text, size_t at, struct count *sum)
{
    size_t end = at;
    size_t len;
    bool is_wide;

    while (end < text.len && is_digit((unsigned char)text.s[end])) {
        end++;
    }
    len = end - at;
    is_wide = (at > 0 && (unsigned char)text.s[at - 1] >= 0x80) ||
              (end < text.len && (unsigned char)text.s[end] >= 0x80);
    sum->bound += is_wide ? len : (len + 2) / 3;
    sum->estimate += (double)((len + 2) / 3); /* NOLINT: whole tokens */
    return end;
}

/* Tokens of `len` equal white space characters. */
static size_t space_run(char c, size_t len)
{
    size_t longest = c == ' '    ? SPACES_AS_ONE
                     : c == '\n' ? NEWLINES_AS_ONE
                     : c == '\t' ? TABS_AS_ONE
                                 : 1;

    if (len == 0) {
        return 0;
    }
    if (len <= longest) {
        return 1;
    }
    /* two neighbours together are longer than `longest` */
    return longest == 1 ? len : 1 + 2 * len / longest;
}

/* White space: runs of one character, the last space left to what follows. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): one automaton */
static size_t count_space(struct str text, size_t at, struct count *sum)
{
    size_t end = at;
    size_t last_line = SIZE_MAX;
    bool after_punct = at > 0 && is_punct((unsigned char)text.s[at - 1]);
    unsigned char next;
    bool has_next;

    while (end < text.len && is_space((unsigned char)text.s[end])) {
        if (text.s[end] == '\n' || text.s[end] == '\r') {
            last_line = end;
        }
        end++;
    }
    has_next = end < text.len;
    next = has_next ? (unsigned char)text.s[end] : 0;
    for (size_t i = at; i < end;) {
        size_t stop = i;
        size_t len;
        size_t tokens;

        while (stop < end && text.s[stop] == text.s[i]) {
            stop++;
        }
        len = stop - i;
        tokens = space_run(text.s[i], len);
        if (stop == end && text.s[i] == ' ' && has_next) {
            /* all of these are a token with a space before them */
            bool joins = is_letter(next) ||
                         (is_punct(next) && next > ' ' && next < 0x7f);

            /* what has three bytes may be torn by a space: " 周" */
            bool is_torn = next >= 0xe0;

            tokens = space_run(' ', len - 1) + (joins ? 0 : 1) + is_torn;
            if (next >= 0x80) { /* a letter mostly takes the space */
                sum->estimate -= is_torn ? 2 : 1;
            }
        }
        if (stop == end && has_next && text.s[i] != ' ' && text.s[i] != '\n' &&
            text.s[i] != '\r') {
            /* the last tab stands alone, or goes with a word */
            tokens = space_run(text.s[i], len - 1) + 1;
        }
        sum->bound += tokens;
        sum->estimate += (double)tokens;
        if (i == at && after_punct && text.s[i] == '\n') {
            sum->estimate -= 1; /* part of the punctuation */
        }
        /* a token may lie across two runs, but not past the last line end */
        if (stop < end && last_line != SIZE_MAX && i < last_line &&
            stop <= last_line) {
            sum->bound++;
            sum->estimate -= 0.6;
        } else if (stop < end && (last_line == SIZE_MAX || i > last_line)) {
            sum->bound++;
        }
        i = stop;
    }
    return end;
}

/* Would one character of punctuation at `at` go with the word after it? */
static bool is_prefix(struct str text, size_t at)
{
    return at == 0 || text.s[at - 1] != ' ';
}

static size_t count_punct(struct str text, size_t at, struct count *sum)
{
    size_t end = at;
    size_t same = 1;

    while (end < text.len && is_punct((unsigned char)text.s[end])) {
        same += end > at && text.s[end] == text.s[end - 1];
        end++;
    }
    sum->bound += end - at;
    if (end - at == 1 && end < text.len && is_prefix(text, at) &&
        is_letter((unsigned char)text.s[end])) {
        sum->estimate += 0.15; /* part of the word: "(x", ".name" */
    } else if (same == end - at && end - at >= 4) {
        sum->estimate += 1 + (double)(end - at) / 32;
    } else if (end - at <= 3) {
        sum->estimate += 1 + (end - at == 3 ? 0.12 : 0.01);
    } else {
        sum->estimate += 1.7 + 0.5 * (double)(end - at - 4);
    }
    return end;
}

/* Tokens of one character past ASCII, the mean of both encodings. */
static double wide_estimate(uint32_t c)
{
    static const struct {
        uint32_t to;
        float tokens;
    } blocks[] = {{0x024f, 0.75f}, {0x03ff, 0.72f},  {0x052f, 0.50f},
                  {0x05ff, 0.86f}, {0x06ff, 0.61f},  {0x0dff, 0.77f},
                  {0x0e7f, 0.67f}, {0x10ff, 1.20f},  {0x1fff, 1.00f},
                  {0x206f, 0.95f}, {0x2fff, 1.40f},  {0x303f, 0.80f},
                  {0x30ff, 0.80f}, {0x9fff, 1.10f},  {0xd7ff, 1.08f},
                  {0xffff, 1.00f}, {0x10ffff, 1.70f}};
    size_t i = 0;

    while (c > blocks[i].to) {
        i++;
    }
    return (double)blocks[i].tokens;
}

/* The most tokens that an encoding makes of `c`, which takes `len` bytes. */
static size_t wide_bound(uint32_t c, size_t len)
{
    for (size_t i = 0; i < sizeof(wide_blocks) / sizeof(*wide_blocks); i++) {
        const struct wide_block *block = &wide_blocks[i];

        if (c >= block->from && c <= block->to) {
            uint32_t at = c - block->from;

            return wide_tokens[block->at + at / 16] >> at % 16 * 2 & 3;
        }
    }
    return len;
}

static size_t count_wide(struct str text, size_t at, struct count *sum)
{
    uint32_t len;
    uint32_t c = char_decode(text, at, &len);

    sum->bound += wide_bound(c, len);
    /* an invalid byte reaches a tokenizer as U+FFFD, three bytes */
    if (c == 0xfffd && len == 1) {
        sum->bound += 2;
    }
    sum->estimate += wide_estimate(c);
    return at + len;
}

static struct count count_of(struct str text)
{
    struct count sum = {0};
    size_t at = 0;

    while (at < text.len) {
        unsigned char c = (unsigned char)text.s[at];

        if (is_letter(c)) {
            at = count_word(text, at, &sum);
        } else if (c == ' ' || is_space(c)) {
            at = count_space(text, at, &sum);
        } else if (is_digit(c)) {
            at = count_digits(text, at, &sum);
        } else if (c < 0x80) {
            at = count_punct(text, at, &sum);
        } else {
            at = count_wide(text, at, &sum);
        }
    }
    return sum;
}

size_t text_token_estimate(struct str text)
{
    struct count sum = count_of(text);

    if (text.len == 0) {
        return 0;
    }
    return sum.estimate < 1 ? 1 : (size_t)(sum.estimate + 0.5);
}

size_t text_token_bound(struct str text)
{
    return count_of(text).bound;
}
