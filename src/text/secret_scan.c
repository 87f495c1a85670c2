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

#include <pthread.h>
#include <string.h>

#define MAX_USERINFO 256
#define MAX_TOKEN 4096
#define MIN_BEARER 16
#define MIN_BASIC 12
#define MIN_JWT_PART 8
#define MAX_PEM_LINE 64
#define MIN_PEM_BODY 8
#define AWS_ID 20
#define AWS_SECRET 40
#define MAX_PAIR 160 /* bytes after the id */
#define THREES 8192

/* What may begin at a byte. */
enum begins {
    B_PREFIX = 1 << 0,
    B_LABEL = 1 << 1,
    B_TOKEN = 1 << 2, /* bearer, basic, a JSON web token */
    B_DIGIT = 1 << 3,
    B_DASH = 1 << 4,
    B_COLON = 1 << 5,
    B_PIPE = 1 << 6
};

static unsigned char begins[256];
/* Which two bytes begin a prefix or, in small letters, a label, and which three
 * may begin a label: most words are told from them here. */
static unsigned char pairs[256][256 / 8];
static unsigned char threes[THREES / 8];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_pair(unsigned char first, unsigned char second)
{
    pairs[first][second / 8] |= (unsigned char)(1u << second % 8);
}

static bool is_pair(unsigned char first, unsigned char second)
{
    return pairs[first][second / 8] >> second % 8 & 1;
}

static size_t three_of(unsigned char a, unsigned char b, unsigned char c)
{
    return ((size_t)a << 10 ^ (size_t)b << 5 ^ c) % THREES;
}

static void add_three(size_t three)
{
    threes[three / 8] |= (unsigned char)(1u << three % 8);
}

static void add_label(const unsigned char *text)
{
    if (text[2]) {
        add_three(three_of(text[0], text[1], text[2]));
    }
    for (size_t c = 0; c < 256 && !text[2]; c++) { /* "pw" */
        add_three(three_of(text[0], text[1], (unsigned char)c));
    }
}

static bool may_be_label(struct str text, size_t at)
{
    size_t three = three_of(
        secret_small((unsigned char)text.s[at]),
        secret_small((unsigned char)text.s[at + 1]),
        at + 2 < text.len ? secret_small((unsigned char)text.s[at + 2]) : 0);

    return threes[three / 8] >> three % 8 & 1;
}

static void make_tables(void)
{
    for (size_t i = 0; i < secret_n_prefixes; i++) {
        const char *text = secret_prefixes[i].text;

        begins[(unsigned char)text[0]] |= B_PREFIX;
        add_pair((unsigned char)text[0], (unsigned char)text[1]);
    }
    for (size_t i = 0; i < secret_n_labels; i++) {
        unsigned char first = (unsigned char)secret_labels[i].text[0];

        begins[first] |= B_LABEL;
        begins[secret_capital(first)] |= B_LABEL;
        add_pair(first, (unsigned char)secret_labels[i].text[1]);
        add_label((const unsigned char *)secret_labels[i].text);
    }
    for (size_t c = '0'; c <= '9'; c++) {
        begins[c] |= B_DIGIT;
    }
    begins['b'] |= B_TOKEN;
    begins['B'] |= B_TOKEN;
    begins['e'] |= B_TOKEN;
    begins['-'] |= B_DASH;
    begins[':'] |= B_COLON;
    begins['|'] |= B_PIPE;
    begins['<'] |= B_PIPE;
}

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

/* Does a word of its own begin at `at`? Inside of base64 none does; what base64
 * holds is a border for prefixes that it cannot hold. */
static bool is_border(struct str text, size_t at, const char *prefix)
{
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : ' ';

    if (secret_is_alnum(before)) {
        return secret_is_escaped(text, at);
    }
    return !(before && strchr("/+_-.", before)) ||
           strpbrk(prefix, "_-.") != NULL;
}

static bool has_prefix(struct str text, size_t at,
                       const struct secret_prefix *p, struct secret_span *out)
{
    size_t len = strlen(p->text);
    size_t end = at + len;
    bool has_digit = false;

    if (text.len - at < len + p->min ||
        memcmp(text.s + at, p->text, len) != 0 ||
        !is_border(text, at, p->text)) {
        return false;
    }
    while (end < text.len && is_rest(p->rest, (unsigned char)text.s[end])) {
        has_digit = has_digit || (text.s[end] >= '0' && text.s[end] <= '9');
        end++;
    }
    if (end - at - len < p->min || end - at - len > p->max || !has_digit ||
        (end < text.len && secret_is_alnum((unsigned char)text.s[end]))) {
        return false;
    }
    while (text.s[end - 1] == '.' || text.s[end - 1] == '-') {
        end--;
    }
    *out = (struct secret_span){at, end, SECRET_API_KEY};
    return true;
}

static bool prefix_at(struct str text, size_t at, struct secret_span *out)
{
    for (size_t i = 0; i < secret_n_prefixes; i++) {
        if (secret_prefixes[i].text[0] == text.s[at] &&
            has_prefix(text, at, &secret_prefixes[i], out)) {
            return true;
        }
    }
    return false;
}

/*
 * What AWS gives out beside the id that ends at `at`: 40 of base64, by
 * themselves, soon after it.
 */
