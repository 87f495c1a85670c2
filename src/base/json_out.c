/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.c - the text of JSON values. See json_out.h.
 *
 * Failures are kept in the buffer, hence the results that are not looked at.
 */
#include "base/json_out.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* 1e15 to 1e17 and their like are the numbers of digits of a double. */
#define MOST_DIGITS 17
#define LEAST_DIGITS 15

/* --- strings --- */

/* Is there a byte in `word` that must be escaped? Never a wrong "no". */
static bool has_special(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101ull;
    const uint64_t tops = 0x8080808080808080ull;
    uint64_t quote = word ^ (ones * '"');
    uint64_t slash = word ^ (ones * '\\');

    return ((word - ones * 0x20) | (quote - ones) | (slash - ones)) & ~word &
           tops;
}

/* How many bytes from `s` on need no escape. */
static size_t plain_bytes(const char *s, size_t len)
{
    size_t i = 0;

    for (; i + 8 <= len; i += 8) {
        uint64_t word;

        memcpy(&word, s + i, sizeof(word));
        if (has_special(word)) {
            break;
        }
    }
    while (i < len && (unsigned char)s[i] >= 0x20 && s[i] != '"' &&
           s[i] != '\\') {
        i++;
    }
    return i;
}

static void put_escape(struct buf *out, char c)
{
    static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (const char *at = short_forms; *at; at += 2) {
        if (*at == c) {
            char code[2] = {'\\', at[1]};

            (void)buf_append(out, code, sizeof(code));
            return;
        }
    }
    (void)buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
}

static void put_bytes(struct buf *out, struct str text)
{
    size_t i = 0;

    (void)buf_reserve(out, text.len + 2);
    while (i < text.len) {
        size_t n = plain_bytes(text.s + i, text.len - i);

        (void)buf_append(out, text.s + i, n);
        i += n;
        if (i < text.len) {
            put_escape(out, text.s[i++]);
        }
    }
}

static void put_str(struct buf *out, struct str text)
{
    (void)buf_append_char(out, '"');
    put_bytes(out, text);
    (void)buf_append_char(out, '"');
}

/* How many bytes a character is written in. */
static size_t written_bytes(char c)
{
    unsigned char byte = (unsigned char)c;

    if (byte >= 0x20) {
        return c == '"' || c == '\\' ? 2 : 1;
    }
    return c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t' ? 2
                                                                         : 6;
}

size_t json_out_cut(struct str text, size_t max_bytes)
{
    size_t n_written = 0;
    size_t i = 0;

    while (i < text.len) {
        size_t n = plain_bytes(text.s + i, text.len - i);

        if (n > max_bytes - n_written) {
            return utf8_cut(text, i + max_bytes - n_written);
        }
        n_written += n;
        i += n;
        if (i < text.len) {
            n_written += written_bytes(text.s[i]);
            if (n_written > max_bytes) {
                return utf8_cut(text, i);
            }
            i++;
        }
    }
    return i;
}

/* --- numbers --- */

/* The digits of `value` before `end`; where they begin. */
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

static void put_int(struct buf *out, int64_t value)
{
    char text[24];
    char *end = text + sizeof(text);
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *at = digits_before(end, size);

    if (value < 0) {
        *--at = '-';
    }
    (void)buf_append(out, at, (size_t)(end - at));
}

/* A number as its digits and the power of ten of the first of them. */
struct decimal {
    char digits[32]; /* terminated, no zeros at the end */
    int count;
    int power;
};

/*
 * Most reals are scores with a few decimals: for those the digits are those of
 * a whole number. Up to 15 digits name one double each, so digits that give the
 * value back are the shortest.
 */
static bool put_short_real(struct buf *out, double value)
{
    const double places = 1e6;
    double whole = nearbyint(value * places);
    uint64_t number;
    char text[24];
    char *end = text + sizeof(text);
    char *at;

    if (!(fabs(value) >= 1e-6 && fabs(value) < 1e9) ||
        whole / places != value) {
        return false;
    }
    number = (uint64_t)fabs(whole);
    at = digits_before(end, number % 1000000 + 1000000);
    *at = '.'; /* over the 1 that kept the zeros */
    at = digits_before(at, number / 1000000);
    if (value < 0) {
        *--at = '-';
    }
    while (end[-1] == '0') {
        end--;
    }
    end -= end[-1] == '.';
    (void)buf_append(out, at, (size_t)(end - at));
    return true;
}

