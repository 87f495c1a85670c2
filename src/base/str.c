/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.c - helpers on borrowed slices. See str.h.
 */
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct str str_of(const char *text)
{
    struct str slice = {text ? text : "", text ? strlen(text) : 0};

    return slice;
}

bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool same_bytes(const char *a, const char *b, size_t len, bool fold)
{
    size_t i;

    if (!fold) {
        return len == 0 || memcmp(a, b, len) == 0;
    }
    for (i = 0; i < len; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

bool str_ieq(struct str a, struct str b)
{
    return a.len == b.len && same_bytes(a.s, b.s, a.len, true);
}

bool str_starts(struct str text, struct str prefix)
{
    return text.len >= prefix.len &&
           same_bytes(text.s, prefix.s, prefix.len, false);
}

bool str_istarts(struct str text, struct str prefix)
{
    return text.len >= prefix.len &&
           same_bytes(text.s, prefix.s, prefix.len, true);
}

bool str_ends(struct str text, struct str suffix)
{
    return suffix.len == 0 || (text.len >= suffix.len &&
                               same_bytes(text.s + (text.len - suffix.len),
                                          suffix.s, suffix.len, false));
}

size_t str_find(struct str text, struct str needle, size_t from)
{
    const char *hit;

    if (from > text.len || needle.len > text.len - from) {
        return SIZE_MAX;
    }
    if (needle.len == 0) {
        return from;
    }
    hit = memmem(text.s + from, text.len - from, needle.s, needle.len);
    return hit ? (size_t)(hit - text.s) : SIZE_MAX;
}

size_t str_ifind(struct str text, struct str needle, size_t from)
{
    const char *end;
    const char *next[2] = {NULL, NULL}; /* … of the first letter's two cases */
    char first[2];
    const char *at;
    size_t i;

    if (from > text.len || needle.len > text.len - from) {
        return SIZE_MAX;
    }
    if (needle.len == 0) {
        return from;
    }
    end = text.s + text.len;
    first[0] = (char)lower(needle.s[0]);
    first[1] =
        (char)(first[0] >= 'a' && first[0] <= 'z' ? first[0] - ('a' - 'A')
                                                  : first[0]);
    for (at = text.s + from; (size_t)(end - at) >= needle.len; at++) {
        for (i = 0; i < 2; i++) {
            if (!next[i] || next[i] < at) {
                next[i] = memchr(at, first[i], (size_t)(end - at));
                next[i] = next[i] ? next[i] : end;
            }
        }
        at = next[0] < next[1] ? next[0] : next[1];
        if ((size_t)(end - at) < needle.len) {
            break;
        }
        if (same_bytes(at, needle.s, needle.len, true)) {
            return (size_t)(at - text.s);
        }
    }
    return SIZE_MAX;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str text)
{
    while (text.len > 0 && is_space(text.s[0])) {
        text.s++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.s[text.len - 1])) {
        text.len--;
    }
    return text;
}

struct str str_sub(struct str text, size_t from, size_t to)
{
    struct str part;

    if (to > text.len) {
        to = text.len;
    }
    if (from > to) {
        from = to;
    }
    part.s = from > 0 ? text.s + from : text.s; /* there may be none */
    part.len = to - from;
    return part;
}

bool str_split(struct str *rest, char sep, struct str *out_part)
{
    const char *hit;

    if (!rest->s || rest->len == 0) {
        return false;
    }
    hit = memchr(rest->s, sep, rest->len);
    if (!hit) {
        *out_part = *rest;
        rest->s += rest->len;
        rest->len = 0;
        return true;
    }
    out_part->s = rest->s;
    out_part->len = (size_t)(hit - rest->s);
    rest->len -= out_part->len + 1;
    rest->s = hit + 1;
    return true;
}

bool str_parse_int(struct str text, int64_t *out_value)
{
    bool is_negative = text.len > 0 && text.s[0] == '-';
    size_t i = is_negative ? 1 : 0;
    int64_t value = 0;

    if (i == text.len) {
        return false;
    }
    for (; i < text.len; i++) {
        int digit = text.s[i] - '0';

        if (digit < 0 || digit > 9 ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {
            return false;
        }
    }
    if (!is_negative && value == INT64_MIN) {
        return false;
    }
    *out_value = is_negative ? value : -value;
    return true;
}

/* Longer is no number that anybody writes. */
#define REAL_CHARS 63

bool str_parse_real(struct str text, double *out_value)
{
    static const char allowed[] = "0123456789+-.eE";
    char copy[REAL_CHARS + 1];
    char *end;
    double value;

    if (text.len == 0 || text.len > REAL_CHARS) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (!memchr(allowed, text.s[i], sizeof(allowed) - 1)) {
            return false;
        }
    }
    memcpy(copy, text.s, text.len);
    copy[text.len] = '\0';
    value = strtod(copy, &end);
    if (*end != '\0' || !isfinite(value)) {
        return false;
    }
    *out_value = value;
    return true;
}

uint64_t str_hash(struct str text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    size_t i;

    for (i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.s[i]) * 0x100000001b3u;
    }
    return hash;
}

int str_cmp(struct str a, struct str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.s, b.s, len) : 0;

    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

void str_names(const char *const *names, char out[STR_NAMES_SIZE])
{
    size_t len = 0;

    out[0] = '\0';
    for (; names && *names; names++) {
        /* a comma, a space, and the end; or ", …" if there are more */
        size_t needs = strlen(*names) + (names[1] ? 8 : 3);

        if (len + needs > STR_NAMES_SIZE) {
            (void)snprintf(out + len, STR_NAMES_SIZE - len, ", …");
            return;
        }
        len += (size_t)snprintf(out + len, STR_NAMES_SIZE - len, "%s%s",
                                len > 0 ? ", " : "", *names);
    }
}
