/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_numbers.c - numbers and codes as parts of dates: 15:30, 3pm, 2024-03-01,
 * 14th, 5-7, 90s. See dates_internal.h.
 */
#include "text/date/dates_internal.h"

#include <string.h>

/* Up to `max` leading digits; their number. */
static size_t digits_at(struct str text, size_t at, size_t max, int64_t *out)
{
    size_t n = 0;

    *out = 0;
    while (n < max && at + n < text.len && text.s[at + n] >= '0' &&
           text.s[at + n] <= '9') {
        *out = *out * 10 + (text.s[at + n] - '0');
        n++;
    }
    return n;
}

/* 15:30, 3:30pm, 3pm, 15:30:10, 15h is not one. */
static bool read_time(struct str text, struct date_item *item)
{
    int64_t hour;
    int64_t minute = 0;
    int64_t second;
    size_t at = digits_at(text, 0, 2, &hour);
    int64_t length = 60;
    struct str tail;

    if (at == 0) {
        return false;
    }
    if (at < text.len && text.s[at] == ':') {
        if (digits_at(text, at + 1, 2, &minute) != 2 || minute > 59) {
            return false;
        }
        at += 3;
        length = 1;
        if (at < text.len && text.s[at] == ':') {
            if (digits_at(text, at + 1, 2, &second) != 2) {
                return false;
            }
            at += 3;
        }
    }
    tail = str_sub(text, at, text.len);
    if (tail.len == 0 && length == 1 && hour < 24) {
        date_item_set(item, DC_TIME, hour * 60 + minute, length);
        return true;
    }
    if ((str_eq(tail, STR("am")) || str_eq(tail, STR("pm"))) && hour >= 1 &&
        hour <= 12) {
        hour = hour % 12 + (tail.s[0] == 'p' ? 12 : 0);
        date_item_set(item, DC_TIME, hour * 60 + minute, length);
        item->is_short = true; /* its am or pm is said */
        return true;
    }
    return false;
}

/* 9h30, 14h: so they write in French, Portuguese, Spanish. The second may be
 * how long. */
static bool read_h_time(struct str text, struct date_item *item)
{
    int64_t hour;
    int64_t minute = 0;
    size_t at = digits_at(text, 0, 2, &hour);
    size_t n;

    if (at == 0 || at >= text.len || text.s[at] != 'h' || hour > 23 ||
        item->language == TEXT_ENGLISH || item->language == TEXT_UNKNOWN) {
        return false;
    }
    n = digits_at(text, at + 1, 2, &minute);
    if (at + 1 + n != text.len || n == 1 || minute > 59) {
        return false;
    }
    date_item_set(item, DC_TIME, hour * 60 + minute, n ? 1 : 60);
    item->is_risky = n == 0;
    return true;
}

/* Three numbers with one separator, or a year and a month. */
static bool read_numeric_date(struct str text, struct date_item *item)
{
    int64_t a;
    int64_t b;
    int64_t c = 0;
    int64_t day;
    size_t na = digits_at(text, 0, 4, &a);
    size_t nb;
    size_t nc = 0;
    size_t at = na;
    char sep;

    if (na == 0 || na == 3 || at >= text.len || !strchr("-/.", text.s[at])) {
        return false;
    }
    sep = text.s[at];
    nb = digits_at(text, at + 1, 2, &b);
    at += 1 + nb;
    if (nb == 0) {
        return false;
    }
    if (at == text.len && na == 4 && sep == '-' && nb == 2 && b >= 1 &&
        b <= 12 && a >= 1) {
        date_item_set(item, DC_DATE, clock_days_from_civil(a, (int)b, 1),
                      DU_MONTH);
        return true;
    }
    if (at == text.len && na <= 2 && sep != '.' && a >= 1 && b > a && b <= 31) {
        date_item_set(item, DC_DAYS, a, b);
        item->is_risky = sep == '/'; /* this one and that, or either */
        return true;
    }
    if (at >= text.len || text.s[at] != sep) {
        return false;
    }
    nc = digits_at(text, at + 1, 4, &c);
    if (at + 1 + nc != text.len || nc == 0 || nc == 3) {
        return false;
    }
    if (na == 4) { /* year first */
        int64_t year = a;

        a = b;
        b = c;
        c = year;
    } else if (nc != 4 && !(nc == 2 && sep != '-')) {
        return false;
    } else if (sep == '.' || (a > 12 && b <= 12)) {
        int64_t first = a;

        a = b;
        b = first;
    }
    c += na != 4 && nc == 2 ? (c < 70 ? 2000 : 1900) : 0;
    if (!day_of(c, a, b, &day)) {
        return false;
    }
    date_item_set(item, DC_DATE, day, DU_DAY);
    return true;
}