static bool aws_pair(struct str text, size_t at, struct secret_span *out)
{
    size_t from = at;
    size_t limit = at + MAX_PAIR < text.len ? at + MAX_PAIR : text.len;

    if (at < AWS_ID || (memcmp(text.s + at - AWS_ID, "AKIA", 4) != 0 &&
                        memcmp(text.s + at - AWS_ID, "ASIA", 4) != 0)) {
        return false;
    }
    while (from < limit) {
        size_t end = from;
        bool has_digit = false;
        bool has_small = false;

        while (end < text.len && end < from + AWS_SECRET + 1 &&
               (secret_is_alnum((unsigned char)text.s[end]) ||
                text.s[end] == '/' || text.s[end] == '+')) {
            has_digit = has_digit || (text.s[end] >= '0' && text.s[end] <= '9');
            has_small = has_small || (text.s[end] >= 'a' && text.s[end] <= 'z');
            end++;
        }
        if (end - from == AWS_SECRET && has_digit && has_small) {
            *out = (struct secret_span){from, end, SECRET_API_KEY};
            return true;
        }
        from = end + 1;
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

/* Past the blanks after a scheme's name, also as addresses write them. */
static size_t skip_gap(struct str text, size_t at)
{
    size_t from = secret_skip_blanks(text, at);

    if (from == at && secret_starts(text, at, "%20")) {
        return at + 3;
    }
    return from > at ? from + secret_quote_at(text, from) : at;
}

static bool bearer_at(struct str text, size_t at, struct secret_span *out)
{
    bool is_bearer = secret_starts(text, at, "bearer");
    bool is_basic = !is_bearer && secret_starts(text, at, "basic");
    size_t head = at > 24 ? at - 24 : 0;
    size_t n_digits;
    size_t from;
    size_t end;

    if (!is_bearer &&
        !(is_basic && str_ifind(str_sub(text, head, at), STR("authorization"),
                                0) != SIZE_MAX)) {
        return false;
    }
    at += is_bearer ? 6 : 5;
    from = skip_gap(text, at);
    end = token_end(text, from, &n_digits);
    *out = (struct secret_span){from, end, SECRET_TOKEN};
    return from > at && end - from >= (is_bearer ? MIN_BEARER : MIN_BASIC) &&
           n_digits > 0;
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

/* --- the walk --- */

/*
 * Labels also begin after _ . -, in camelCase at a capital, after "\n", and
 * some inside of a word, like PGPASSWORD.
 */
static bool is_label_border(struct str text, size_t at)
{
    unsigned char c = (unsigned char)text.s[at];
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : ' ';

    return !secret_is_alnum(before) || c >= 0x80 ||
           (c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z') ||
           strchr("pwkstaPWKSTA", c) != NULL || secret_is_escaped(text, at);
}

static bool any_at(struct str text, size_t at, unsigned what,
                   struct secret_span *out)
{
    unsigned char first = (unsigned char)text.s[at];
    unsigned char second =
        at + 1 < text.len ? (unsigned char)text.s[at + 1] : 0;
    bool is_inside = at > 0 && is_word_byte((unsigned char)text.s[at - 1]) &&
                     !secret_is_escaped(text, at);

    if ((what & B_PREFIX) && is_pair(first, second) &&
        prefix_at(text, at, out)) {
        return true;
    }
    if ((what & B_LABEL) &&
        is_pair(secret_small(first), secret_small(second)) &&
        may_be_label(text, at) && is_label_border(text, at) &&
        secret_said(text, at, out)) {
        return true;
    }
    if ((what & B_TOKEN) && !is_inside &&
        (jwt_at(text, at, out) || bearer_at(text, at, out))) {
        return true;
    }
    return ((what & B_DIGIT) && secret_card(text, at, out)) ||
           ((what & B_DASH) &&
            (pem_at(text, at, out) || secret_option(text, at, out))) ||
           ((what & B_COLON) && address_at(text, at, out)) ||
           ((what & B_PIPE) && secret_piped(text, at, out));
}

bool secret_scan_find(struct str text, size_t at, struct secret_span *out)
{
    struct secret_span pair;
    bool has_pair = at <= text.len && aws_pair(text, at, &pair);
    size_t from = at;

    (void)pthread_once(&once, make_tables);
    for (; at < text.len; at++) {
        unsigned what = begins[(unsigned char)text.s[at]];

        if (has_pair && at == pair.from) {
            *out = pair;
            return true;
        }
        /* what is told before its label may have been found already */
        if (what && any_at(text, at, what, out) && out->from >= from) {
            return true;
        }
    }
    return false;
}

static bool star(char *text, const struct secret_span *span)
{
    bool is_changed = false;

    for (size_t i = span->from; i < span->to; i++) {
        if (text[i] != '\n' && text[i] != '\r' && text[i] != '*') {
            text[i] = '*';
            is_changed = true;
        }
    }
    return is_changed;
}

/* One walk, all spans starred, each after the next was found: one may show by
 * what stands before it. */
static size_t mask_once(char *text, size_t len)
{
    struct str view = {text, len};
    struct secret_span span;
    struct secret_span next;
    size_t count = 0;
    bool has_one = secret_scan_find(view, 0, &span);

    while (has_one) {
        has_one = secret_scan_find(view, span.to, &next);
        count += star(text, &span);
        span = next;
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
