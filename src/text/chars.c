/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chars.c - character classes. See chars.h.
 */
#include "text/chars.h"

#include <utf8proc.h>

#define SP CHAR_SPACE
#define LF CHAR_NEWLINE
#define IG CHAR_IGNORE
#define PU CHAR_PUNCT
#define DI CHAR_DIGIT
#define UP CHAR_UPPER
#define LO CHAR_LOWER
#define CU CHAR_CURRENCY

const uint8_t char_ascii[128] = {
    IG, IG, IG, IG, IG, IG, IG, IG, IG, SP, LF, SP, SP, SP, IG, IG, IG, IG, IG,
    IG, IG, IG, IG, IG, IG, IG, IG, IG, IG, IG, IG, IG, SP, PU, PU, PU, CU, PU,
    PU, PU, PU, PU, PU, PU, PU, PU, PU, PU, DI, DI, DI, DI, DI, DI, DI, DI, DI,
    DI, PU, PU, PU, PU, PU, PU, PU, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP,
    UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, PU, PU, PU, PU,
    PU, PU, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO,
    LO, LO, LO, LO, LO, LO, LO, LO, LO, PU, PU, PU, PU, IG,
};

uint32_t char_decode(struct str text, size_t at, uint32_t *out_len)
{
    utf8proc_int32_t c;
    size_t left = text.len - at;
    utf8proc_ssize_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)text.s + at,
                         left > 4 ? 4 : (utf8proc_ssize_t)left, &c);

    if (n <= 0 || c < 0) {
        *out_len = 1;
        return 0xfffd;
    }
    *out_len = (uint32_t)n;
    return (uint32_t)c;
}

static bool in(uint32_t c, uint32_t from, uint32_t to)
{
    return c >= from && c <= to;
}

static bool is_spaceless(uint32_t c)
{
    return in(c, 0x0e00, 0x0eff) || in(c, 0x1000, 0x109f) ||
           in(c, 0x1780, 0x17ff);
}

static bool is_han(uint32_t c)
{
    return in(c, 0x3400, 0x9fff) || in(c, 0x3041, 0x30ff) || c == 0x3005 ||
           c == 0x3007 || in(c, 0x31f0, 0x31ff) || in(c, 0xf900, 0xfaff) ||
           in(c, 0xff66, 0xff9f) || in(c, 0x20000, 0x3fffd);
}

static bool is_emoji(uint32_t c)
{
    return in(c, 0x1f000, 0x1faff) || in(c, 0x2600, 0x27bf) ||
           in(c, 0x2b00, 0x2bff) || in(c, 0x231a, 0x23ff);
}

static enum char_class by_category(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return CHAR_UPPER;
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return CHAR_LOWER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return CHAR_MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return CHAR_DIGIT;
    case UTF8PROC_CATEGORY_SC:
        return CHAR_CURRENCY;
    case UTF8PROC_CATEGORY_ZS:
        return CHAR_SPACE;
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return CHAR_NEWLINE;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
        return CHAR_PUNCT;
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
        return CHAR_IGNORE;
    }
    return CHAR_IGNORE;
}

enum char_class char_class_of(uint32_t c)
{
    enum char_class class;

    if (c == 0x0085) {
        return CHAR_NEWLINE;
    }
    if (c < 0x0e00 || c == 0xfffd) {
        return c == 0xfffd ? CHAR_IGNORE : by_category(c);
    }
    if (in(c, 0xac00, 0xd7a3) || in(c, 0x1100, 0x11ff)) {
        return CHAR_HANGUL;
    }
    if (is_emoji(c)) {
        return CHAR_EMOJI;
    }
    class = by_category(c);
    if (is_han(c) &&
        (class == CHAR_LOWER || class == CHAR_MARK || class == CHAR_DIGIT)) {
        return CHAR_HAN;
    }
    if (is_spaceless(c) && (class == CHAR_LOWER || class == CHAR_MARK)) {
        return CHAR_SEA;
    }
    return class;
}
