/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compound.c - tokens that are more than a plain word: contractions, numbers,
 * identifiers, paths, versions, e-mails, URLs; whole first, then their parts.
 *
 * A run goes on over a joining character ("." in node.js) only if what
 * follows is a word character again, so trailing punctuation stays outside.
 */
#include "text/token_internal.h"

#include "base/limits.h"

#include <string.h>

/* ---- how far a run goes ---- */

static enum char_class class_at(const struct scan *scan, size_t at, uint32_t *c,
                                uint32_t *len)
{
    if (at >= scan->text.len) {
        *c = ' ';
        *len = 0;
        return CHAR_SPACE;
    }
    return char_at(scan->text, at, c, len);
}

static bool word_at(const struct scan *scan, size_t at)
{
    uint32_t c;
    uint32_t len;

    return char_is_word(class_at(scan, at, &c, &len));
}

static bool digit_at(const struct scan *scan, size_t at)
{
    return at < scan->text.len && scan->text.s[at] >= '0' &&
           scan->text.s[at] <= '9';
}

static bool upper_at(const struct scan *scan, size_t at)
{
    return at < scan->text.len && scan->text.s[at] >= 'A' &&
           scan->text.s[at] <= 'Z';
}

static bool lower_at(const struct scan *scan, size_t at)
{
    return at < scan->text.len && scan->text.s[at] >= 'a' &&
           scan->text.s[at] <= 'z';
}

/* French and Italian articles are words of their own: l'homme, dell'arte. */
static bool is_elision(const struct scan *scan, const struct extent *extent,
                       size_t at, uint32_t len)
{
    static const char *const articles[] = {"l",    "d",    "j",   "m",   "t",
                                           "s",    "n",    "c",   "qu",  "un",
                                           "dell", "nell", "all", "sull"};
    struct str head = {scan->lower + extent->from, at - extent->from};
    uint32_t c;
    uint32_t step;
    size_t tail = at + len;
    size_t n = 0;

    while (n < 3 && char_is_letter(class_at(scan, tail, &c, &step))) {
        tail += step;
        n++;
    }
    if (n < 3) {
        return false;
    }
    for (size_t i = 0; i < sizeof(articles) / sizeof(articles[0]); i++) {
        if (str_eq(head, str_of(articles[i]))) {
            return true;
        }
    }
    return false;
}

static uint32_t join_apostrophe(const struct scan *scan, struct extent *extent,
                                size_t at, uint32_t len)
{
    uint32_t c;
    uint32_t next_len;

    if (extent->letters == 0 || extent->digits || extent->others ||
        !char_is_letter(class_at(scan, at + len, &c, &next_len)) ||
        is_elision(scan, extent, at, len)) {
        return 0;
    }
    extent->apostrophes++;
    return len;
}

/* "done.Next" is two sentences; "node.js", "Foo.Bar" and "3.5" are one token.
 */
static uint32_t join_dot(const struct scan *scan, struct extent *extent,
                         size_t at)
{
    bool is_plain = extent->digits == 0 && extent->dots == 0 &&
                    extent->slashes == 0 && extent->others == 0 &&
                    extent->uppers <= extent->starts_upper;

    if (!word_at(scan, at + 1)) {
        return 0;
    }
    if (is_plain && extent->letters >= 2 && lower_at(scan, at - 1) &&
        upper_at(scan, at + 1) && !extent->starts_upper) {
        return 0;
    }
    /* a name or first word of a sentence, then a capital and a small letter */
    if (is_plain && extent->letters >= 2 && extent->starts_upper &&
        (scan->pending & TOKEN_AFTER_SPACE) && upper_at(scan, at + 1) &&
        !lower_at(scan, at + 2)) {
        return 0;
    }
    extent->dots++;
    return 1;
}

static uint32_t join_colon(const struct scan *scan, struct extent *extent,
                           size_t at)
{
    if (digit_at(scan, at - 1) && digit_at(scan, at + 1)) {
        extent->colons++;
        return 1;
    }
    if (at + 2 < scan->text.len && scan->text.s[at + 1] == ':' &&
        word_at(scan, at + 2)) {
        extent->others++;
        return 2;
    }
    if (at + 1 < scan->text.len && scan->text.s[at + 1] == '\\' &&
        extent->letters == 1 && word_at(scan, at + 2)) {
        extent->slashes++;
        return 2;
    }
    if (extent->letters >= 2 && digit_at(scan, at + 1) &&
        digit_at(scan, at + 2) && !upper_at(scan, extent->from)) {
        extent->colons++;
        return 1;
    }
    return 0;
}

