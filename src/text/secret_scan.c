/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_scan.c - one walk over the bytes of a text. See secret_scan.h.
 *
 * Only a byte that may begin something is looked at, and only where a word
 * begins: a run of base64 is one word, so nothing is found inside of it. Every
 * look is bounded, so that the walk takes linear time whatever the text is.
 */
#include "text/secret_scan.h"

#include "text/secret_internal.h"

#include <string.h>

#define MAX_USERINFO 256
#define MAX_TOKEN 4096
#define MIN_BEARER 16
#define MIN_BASIC 12
#define MIN_JWT_PART 8
#define MAX_CARD 19
#define MAX_PEM_LINE 64
#define MIN_PEM_BODY 8

/* What may begin at a byte. */
enum begins {
    B_PREFIX = 1 << 0,
    B_LABEL = 1 << 1,
    B_TOKEN = 1 << 2, /* bearer, basic, a JSON web token */
    B_DIGIT = 1 << 3,
    B_DASH = 1 << 4,
    B_COLON = 1 << 5
};

static const unsigned char begins[256] = {
    ['A'] = B_PREFIX | B_LABEL,
    ['G'] = B_PREFIX,
    ['S'] = B_PREFIX | B_LABEL,
    ['B'] = B_TOKEN,
    ['C'] = B_LABEL,
    ['H'] = B_LABEL,
    ['K'] = B_LABEL,
    ['L'] = B_LABEL,
    ['M'] = B_LABEL,
    ['P'] = B_LABEL,
    ['T'] = B_LABEL,
    ['W'] = B_LABEL,
    ['a'] = B_LABEL,
    ['b'] = B_TOKEN,
    ['c'] = B_PREFIX | B_LABEL,
    ['d'] = B_PREFIX,
    ['e'] = B_TOKEN,
    ['f'] = B_PREFIX,
    ['g'] = B_PREFIX,
    ['h'] = B_PREFIX | B_LABEL,
    ['k'] = B_PREFIX | B_LABEL,
    ['l'] = B_PREFIX | B_LABEL,
    ['m'] = B_LABEL,
    ['n'] = B_PREFIX,
    ['p'] = B_PREFIX | B_LABEL,
    ['r'] = B_PREFIX,
    ['s'] = B_PREFIX | B_LABEL,
    ['t'] = B_LABEL,
    ['w'] = B_PREFIX | B_LABEL,
    ['x'] = B_PREFIX,
    ['y'] = B_PREFIX,
    [0xC5] = B_LABEL,
    [0xD0] = B_LABEL,
    [0xE3] = B_LABEL,
    [0xE5] = B_LABEL,
    [0xE6] = B_LABEL,
    [0xEB] = B_LABEL,
    ['0'] = B_DIGIT,
    ['1'] = B_DIGIT,
    ['2'] = B_DIGIT,
    ['3'] = B_DIGIT,
    ['4'] = B_DIGIT,
    ['5'] = B_DIGIT,
    ['6'] = B_DIGIT,
    ['7'] = B_DIGIT,
    ['8'] = B_DIGIT,
    ['9'] = B_DIGIT,
    ['-'] = B_DASH,
    [':'] = B_COLON,
};

const char *secret_kind_name(enum secret_kind kind)
{
    switch (kind) {
    case SECRET_API_KEY:
        return "api_key";
    case SECRET_TOKEN:
        return "token";
    case SECRET_PASSWORD:
        return "password";
    case SECRET_PRIVATE_KEY:
        return "private_key";
    case SECRET_CARD:
        return "card";
    }
    return "";
}

static bool is_word_byte(unsigned char c)
{
    return secret_is_alnum(c) || c == '_' || c == '-';
}

/* --- keys by their prefixes --- */

static bool is_rest(enum secret_rest rest, unsigned char c)
{
    bool is_digit = c >= '0' && c <= '9';

    switch (rest) {
    case REST_ALNUM:
        return secret_is_alnum(c);
    case REST_UPPER:
        return is_digit || (c >= 'A' && c <= 'Z');
    case REST_HEX:
        return is_digit || (secret_small(c) >= 'a' && secret_small(c) <= 'f');
    case REST_WORD:
        return is_word_byte(c);
    case REST_DOTTED:
        return is_word_byte(c) || c == '.';
    }
    return false;
}

