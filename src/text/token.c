/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c - walk a text and cut it into tokens. See token.h.
 *
 * One pass over the bytes. A plain ASCII word takes the short way: it is a
 * slice of a lower-cased copy of the text and one look into the lexicon.
 */
#include "text/token.h"

#include "base/limits.h"
#include "text/fold.h"
#include "text/stem.h"
#include "text/token_internal.h"

#include <string.h>

static const char *lower_copy(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.len + 1);

    if (copy) {
        for (size_t i = 0; i < text.len; i++) {
            unsigned char c = (unsigned char)text.s[i];

            copy[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        }
        copy[text.len] = '\0';
    }
    return copy;
}

/*
 * A word of ASCII letters, or a number of ASCII digits, that ends at a space
 * or at punctuation that cannot join. Returns 0 if it is anything more.
 */
static size_t scan_plain(struct scan *scan, size_t at)
{
    struct str text = scan->text;
    struct extent extent = {.from = at};
    size_t i = at;
    unsigned char next;

    while (i < text.len && (unsigned char)text.s[i] < 0x80) {
        uint8_t class = char_ascii[(unsigned char)text.s[i]];

        if (class == CHAR_LOWER) {
            extent.letters++;
        } else if (class == CHAR_UPPER) {
            extent.letters++;
            extent.uppers++;
        } else {
            break;
        }
        i++;
        if (i - at > LIMIT_TOKEN_BYTES) {
            return 0;
        }
    }
    next = i < text.len ? (unsigned char)text.s[i] : ' ';
    if (i == at || next >= 0x80 || char_ascii[next] == CHAR_DIGIT) {
        return 0;
    }
    if (char_ascii[next] == CHAR_PUNCT && next != ',' && next != '?' &&
        next != '!' && next != ')' && next != '"' && next != ';' &&
        (i + 1 < text.len || next == '_' || next == '#')) {
        unsigned char after =
            i + 1 < text.len ? (unsigned char)text.s[i + 1] : ' ';

        /* a full stop before a space is common; the rest is not plain */
        if (next != '.' || after >= 0x80 || char_is_word(char_ascii[after]) ||
            i - at == 1) {
            return 0;
        }
    }
    extent.starts_upper = char_ascii[(unsigned char)text.s[at]] == CHAR_UPPER;
    extent.starts_lower = !extent.starts_upper;
    if (extent.uppers > extent.starts_upper &&
        extent.uppers != extent.letters) {
        return 0;
    }
    extent.to = i;
    (void)scan_push_run(scan, &extent, TOKEN_WORD, 0); /* is_full tells */
    return i;
}

static bool follows_gap(const struct scan *scan, size_t at)
{
    unsigned char before;

    if (at == 0) {
        return true;
    }
    before = (unsigned char)scan->text.s[at - 1];
    return before < 0x80 &&
           (char_ascii[before] == CHAR_SPACE ||
            char_ascii[before] == CHAR_NEWLINE || strchr("\"'(`[{<=:", before));
}

/* Bytes of a lead like "/", "./", "../", "~/", "@", "#", "." or 0. */
static size_t lead_len(const struct scan *scan, size_t at)
{
    static const char *const leads[] = {"../", "./", "~/", "/", "@", "#", "."};
    struct str rest = str_sub(scan->text, at, scan->text.len);

    if (!follows_gap(scan, at)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        struct str lead = str_of(leads[i]);
        uint32_t c;
        uint32_t len;

        if (str_starts(rest, lead) && rest.len > lead.len) {
            enum char_class class =
                char_at(scan->text, at + lead.len, &c, &len);
            bool is_dot = lead.len == 1 && lead.s[0] == '.';

            /* ".5" is a number, ".env" a file */
            return char_is_letter(class) ||
                           (class == CHAR_DIGIT && !is_dot && lead.s[0] != '.')
                       ? lead.len
                       : 0;
        }
    }
    return 0;
}

/* The end of an inline code span that opens at `at`, or 0. */
static size_t inline_span(const struct scan *scan, size_t at)
{
    const char *from = scan->text.s + at + 1;
    size_t left = scan->text.len - at - 1;
    const char *line = memchr(from, '\n', left);
    const char *close;

    if (line) {
        left = (size_t)(line - from);
    }
    close = memchr(from, '`', left);
    return close ? (size_t)(close - scan->text.s) : 0;
}

static void scan_backtick(struct scan *scan, size_t at)
{
    if (scan->area & TOKEN_IN_FENCE) {
        return;
    }
    if (scan->inline_end == at && at > 0) {
        scan->inline_end = 0;
        scan->area &= (uint16_t)~TOKEN_IN_CODE;
        return;
    }
    scan->inline_end = inline_span(scan, at);
    if (scan->inline_end) {
        scan->area |= TOKEN_IN_CODE;
    }
}

static size_t scan_punct(struct scan *scan, size_t at)
{
    struct str text = scan->text;
    char c = text.s[at];
    size_t lead;
    size_t end = at + 1;

    lead = strchr("/.~@#", c) ? lead_len(scan, at) : 0;
    if (lead) {
        return scan_compound(scan, at, at + lead);
    }
    if (c == '`') {
        scan_backtick(scan, at);
    }
    while (end < text.len && text.s[end] == c && end - at < LIMIT_TOKEN_BYTES &&
           c != '(' && c != ')') {
        end++;
    }
    if (c == '`' && end - at > 1) {
        end = at + 1;
    }
    (void)scan_push(scan, at, end,
                    c == '%' && at > 0 &&
                            char_ascii[(unsigned char)text.s[at - 1] & 127] ==
                                CHAR_DIGIT
                        ? TOKEN_SYMBOL
                        : TOKEN_PUNCT,
                    0); /* is_full tells */
    return end;
}