/* A comma between digits joins if three digits follow: 1,000 but not 1,2. */
static uint32_t join_comma(const struct scan *scan, struct extent *extent,
                           size_t at)
{
    if (extent->letters || extent->dots || extent->dashes ||
        !digit_at(scan, at - 1) || !digit_at(scan, at + 1) ||
        !digit_at(scan, at + 2) || !digit_at(scan, at + 3) ||
        digit_at(scan, at + 4) ||
        (extent->commas == 0 && at - extent->from > 3)) {
        return 0;
    }
    extent->commas++;
    return 1;
}

static uint32_t join(const struct scan *scan, struct extent *extent, size_t at,
                     uint32_t c, uint32_t len)
{
    bool goes_on = word_at(scan, at + len);

    if (char_is_apostrophe(c)) {
        return join_apostrophe(scan, extent, at, len);
    }
    switch (c) {
    case '.':
        return join_dot(scan, extent, at);
    case ':':
        return join_colon(scan, extent, at);
    case ',':
        return join_comma(scan, extent, at);
    case '-':
    case 0x2010:
    case 0x2011:
        extent->dashes += goes_on;
        return goes_on ? len : 0;
    case '/':
    case '\\':
        goes_on =
            goes_on ||
            (at + 1 < scan->text.len &&
             (scan->text.s[at + 1] == '.' || scan->text.s[at + 1] == '_') &&
             word_at(scan, at + 2));
        extent->slashes += goes_on;
        return goes_on ? 1 : 0;
    case '@':
        extent->others += goes_on;
        return goes_on ? 1 : 0;
    case '&':
        goes_on = upper_at(scan, at - 1) && upper_at(scan, at + 1);
        extent->others += goes_on;
        return goes_on ? 1 : 0;
    case '_':
        extent->others++;
        return 1;
    default:
        return 0;
    }
}

static void note_char(struct extent *extent, enum char_class class,
                      enum char_class before)
{
    if (class == CHAR_DIGIT) {
        extent->digits++;
    } else if (class != CHAR_MARK) {
        extent->letters++;
        if (class == CHAR_UPPER) {
            extent->uppers++;
            extent->is_camel |= before == CHAR_LOWER;
        }
    }
}

static void measure(const struct scan *scan, struct extent *extent)
{
    enum char_class before = CHAR_SPACE;
    size_t at = extent->body;

    while (at - extent->from < LIMIT_TOKEN_BYTES) {
        uint32_t c;
        uint32_t len;
        enum char_class class = class_at(scan, at, &c, &len);

        if (char_is_word(class)) {
            if (at == extent->body) {
                extent->starts_upper = class == CHAR_UPPER;
                extent->starts_lower = class == CHAR_LOWER;
            }
            note_char(extent, class, before);
            extent->has_wide |= c >= 0x80;
        } else if (class == CHAR_IGNORE && len > 1 && word_at(scan, at + len) &&
                   c != 0xfffd) {
            extent->has_wide = true; /* soft hyphen, joiners: dropped later */
        } else {
            len = join(scan, extent, at, c, len);
            if (len == 0) {
                break;
            }
            extent->has_wide |= c >= 0x80;
        }
        before = class;
        at += len;
    }
    if (at - extent->from > LIMIT_TOKEN_BYTES) {
        at = extent->from + LIMIT_TOKEN_BYTES;
        while ((scan->text.s[at] & 0xc0) == 0x80) {
            at--;
        }
    }
    while (at > extent->body + 1 && scan->text.s[at - 1] == '_') {
        at--;
    }
    extent->to = at;
}

/* "C++", "C#", and the last full stop of "U.S." belong to the token. */
static void take_suffix(const struct scan *scan, struct extent *extent)
{
    struct str text = scan->text;
    size_t at = extent->to;
    size_t len = extent->to - extent->from;

    if (at + 1 < text.len && text.s[at] == '+' && text.s[at + 1] == '+' &&
        extent->letters && !word_at(scan, at + 2)) {
        extent->others++;
        extent->to = at + 2;
    } else if (at < text.len && text.s[at] == '#' && len == 1 &&
               extent->uppers == 1 && !word_at(scan, at + 1)) {
        extent->others++;
        extent->to = at + 1;
    } else if (at < text.len && text.s[at] == '.' && extent->dots &&
               extent->digits == 0 && extent->letters == extent->dots + 1 &&
               len == (size_t)extent->letters * 2 - 1) {
        extent->to = at + 1;
    }
}

/* ---- what it is ---- */