/* Does a word of its own begin at `at`? Inside of base64 none does; a slash is
 * a border for prefixes that base64 cannot hold. */
static bool is_border(struct str text, size_t at, const char *prefix)
{
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : ' ';

    if (before == '/') {
        return strpbrk(prefix, "_-.") != NULL;
    }
    return !is_word_byte(before) && before != '+' && before != '.';
}

static bool prefix_at(struct str text, size_t at, struct secret_span *out)
{
    for (size_t i = 0; i < secret_n_prefixes; i++) {
        const struct secret_prefix *p = &secret_prefixes[i];
        size_t len;
        size_t end;
        bool has_digit = false;

        if (p->text[0] != text.s[at]) {
            continue;
        }
        len = strlen(p->text);
        end = at + len;
        if (text.len - at < len + p->min ||
            memcmp(text.s + at, p->text, len) != 0 ||
            !is_border(text, at, p->text)) {
            continue;
        }
        while (end < text.len && is_rest(p->rest, (unsigned char)text.s[end])) {
            has_digit = has_digit || (text.s[end] >= '0' && text.s[end] <= '9');
            end++;
        }
        if (end - at - len < p->min || end - at - len > p->max || !has_digit ||
            (end < text.len && is_word_byte((unsigned char)text.s[end]))) {
            continue;
        }
        while (text.s[end - 1] == '.' || text.s[end - 1] == '-') {
            end--;
        }
        *out = (struct secret_span){at, end, SECRET_API_KEY};
        return true;
    }
    return false;
}

/* --- tokens --- */

/* The run of what a token holds, from `at`; its digits. */
static size_t token_end(struct str text, size_t at, size_t *out_digits)
{
    size_t end = at;

    *out_digits = 0;
    while (end < text.len && end < at + MAX_TOKEN) {
        unsigned char c = (unsigned char)text.s[end];

        if (!is_word_byte(c) && (!strchr("._~+/=", c) || !c)) {
            break;
        }
        *out_digits += c >= '0' && c <= '9';
        end++;
    }
    while (end > at && text.s[end - 1] == '.') {
        end--;
    }
    return end;
}

/* "eyJ….eyJ….…": at least three parts. */
static bool jwt_at(struct str text, size_t at, struct secret_span *out)
{
    size_t n_digits;
    size_t end;
    size_t part = 0;
    size_t n_parts = 0;

    if (!is_border(text, at, "eyJ") || text.len - at < 3 ||
        memcmp(text.s + at, "eyJ", 3) != 0) {
        return false;
    }
    end = token_end(text, at, &n_digits);
    for (size_t i = at; i < end; i++) {
        if (text.s[i] == '.') {
            n_parts += part >= MIN_JWT_PART;
            part = 0;
        } else {
            part++;
        }
    }
    n_parts += part >= MIN_JWT_PART;
    *out = (struct secret_span){at, end, SECRET_TOKEN};
    return n_parts >= 3;
}

static bool bearer_at(struct str text, size_t at, struct secret_span *out)
{
    bool is_bearer = secret_starts(text, at, "bearer ");
    bool is_basic = !is_bearer && secret_starts(text, at, "basic ");
    size_t from = at + (is_bearer ? 7 : 6);
    size_t head = at > 24 ? at - 24 : 0;
    size_t n_digits;
    size_t end;

    if (!is_bearer &&
        !(is_basic && str_ifind(str_sub(text, head, at), STR("authorization"),
                                0) != SIZE_MAX)) {
        return false;
    }
    end = token_end(text, from, &n_digits);
    *out = (struct secret_span){from, end, SECRET_TOKEN};
    return end - from >= (is_bearer ? MIN_BEARER : MIN_BASIC) && n_digits > 0;
}

/* --- private keys --- */

