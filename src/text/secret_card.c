/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_card.c - card numbers, however they are written.
 *
 * What a network gives out, in the groups cards are printed in, with a valid
 * checksum. One number in ten has that by chance: so no number is taken that
 * is called an order's, a parcel's or a telephone's.
 */
#include "text/secret_internal.h"

#include <string.h>

#define MIN_CARD 13
#define MAX_CARD 19
#define MAX_GROUPS 6
#define MAX_GAP 4     /* bytes between groups */
#define MAX_BEFORE 64 /* bytes before that may name the number */
#define MAX_BLANKS 7  /* and words */

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

/* The end of the last of `words` in the text; 0 if it has none. */
static size_t last_of(struct str text, const char *const *words)
{
    size_t last = 0;

    for (; *words; words++) {
        struct str word = str_of(*words);
        size_t at = str_ifind(text, word, 0);

        for (; at != SIZE_MAX; at = str_ifind(text, word, at + 1)) {
            last = at + word.len > last ? at + word.len : last;
        }
    }
    return last;
}

/* Is it called a number of something else, and no card's after that? */
static bool is_other(struct str text, size_t at)
{
    static const char *const others[] = {
        "order",      "track",     "invoice",    "ticket",      "imei",
        "serial",     "bestell",   "auftrag",    "rechnung",    "sendung",
        "pedido",     "commande",  "ordine",     "iccid",       "barcode",
        "ean",        "isbn",      "article",    "parcel",      "shipment",
        "suivi",      "colis",     "paket",      "factur",      "fattura",
        "booking",    "customer",  "kunden",     "reference",   "zamów",
        "заказ",      "订单",      "注文",       "运单",        "快递",
        "주문",       "sipariş",   "bestelling", "zending",     "upc",
        "sku",        "timestamp", "envío",      "seguimiento", "rastreio",
        "spedizione", NULL};
    static const char *const cards[] = {
        "card",  "visa",   "master", "amex",      "karte", "carte",  "tarjeta",
        "carta", "cartão", "kaart",  "карт",      "卡",    "カード", "카드",
        "kart",  "credit", "kredit", "paid with", NULL};
    struct str before =
        str_sub(text, at > MAX_BEFORE ? at - MAX_BEFORE : 0, at);
    size_t n_blanks = 0;
    size_t from = before.len;

    while (from > 0 && n_blanks < MAX_BLANKS && before.s[from - 1] != '\n') {
        from--;
        n_blanks += before.s[from] == ' ';
    }
    before = str_sub(before, from, before.len);
    from = last_of(before, others);
    return from > 0 && from > last_of(before, cards);
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

/* One blank, hyphen or dot of any kind at `at`; bytes, or 0. */
static size_t gap_at(struct str text, size_t at)
{
    static const char *const wide[] = {"\xC2\xA0", "\xE2\x80", "\xE3\x80\x80"};

    if (strchr(" \t-.\n\r", text.s[at]) && text.s[at]) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        if (secret_starts(text, at, wide[i])) {
            /* U+2000 to U+2015 and U+202F: spaces and dashes */
            unsigned char last =
                at + 2 < text.len ? (unsigned char)text.s[at + 2] : 0;

            return i != 1                         ? strlen(wide[i])
                   : last <= 0x95 || last == 0xAF ? 3
                                                  : 0;
        }
    }
    return 0;
}

/* Past the gap at `at`; SIZE_MAX if no digit follows, or more lines end. */
static size_t after_gap(struct str text, size_t at, size_t *n_lines)
{
    size_t from = at;

    while (at < text.len && at < from + MAX_GAP) {
        size_t len = gap_at(text, at);

        if (len == 0) {
            break;
        }
        *n_lines += text.s[at] == '\n';
        at += len;
    }
    return at > from && at < text.len && text.s[at] >= '0' &&
                   text.s[at] <= '9' && *n_lines <= 1
               ? at
               : SIZE_MAX;
}

static bool is_digit_at(struct str text, size_t at)
{
    return at < text.len && text.s[at] >= '0' && text.s[at] <= '9';
}

/* Not where a longer one goes on that is no card's. */
static bool ends_number(struct str text, size_t at)
{
    unsigned char c = at < text.len ? (unsigned char)text.s[at] : ' ';

    return !secret_is_alnum(c) && c != '_' &&
           !(c == '-' && at + 1 < text.len &&
             secret_is_alnum((unsigned char)text.s[at + 1]));
}

bool secret_card(struct str text, size_t at, struct secret_span *out)
{
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : ' ';
    char digits[MAX_CARD];
    size_t groups[MAX_GROUPS] = {0};
    size_t n_lines = 0;
    size_t end = 0;
    size_t n = 0;
    size_t i = at;

    if ((secret_is_alnum(before) && !secret_is_escaped(text, at)) ||
        strchr("_+./-", before)) {
        return false;
    }
    /* "4111 1111 1111 1111 12/29": the longest that is one counts */
    for (size_t g = 0; g < MAX_GROUPS && i != SIZE_MAX; g++) {
        for (; is_digit_at(text, i) && n < MAX_CARD; i++) {
            digits[n++] = text.s[i];
            groups[g]++;
        }
        if (is_digit_at(text, i)) {
            break;
        }
        if (n >= MIN_CARD && is_grouped(groups, g + 1) &&
            is_issued(digits, n) && is_luhn(digits, n) &&
            ends_number(text, i)) {
            end = i;
        }
        i = after_gap(text, i, &n_lines);
    }
    *out = (struct secret_span){at, end, SECRET_CARD};
    return end > 0 && !is_other(text, at);
}