static wide power_of_ten(int power)
{
    wide result = 1;

    while (power-- > 0) {
        result *= 10;
    }
    return result;
}

/*
 * The shortest digits of a positive number neither very small nor very large,
 * by whole numbers of 128 bits; false where those are not enough. With
 * value = fraction / 2^shift, the first n digits are fraction * 10^places /
 * 2^shift, rounded; they give the value back if they are off by less than half
 * a step of the fraction.
 */
static bool shortest_digits(double value, struct decimal *out)
{
    int exponent;
    uint64_t fraction = (uint64_t)ldexp(frexp(value, &exponent), DBL_MANT_DIG);
    int shift = DBL_MANT_DIG - exponent;
    int power = (int)floor(log10(value));

    if (!(value >= 1e-6 && value < 1e15) || shift < 1 ||
        fraction == (uint64_t)1 << (DBL_MANT_DIG - 1)) {
        return false; /* the last: its neighbours are not equally far */
    }
    for (int n = LEAST_DIGITS; n <= MOST_DIGITS; n++) {
        wide unit = power_of_ten(n - 1 - power);
        wide scaled = unit * fraction;
        wide half = (wide)1 << (shift - 1);
        uint64_t number = (uint64_t)(scaled >> shift);
        wide off = scaled - ((wide)number << shift);
        bool is_up = off > half || (off == half && number % 2 == 1);

        if (number < power_of_ten(n - 1) || number >= power_of_ten(n)) {
            return false; /* the logarithm was rounded */
        }
        if (is_up) {
            number++;
            off = 2 * half - off;
        }
        if (2 * off < unit || (2 * off == unit && fraction % 2 == 0)) {
            char *end = out->digits + sizeof(out->digits) - 1;
            char *at = digits_before(end, number);

            out->count = (int)(end - at);
            out->power = power + (out->count > n); /* 999.. became 1000.. */
            memmove(out->digits, at, (size_t)out->count);
            return true;
        }
    }
    return false;
}

/* The shortest digits of any positive number, by the C library. */
static void any_digits(double value, struct decimal *out)
{
    char *exponent;

    /* 15 digits are never too many, but for the tiniest of all */
    for (int precision = value < DBL_MIN ? 0 : LEAST_DIGITS - 1;
         precision < MOST_DIGITS; precision++) {
        (void)snprintf(out->digits, sizeof(out->digits), "%.*e", precision,
                       value);
        if (strtod(out->digits, NULL) == value) {
            break;
        }
    }
    exponent = strchr(out->digits, 'e');
    out->power = (int)strtol(exponent + 1, NULL, 10);
    *exponent = '\0';
    if (out->digits[1] == '.') {
        memmove(out->digits + 1, out->digits + 2, strlen(out->digits + 1));
    }
    out->count = (int)strlen(out->digits);
}

/* "1e+21" style exponents and plain decimals as ECMAScript prints them. */
static void put_decimal(struct buf *out, const struct decimal *d)
{
    static const char zeros[] = "000000000000000000000";
    const char *digits = d->digits;

    if (d->power >= 21 || d->power < -6) {
        (void)buf_printf(out, "%c%s%se%+d", digits[0], d->count > 1 ? "." : "",
                         digits + 1, d->power);
    } else if (d->power < 0) {
        (void)buf_append(out, "0.", 2);
        (void)buf_append(out, zeros, (size_t)(-d->power - 1));
        (void)buf_append(out, digits, (size_t)d->count);
    } else if (d->count <= d->power + 1) {
        (void)buf_append(out, digits, (size_t)d->count);
        (void)buf_append(out, zeros, (size_t)(d->power + 1 - d->count));
    } else {
        (void)buf_append(out, digits, (size_t)d->power + 1);
        (void)buf_append_char(out, '.');
        (void)buf_append_cstr(out, digits + d->power + 1);
    }
}