static bool has_body(struct str body)
{
    size_t n = 0;

    for (size_t i = 0; i < body.len && n < MIN_PEM_BODY; i++) {
        n += secret_is_alnum((unsigned char)body.s[i]);
    }
    return n >= MIN_PEM_BODY;
}

static bool pem_at(struct str text, size_t at, struct secret_span *out)
{
    struct str head = str_sub(text, at, at + MAX_PEM_LINE);
    size_t name;
    size_t from;
    size_t end;

    if (!str_starts(head, STR("-----BEGIN "))) {
        return false;
    }
    name = str_find(head, STR("PRIVATE KEY"), 0);
    from = name == SIZE_MAX ? SIZE_MAX : str_find(head, STR("-----"), name);
    if (from == SIZE_MAX) {
        return false;
    }
    from += at + 5;
    end = str_find(text, STR("-----END"), from);
    end = end == SIZE_MAX ? text.len : end;
    *out = (struct secret_span){from, end, SECRET_PRIVATE_KEY};
    return has_body(str_sub(text, from, end));
}

/* --- passwords in addresses --- */

/* "://user:password@": `at` is the colon. */
static bool address_at(struct str text, size_t at, struct secret_span *out)
{
    size_t from = at + 3;
    size_t colon = SIZE_MAX;
    size_t end = SIZE_MAX;

    if (text.len - at < 6 || text.s[at + 1] != '/' || text.s[at + 2] != '/') {
        return false;
    }
    for (size_t i = from; i < text.len && i < from + MAX_USERINFO; i++) {
        unsigned char c = (unsigned char)text.s[i];

        if (c <= ' ' || strchr("/?#\"'<>`", c)) {
            break;
        }
        if (c == ':' && colon == SIZE_MAX) {
            colon = i;
        }
        if (c == '@') {
            end = i; /* the last one: a password may hold an @ */
        }
    }
    if (end == SIZE_MAX || colon == SIZE_MAX || end <= colon + 1 ||
        strchr("$<{%", text.s[colon + 1])) {
        return false;
    }
    *out = (struct secret_span){colon + 1, end, SECRET_PASSWORD};
    for (size_t i = colon + 1; i < end; i++) {
        if (text.s[i] != '*') {
            return true;
        }
    }
    return false;
}

/* --- cards --- */