/* "th" of 14th, and where it ends */
static size_t skip_ending(struct str text, size_t at)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (str_starts(str_sub(text, at, text.len), str_of(endings[i]))) {
            return at + 2;
        }
    }
    return at;
}

/* 14th-16th */
static bool read_days(struct str text, struct date_item *item)
{
    int64_t first;
    int64_t last;
    size_t at = digits_at(text, 0, 2, &first);
    size_t n;

    at = skip_ending(text, at);
    if (at == 0 || at >= text.len || text.s[at] != '-') {
        return false;
    }
    n = digits_at(text, at + 1, 2, &last);
    if (n == 0 || skip_ending(text, at + 1 + n) != text.len || first < 1 ||
        last <= first || last > 31) {
        return false;
    }
    date_item_set(item, DC_DAYS, first, last);
    return true;
}

/* An hour of "9-5", "9:00-17:00", "9am-1pm"; where it ends, 0 if it is none. */
static size_t skip_hour(struct str text, size_t at)
{
    int64_t hour;
    int64_t minute;
    size_t n = digits_at(text, at, 2, &hour);

    if (n == 0 || hour > 24) {
        return 0;
    }
    at += n;
    if (at < text.len && (text.s[at] == ':' || text.s[at] == '.') &&
        digits_at(text, at + 1, 2, &minute) == 2 && minute < 60) {
        at += 3;
    }
    if (str_starts(str_sub(text, at, text.len), STR("am")) ||
        str_starts(str_sub(text, at, text.len), STR("pm"))) {
        at += 2;
    }
    return at;
}

/* From one hour to another, and no two days */
static bool read_hours(struct str text, struct date_item *item)
{
    size_t at = skip_hour(text, 0);

    if (at == 0 || at >= text.len || text.s[at] != '-' ||
        skip_hour(text, at + 1) != text.len) {
        return false;
    }
    item->is_rota = true;
    return true;
}

/* 90s, '90s, 1990s, q3, 20th */
static bool read_mixed(struct str text, struct date_item *item)
{
    int64_t value;
    size_t n = digits_at(text, 0, 4, &value);
    struct str tail = str_sub(text, n, text.len);

    if (n == 0 && text.len == 2 && text.s[0] == 'q' && text.s[1] >= '1' &&
        text.s[1] <= '4') {
        date_item_set(item, DC_QUARTER, text.s[1] - '0', 0);
        return true;
    }
    if (str_starts(text, STR("kw")) && digits_at(text, 2, 2, &value) > 0 &&
        text.len <= 4) {
        date_item_set(item, DC_WEEK_NO, value, 0);
        return true;
    }
    if ((str_eq(tail, STR("s")) || str_eq(tail, STR("'s"))) &&
        value % 10 == 0) {
        if (n == 4 && value >= 1000) {
            date_item_set(item, DC_DECADE, value, 0);
            return true;
        }
        if (n == 2 && value >= 20) {
            date_item_set(item, DC_DECADE, 1900 + value, 0);
            return true;
        }
    }
    if (value == 1 && str_eq(tail, STR("er"))) {
        date_item_set(item, DC_ORDINAL, 1, 1); /* "le 1er mai" */
        return true;
    }
    if (n >= 1 && n <= 2 && value >= 1 && value <= 31 &&
        (str_eq(tail, STR("th")) || str_eq(tail, STR("st")) ||
         str_eq(tail, STR("nd")) || str_eq(tail, STR("rd")))) {
        date_item_set(item, DC_ORDINAL, value, 1);
        return true;
    }
    return false;
}

void date_read_number(struct str text, struct date_item *item)
{
    int64_t value;

    if (read_time(text, item)) {
        return;
    }
    if (!str_parse_int(text, &value) || value < 0 || text.len > 4) {
        return;
    }
    date_item_set(item,
                  text.len == 4 && value >= 1900 && value < 2100 ? DC_YEAR
                                                                 : DC_NUMBER,
                  value, 1);
}

void date_read_code(struct str text, const struct token *token,
                    struct date_item *item)
{
    struct str folded = token->folded;
    struct str raw = str_sub(text, token->from, token->to);
    struct str zoned = str_sub(text, token->from, (size_t)token->to + 6);
    int64_t ms;

    if (read_numeric_date(folded, item) || read_time(folded, item) ||
        read_h_time(folded, item) || read_mixed(folded, item) ||
        read_days(folded, item) || read_hours(folded, item)) {
        return;
    }
    if (raw.len > 10 && clock_parse(raw, &ms)) {
        date_item_set(item, DC_MOMENT, ms, 0);
    } else if (raw.len > 10 && zoned.len == raw.len + 6 &&
               zoned.s[raw.len] == '+' && clock_parse(zoned, &ms)) {
        date_item_set(item, DC_MOMENT, ms,
                      2); /* "+" and "02:00" are tokens too */
    }
}