/* "U.S.", "e.g.", "p.m": one letter, dot, one letter ... */
static bool is_acronym(const struct extent *extent)
{
    size_t len = extent->to - extent->from;

    return extent->dots && extent->digits == 0 && !extent->has_wide &&
           extent->letters == extent->dots + 1 && extent->others == 0 &&
           (len == (size_t)extent->letters * 2 - 1 ||
            len == (size_t)extent->letters * 2);
}

static uint16_t kind_of(const struct extent *extent)
{
    bool is_joined = extent->dots || extent->slashes || extent->colons ||
                     extent->others || extent->body != extent->from;

    if (extent->letters == 0) {
        return extent->dashes || extent->slashes || extent->others ||
                       extent->dots > 1 || extent->body != extent->from
                   ? TOKEN_CODE
                   : TOKEN_NUMBER;
    }
    if (is_acronym(extent)) {
        return TOKEN_WORD;
    }
    return is_joined || extent->digits || extent->is_camel ? TOKEN_CODE
                                                           : TOKEN_WORD;
}

/* `folded` without the bytes `drop`. */
static void drop_char(struct scan *scan, struct token *token, char drop)
{
    char *copy = arena_alloc(scan->arena, token->folded.len + 1);
    size_t len = 0;

    if (!copy) {
        scan->is_full = true;
        scan->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < token->folded.len; i++) {
        if (token->folded.s[i] != drop) {
            copy[len++] = token->folded.s[i];
        }
    }
    token->folded = (struct str){copy, len};
    token->stem = token->folded;
}

/* ---- its parts ---- */

struct parts {
    struct scan *scan;
    struct str text;
    size_t n;
    bool skips_single; /* pieces of one letter say nothing */
};

static bool is_separator(unsigned char c)
{
    return c < 0x80 && char_ascii[c] == CHAR_PUNCT;
}

static void push_part(struct parts *parts, size_t from, size_t to)
{
    struct scan *scan = parts->scan;
    struct extent extent = {.from = from, .to = to, .body = from};
    enum char_class before = CHAR_SPACE;

    if (parts->n >= LIMIT_TOKEN_PARTS || from >= to) {
        return;
    }
    for (size_t at = from; at < to;) {
        uint32_t c;
        uint32_t len;
        enum char_class class = class_at(scan, at, &c, &len);

        if (char_is_word(class)) {
            note_char(&extent, class, before);
        }
        if (at == from) {
            extent.starts_upper = class == CHAR_UPPER;
            extent.starts_lower = class == CHAR_LOWER;
        }
        extent.has_wide |= c >= 0x80;
        before = class;
        at += len;
    }
    if (parts->skips_single && extent.letters == 1 && extent.digits == 0) {
        return;
    }
    parts->n++;
    (void)scan_push_run(scan, &extent,
                        extent.letters == 0 ? TOKEN_NUMBER
                        : extent.digits     ? TOKEN_CODE
                                            : TOKEN_WORD,
                        TOKEN_PART); /* is_full tells */
}

/* The end of the piece of an identifier that begins at `at`. */
static size_t piece_end(const struct scan *scan, size_t at, size_t to)
{
    uint32_t c;
    uint32_t len;
    enum char_class first = class_at(scan, at, &c, &len);
    enum char_class before = first;

    at += len;
    while (at < to) {
        enum char_class class = class_at(scan, at, &c, &len);
        uint32_t next_c;
        uint32_t next_len;

        if ((class == CHAR_DIGIT) != (before == CHAR_DIGIT)) {
            break;
        }
        if (class == CHAR_UPPER && before == CHAR_LOWER) {
            break;
        }
        /* HTTPServer: the last capital begins the next word */
        if (class == CHAR_UPPER && before == CHAR_UPPER && at + len < to &&
            class_at(scan, at + len, &next_c, &next_len) == CHAR_LOWER) {
            break;
        }
        before = class == CHAR_MARK ? before : class;
        at += len;
    }
    return at;
}

static void push_pieces(struct parts *parts, size_t from, size_t to)
{
    size_t at = piece_end(parts->scan, from, to);

    if (at >= to) {
        return; /* one piece: the part itself */
    }
    parts->skips_single = true;
    push_part(parts, from, at);
    while (at < to) {
        size_t end = piece_end(parts->scan, at, to);

        push_part(parts, at, end);
        at = end;
    }
    parts->skips_single = false;
}

static void push_parts(struct scan *scan, size_t from, size_t to,
                       bool splits_pieces)
{
    struct parts parts = {.scan = scan, .text = scan->text};
    bool is_one = true;
    size_t at = from;

    for (size_t i = from; i < to; i++) {
        is_one = is_one && !is_separator((unsigned char)scan->text.s[i]);
    }
    while (at < to) {
        size_t end = at;

        while (end < to && !is_separator((unsigned char)scan->text.s[end])) {
            end++;
        }
        if (end > at) {
            if (!is_one) {
                push_part(&parts, at, end);
            }
            if (splits_pieces) {
                push_pieces(&parts, at, end);
            }
        }
        at = end + 1;
    }
}