static void put_real(struct buf *out, double value)
{
    struct decimal decimal;

    if (!isfinite(value)) {
        (void)buf_append_cstr(out, "null");
        return;
    }
    if (value == 0) {
        (void)buf_append_char(out, '0');
        return;
    }
    if (put_short_real(out, value)) {
        return;
    }
    if (value < 0) {
        (void)buf_append_char(out, '-');
        value = -value;
    }
    if (!shortest_digits(value, &decimal)) {
        any_digits(value, &decimal);
    }
    while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0') {
        decimal.count--;
    }
    decimal.digits[decimal.count] = '\0';
    put_decimal(out, &decimal);
}

/* --- values --- */

/* The comma and the field's name, if they are due. */
static void begin(struct json_out *out, const char *field)
{
    if (out->has_item) {
        (void)buf_append_char(out->buf, ',');
    }
    out->has_item = true;
    if (field) {
        size_t len = strlen(field);

        (void)buf_reserve(out->buf, len + 3);
        (void)buf_append_char(out->buf, '"');
        (void)buf_append(out->buf, field, len);
        (void)buf_append(out->buf, "\":", 2);
    }
}

void json_out_init(struct json_out *out, struct buf *buf)
{
    *out = (struct json_out){.buf = buf};
}

void json_out_object(struct json_out *out, const char *field)
{
    begin(out, field);
    (void)buf_append_char(out->buf, '{');
    out->has_item = false;
}

void json_out_end_object(struct json_out *out)
{
    (void)buf_append_char(out->buf, '}');
    out->has_item = true;
}

void json_out_array(struct json_out *out, const char *field)
{
    begin(out, field);
    (void)buf_append_char(out->buf, '[');
    out->has_item = false;
}

void json_out_end_array(struct json_out *out)
{
    (void)buf_append_char(out->buf, ']');
    out->has_item = true;
}

void json_out_str(struct json_out *out, const char *field, struct str value)
{
    if (!value.s) {
        json_out_null(out, field);
        return;
    }
    begin(out, field);
    put_str(out->buf, value);
}

void json_out_cut_str(struct json_out *out, const char *field, struct str value,
                      size_t max_bytes)
{
    size_t len = json_out_cut(value, max_bytes);

    if (len == value.len) {
        json_out_str(out, field, value);
        return;
    }
    begin(out, field);
    (void)buf_append_char(out->buf, '"');
    put_bytes(out->buf, str_sub(value, 0, len));
    (void)buf_append_cstr(out->buf, "…\"");
}

void json_out_int(struct json_out *out, const char *field, int64_t value)
{
    begin(out, field);
    put_int(out->buf, value);
}

void json_out_real(struct json_out *out, const char *field, double value)
{
    begin(out, field);
    put_real(out->buf, value);
}

void json_out_bool(struct json_out *out, const char *field, bool value)
{
    begin(out, field);
    (void)buf_append_cstr(out->buf, value ? "true" : "false");
}

void json_out_null(struct json_out *out, const char *field)
{
    begin(out, field);
    (void)buf_append(out->buf, "null", 4);
}

void json_out_uuid(struct json_out *out, const char *field,
                   const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    if (!id) {
        json_out_null(out, field);
        return;
    }
    uuid_format(id, text);
    json_out_str(out, field, str_of(text));
}

void json_out_time(struct json_out *out, const char *field,
                   const int64_t *time_ms)
{
    char text[CLOCK_TEXT_SIZE];

    if (!time_ms) {
        json_out_null(out, field);
        return;
    }
    clock_format(*time_ms, text);
    json_out_str(out, field, str_of(text));
}

void json_out_raw(struct json_out *out, const char *field, struct str json)
{
    begin(out, field);
    (void)buf_append_str(out->buf, json);
}

void json_out_field(struct json_out *out, struct str name)
{
    json_out_str(out, NULL, name);
    (void)buf_append_char(out->buf, ':');
    out->has_item = false;
}