/* At the first byte of a line: fences and quoted lines. Returns where to go on.
 */
static size_t start_line(struct scan *scan, size_t at)
{
    struct str text = scan->text;
    size_t i = at;
    size_t end;
    char c;

    scan->area &= (uint16_t)~TOKEN_IN_QUOTE;
    if (!(scan->area & TOKEN_IN_FENCE)) {
        scan->area &= (uint16_t)~TOKEN_IN_CODE;
    }
    scan->inline_end = 0;
    while (i < text.len && (text.s[i] == ' ' || text.s[i] == '\t')) {
        i++;
    }
    c = i < text.len ? text.s[i] : '\0';
    if (c == '>' && !(scan->area & TOKEN_IN_FENCE)) {
        scan->area |= TOKEN_IN_QUOTE;
        return at;
    }
    if ((c != '`' && c != '~') || i + 2 >= text.len || text.s[i + 1] != c ||
        text.s[i + 2] != c) {
        return at;
    }
    for (end = i; end < text.len && text.s[end] == c; end++) {
    }
    if (end - i > LIMIT_TOKEN_BYTES) {
        end = i + LIMIT_TOKEN_BYTES;
    }
    if (scan->area & TOKEN_IN_FENCE) {
        (void)scan_push(scan, i, end, TOKEN_PUNCT, 0); /* is_full tells */
        scan->area &= (uint16_t) ~(TOKEN_IN_FENCE | TOKEN_IN_CODE);
    } else {
        scan->area |= TOKEN_IN_FENCE | TOKEN_IN_CODE;
        (void)scan_push(scan, i, end, TOKEN_PUNCT, 0); /* is_full tells */
    }
    return end;
}

static size_t scan_newline(struct scan *scan, size_t at, uint32_t len)
{
    scan->pending |= TOKEN_AFTER_SPACE |
                     (scan->pending & TOKEN_AFTER_LINE ? TOKEN_AFTER_BLANK
                                                       : TOKEN_AFTER_LINE);
    return start_line(scan, at + len);
}

static size_t scan_currency(struct scan *scan, size_t at, uint32_t len)
{
    (void)scan_push(scan, at, at + len, TOKEN_SYMBOL, 0); /* is_full tells */
    return at + len;
}

static size_t scan_wide(struct scan *scan, size_t at)
{
    uint32_t c;
    uint32_t len;
    enum char_class class = char_at(scan->text, at, &c, &len);

    switch (class) {
    case CHAR_SPACE:
        scan->pending |= TOKEN_AFTER_SPACE;
        return at + len;
    case CHAR_NEWLINE:
        return scan_newline(scan, at, len);
    case CHAR_LOWER:
    case CHAR_UPPER:
    case CHAR_DIGIT:
        return scan_compound(scan, at, at);
    case CHAR_HAN:
    case CHAR_SEA:
    case CHAR_HANGUL:
        return scan_spaceless(scan, at, class);
    case CHAR_EMOJI:
        return scan_emoji(scan, at);
    case CHAR_CURRENCY:
        return scan_currency(scan, at, len);
    case CHAR_PUNCT:
        (void)scan_push(scan, at, at + len, TOKEN_PUNCT, 0); /* is_full */
        return at + len;
    case CHAR_MARK:
    case CHAR_IGNORE:
        return at + len;
    }
    return at + len;
}

static size_t scan_one(struct scan *scan, size_t at)
{
    unsigned char byte = (unsigned char)scan->text.s[at];
    size_t end;

    if (byte >= 0x80) {
        return scan_wide(scan, at);
    }
    switch ((enum char_class)char_ascii[byte]) {
    case CHAR_SPACE:
        scan->pending |= TOKEN_AFTER_SPACE;
        return at + 1;
    case CHAR_LOWER:
    case CHAR_UPPER:
    case CHAR_DIGIT:
        end = scan_plain(scan, at);
        return end ? end : scan_compound(scan, at, at);
    case CHAR_NEWLINE:
        return scan_newline(scan, at, 1);
    case CHAR_CURRENCY:
        return scan_currency(scan, at, 1);
    case CHAR_PUNCT:
        return scan_punct(scan, at);
    case CHAR_MARK:
    case CHAR_HAN:
    case CHAR_SEA:
    case CHAR_HANGUL:
    case CHAR_EMOJI:
    case CHAR_IGNORE:
        return at + 1;
    }
    return at + 1;
}

enum clew_status tokens_of(struct arena *arena, struct str text,
                           struct tokens *out)
{
    struct scan scan = {.arena = arena, .text = text};
    enum text_language language = TEXT_UNKNOWN;
    size_t at;

    if (text.len > UINT32_MAX) {
        return CLEW_TOO_LARGE;
    }
    scan.lower = lower_copy(arena, text);
    scan.cap = text.len / 4 + 8;
    if (scan.cap > 4096) {
        scan.cap = 4096;
    }
    scan.items = arena_alloc(arena, scan.cap * sizeof(*scan.items));
    if (!scan.lower || !scan.items) {
        return CLEW_NO_MEMORY;
    }
    at = text.len ? start_line(&scan, 0) : 0;
    while (at < text.len && !scan.is_full) {
        at = scan_one(&scan, at);
    }
    if (!scan.is_out_of_memory) {
        scan_settle_language(&scan, &language);
    }
    if (scan.is_out_of_memory) {
        return CLEW_NO_MEMORY;
    }
    out->items = scan.items;
    out->count = scan.count;
    out->end = at;
    out->language = language;
    sentence_mark(text, out);
    return CLEW_OK;
}