/* 1.2.3, v2.0.1: not "1", "2", "3" but the first two numbers together. */
static bool push_version_part(struct scan *scan, const struct extent *extent)
{
    size_t at = extent->from;
    size_t dots = 0;
    size_t from;

    if (extent->dots < 1 || extent->dashes || extent->slashes ||
        extent->others || extent->letters > 1 ||
        (extent->letters == 1 && scan->lower[at] != 'v') ||
        (extent->letters == 0 && extent->dots < 2)) {
        return false;
    }
    at += extent->letters;
    from = at;
    while (at < extent->to && (scan->text.s[at] != '.' || ++dots < 2)) {
        at++;
    }
    if (from > extent->from || at < extent->to) {
        struct parts parts = {.scan = scan, .text = scan->text};

        push_part(&parts, from, at);
    }
    return true;
}

/* 20th, 1st: the number is a part, the ending is not. */
static bool push_ordinal_part(struct scan *scan, const struct extent *extent)
{
    const char *tail = scan->lower + extent->to - 2;

    if (extent->letters != 2 || extent->digits == 0 || extent->dots ||
        extent->dashes || extent->slashes || extent->others ||
        extent->starts_upper || extent->starts_lower ||
        (memcmp(tail, "th", 2) != 0 && memcmp(tail, "st", 2) != 0 &&
         memcmp(tail, "nd", 2) != 0 && memcmp(tail, "rd", 2) != 0)) {
        return false;
    }
    push_part(&(struct parts){.scan = scan, .text = scan->text}, extent->from,
              extent->to - 2);
    return true;
}

static void push_whole(struct scan *scan, const struct extent *extent)
{
    uint16_t kind = kind_of(extent);
    struct token *token = scan_push_run(scan, extent, kind, 0);

    if (!token) {
        return;
    }
    if (kind == TOKEN_NUMBER && extent->commas) {
        drop_char(scan, token, ',');
    } else if (kind == TOKEN_WORD && extent->dots) {
        drop_char(scan, token, '.');
    } else if (kind == TOKEN_WORD && extent->dashes) {
        push_parts(scan, extent->body, extent->to, false);
    } else if (kind == TOKEN_CODE && !push_version_part(scan, extent) &&
               !push_ordinal_part(scan, extent)) {
        push_parts(scan, extent->body, extent->to, true);
    }
}

/* A URL with its scheme, or from "www."; returns its end. */
static size_t scan_url(struct scan *scan, size_t from)
{
    struct str text = scan->text;
    struct extent extent = {.from = from, .body = from, .starts_lower = true};
    size_t at = from;
    size_t parts_from;
    size_t open = 0;

    while (at < text.len && at - from < LIMIT_TOKEN_BYTES) {
        unsigned char c = (unsigned char)text.s[at];

        if (c <= ' ' || c == 0x7f || strchr("<>\"`|{}\\^", c)) {
            break;
        }
        if (c >= 0x80) {
            uint32_t wide;
            uint32_t len;

            if (!char_is_word(char_at(text, at, &wide, &len))) {
                break;
            }
            extent.has_wide = true;
            at += len;
            continue;
        }
        open += c == '(';
        if (c == ')') {
            if (open == 0) {
                break;
            }
            open--;
        }
        at++;
    }
    while (at > from && strchr(".,;:!?'*_]", text.s[at - 1])) {
        at--;
    }
    extent.to = at;
    extent.others = 1;
    parts_from = str_find(str_sub(text, 0, at), STR("://"), from);
    parts_from = parts_from == SIZE_MAX ? from : parts_from + 3;
    if (scan_push_run(scan, &extent, TOKEN_CODE, 0)) {
        push_parts(scan, parts_from, at, true);
    }
    return at;
}

size_t scan_compound(struct scan *scan, size_t from, size_t body)
{
    struct extent extent = {.from = from, .body = body};
    struct str rest = str_sub(scan->text, from, scan->text.len);

    measure(scan, &extent);
    if (str_starts(str_sub(scan->text, extent.to, scan->text.len),
                   STR("://")) ||
        (extent.dots && str_istarts(rest, STR("www.")))) {
        size_t end = scan_url(scan, from);

        if (end > from) {
            return end;
        }
    }
    take_suffix(scan, &extent);
    if (extent.to <= extent.from) {
        return from + 1;
    }
    push_whole(scan, &extent);
    return extent.to;
}