static bool is_luhn(const char *digits, size_t n)
{
    int sum = 0;

    for (size_t i = 0; i < n; i++) {
        int d = digits[n - 1 - i] - '0';

        d = i % 2 ? d * 2 : d;
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10 == 0;
}

/* Does a network give out numbers that begin so and are so long? */
static bool is_issued(const char *digits, size_t n)
{
    int two = (digits[0] - '0') * 10 + digits[1] - '0';
    int four = two * 100 + (digits[2] - '0') * 10 + digits[3] - '0';

    if (digits[0] == '4') {
        return n == 16 || n == 13 || n == 19;
    }
    if (two == 34 || two == 37) {
        return n == 15;
    }
    if (two == 36 || two == 38 || (four >= 3000 && four <= 3059)) {
        return n == 14;
    }
    return n == 16 &&
           ((two >= 51 && two <= 55) || four == 6011 || two == 65 ||
            two == 62 || (four >= 2221 && four <= 2720) ||
            (four >= 6440 && four <= 6499) || (four >= 3528 && four <= 3589));
}

/* Is a number of something else named in the two words before? */
static bool is_ordered(struct str text, size_t at)
{
    static const char *const words[] = {
        "order",   "tracking", "invoice",  "ticket",  "imei",   "serial",
        "bestell", "auftrag",  "rechnung", "sendung", "pedido", "commande",
        "ordine",  "iccid",    "barcode",  "ean",     "isbn",   "article"};
    struct str before = str_sub(text, at > 32 ? at - 32 : 0, at);
    size_t n_spaces = 0;
    size_t from = before.len;

    while (from > 0 && n_spaces < 3) {
        from--;
        n_spaces += before.s[from] == ' ';
        if (before.s[from] == '\n') {
            break;
        }
    }
    before = str_sub(before, from, before.len);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_ifind(before, str_of(words[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* As cards are printed: all together, or 4-4-4-4, 4-6-5, 4-6-4, 4-4-4-4-3. */
static bool is_grouped(const size_t *groups, size_t n)
{
    if (n == 1) {
        return true;
    }
    if (groups[0] != 4) {
        return false;
    }
    if (n == 3) {
        return groups[1] == 6 && (groups[2] == 5 || groups[2] == 4);
    }
    return n >= 4 && groups[1] == 4 && groups[2] == 4 &&
           (groups[3] == 4 || n == 4);
}

static bool card_at(struct str text, size_t at, struct secret_span *out)
{
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : ' ';
    char digits[MAX_CARD];
    size_t groups[6] = {0};
    size_t n = 0;
    size_t n_groups = 1;
    size_t i = at;
    char gap = '\0';

    if (is_word_byte(before) || strchr("+./", before)) {
        return false;
    }
    for (; i < text.len; i++) {
        char c = text.s[i];

        if (c >= '0' && c <= '9') {
            if (n == MAX_CARD) {
                return false;
            }
            digits[n++] = c;
            groups[n_groups - 1]++;
        } else if ((c == ' ' || c == '-') && (gap == '\0' || gap == c) &&
                   n_groups < 6 && i + 1 < text.len && text.s[i + 1] >= '0' &&
                   text.s[i + 1] <= '9') {
            gap = c;
            n_groups++;
        } else {
            break;
        }
    }
    *out = (struct secret_span){at, i, SECRET_CARD};
    return n >= 13 && is_grouped(groups, n_groups) && is_issued(digits, n) &&
           is_luhn(digits, n) &&
           !(i < text.len && is_word_byte((unsigned char)text.s[i])) &&
           !is_ordered(text, at);
}

/* --- the walk --- */

/* Labels also begin after _ . - and, in camelCase, at a capital. */
static bool is_label_border(struct str text, size_t at)
{
    unsigned char c = (unsigned char)text.s[at];
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : ' ';

    return !secret_is_alnum(before) || c >= 0x80 ||
           (c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z');
}

static bool any_at(struct str text, size_t at, unsigned what,
                   struct secret_span *out)
{
    bool is_inside = at > 0 && is_word_byte((unsigned char)text.s[at - 1]);

    if ((what & B_PREFIX) && !is_inside && prefix_at(text, at, out)) {
        return true;
    }
    if ((what & B_LABEL) && is_label_border(text, at) &&
        secret_said(text, at, out)) {
        return true;
    }
    if ((what & B_TOKEN) && !is_inside &&
        (jwt_at(text, at, out) || bearer_at(text, at, out))) {
        return true;
    }
    return ((what & B_DIGIT) && card_at(text, at, out)) ||
           ((what & B_DASH) && pem_at(text, at, out)) ||
           ((what & B_COLON) && address_at(text, at, out));
}

bool secret_scan_find(struct str text, size_t at, struct secret_span *out)
{
    for (; at < text.len; at++) {
        unsigned what = begins[(unsigned char)text.s[at]];

        if (what && any_at(text, at, what, out)) {
            return true;
        }
    }
    return false;
}

/* One walk, all spans starred. */
static size_t mask_once(char *text, size_t len)
{
    struct str view = {text, len};
    struct secret_span span;
    size_t count = 0;
    size_t at = 0;

    while (secret_scan_find(view, at, &span)) {
        bool is_changed = false;

        for (size_t i = span.from; i < span.to; i++) {
            if (text[i] != '\n' && text[i] != '\r' && text[i] != '*') {
                text[i] = '*';
                is_changed = true;
            }
        }
        at = span.to;
        count += is_changed;
    }
    return count;
}

size_t secret_scan_mask(char *text, size_t len)
{
    size_t count = mask_once(text, len);
    size_t more = count;

    /* what stood behind a value may read as one now: rare, and soon over */
    while (more > 0) {
        more = mask_once(text, len);
    }
    return count;
}
