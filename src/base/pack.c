/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - one pass, the longest phrase first. See pack.h.
 *
 * After the number of the form each byte is one of three things: below 32 it
 * says what follows it (enum code), below 128 it stands for itself, from 128 on
 * it is a phrase; the last one says that the number of the phrase follows.
 */
#include "base/pack.h"

#include "base/uuid.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The form of a text that begins with this byte. */
#define FORM 1
#define FIRST_PHRASE 0x80
#define MORE_PHRASES 0xff
#define N_SHORT (MORE_PHRASES - FIRST_PHRASE)
#define FIRST_PLAIN 0x20
#define ID_CHARS (UUID_TEXT_SIZE - 1)

enum code {
    CODE_ID = 1,   /* 16 bytes */
    CODE_FOUR,     /* "0." and four digits: two bytes */
    CODE_THREE,    /* three digits: two bytes */
    CODE_TWO,      /* two digits: one byte */
    CODE_ONE,      /* one digit: one byte */
    CODE_WHOLE,    /* a whole number, seven bits a byte */
    CODE_BYTES,    /* a length and as many bytes as they are */
    CODE_FRACTION, /* "0." and so many digits, two a byte */
    CODE_NEAR,     /* the id before this one but for its last byte */
    CODE_NEARER,   /* but for its last two bytes */
};
/* Shorter numbers are no longer as they are; longer ones do not fit. */
#define MIN_WHOLE 3
#define MAX_WHOLE 18
#define MAX_FRACTION 255
#define MAX_BYTES 255

#define W(text) STR_INIT(text),
#define STR_INIT(text)                                                         \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }
static const struct str words[] = {
#include "base/pack_words.def"
};
#undef W
#define N_WORDS (sizeof(words) / sizeof(words[0]))
_Static_assert(N_WORDS <= 255, "they are counted in bytes");

/* Phrases by their first byte, longest first: 1 + index, 0 ends a list. */
static unsigned char heads[256];
static unsigned char nexts[N_WORDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_lists(void)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        unsigned char *at = &heads[(unsigned char)words[i].s[0]];

        while (*at != 0 && words[*at - 1].len >= words[i].len) {
            at = &nexts[*at - 1];
        }
        nexts[i] = *at;
        *at = (unsigned char)(i + 1);
    }
}

static void put(struct buf *out, unsigned value)
{
    (void)buf_append_char(out, (char)(unsigned char)value); /* it sticks */
}

/* --- packing ---------------------------------------------------------------
 */

static size_t count_digits(struct str text, size_t from)
{
    size_t at = from;

    while (at < text.len && text.s[at] >= '0' && text.s[at] <= '9') {
        at++;
    }
    return at - from;
}

static size_t pack_id(struct str text, struct uuid *last, struct buf *out)
{
    char again[UUID_TEXT_SIZE];
    struct uuid id;

    if (text.len < ID_CHARS || text.s[8] != '-' ||
        !uuid_parse(str_sub(text, 0, ID_CHARS), &id)) {
        return 0;
    }
    uuid_format(&id, again);
    if (memcmp(again, text.s, ID_CHARS) != 0) {
        return 0; /* in capitals */
    }
    if (memcmp(id.b, last->b, 15) == 0) {
        put(out, CODE_NEAR);
        put(out, id.b[15]);
    } else if (memcmp(id.b, last->b, 14) == 0) {
        put(out, CODE_NEARER);
        (void)buf_append(out, id.b + 14, 2);
    } else {
        put(out, CODE_ID);
        (void)buf_append(out, id.b, sizeof(id.b));
    }
    *last = id;
    return ID_CHARS;
}

static void pack_digits(struct str digits, struct buf *out)
{
    for (size_t i = 0; i < digits.len; i += 2) {
        unsigned low =
            i + 1 < digits.len ? (unsigned)(digits.s[i + 1] - '0') : 0;

        put(out, (unsigned)(digits.s[i] - '0') << 4 | low);
    }
}

/* "0.1234" */
static size_t pack_fraction(struct str text, struct buf *out)
{
    static const enum code codes[] = {CODE_ONE, CODE_TWO, CODE_THREE,
                                      CODE_FOUR};
    size_t n;
    unsigned value = 0;

    if (text.len < 3 || text.s[0] != '0' || text.s[1] != '.') {
        return 0;
    }
    n = count_digits(text, 2);
    if (n == 0 || n > MAX_FRACTION) {
        return 0;
    }
    if (n > 4) {
        put(out, CODE_FRACTION);
        put(out, (unsigned)n);
        pack_digits(str_sub(text, 2, 2 + n), out);
        return 2 + n;
    }
    for (size_t i = 0; i < n; i++) {
        value = value * 10 + (unsigned)(text.s[2 + i] - '0');
    }
    put(out, codes[n - 1]);
    put(out, value & 0xff);
    if (n > 2) {
        put(out, value >> 8);
    }
    return 2 + n;
}

static size_t pack_whole(struct str text, struct buf *out)
{
    size_t n = count_digits(text, 0);
    uint64_t value = 0;

    if (n < MIN_WHOLE || n > MAX_WHOLE || text.s[0] == '0') {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        value = value * 10 + (uint64_t)(text.s[i] - '0');
    }
    put(out, CODE_WHOLE);
    while (value >= 0x80) {
        put(out, (unsigned)(value & 0x7f) | 0x80);
        value >>= 7;
    }
    put(out, (unsigned)value);
    return n;
}

static size_t pack_word(struct str text, struct buf *out)
{
    unsigned char at = heads[(unsigned char)text.s[0]];

    while (at != 0 && !str_starts(text, words[at - 1])) {
        at = nexts[at - 1];
    }
    if (at == 0) {
        return 0;
    }
    if (at <= N_SHORT) {
        put(out, FIRST_PHRASE + at - 1u);
    } else {
        put(out, MORE_PHRASES);
        put(out, at - 1u - N_SHORT);
    }
    return words[at - 1].len;
}

static bool is_plain(char c)
{
    return (unsigned char)c >= FIRST_PLAIN && (unsigned char)c < FIRST_PHRASE;
}

static size_t pack_rest(struct str text, struct buf *out)
{
    size_t n = 0;

    if (is_plain(text.s[0])) {
        put(out, (unsigned char)text.s[0]);
        return 1;
    }
    while (n < text.len && n < MAX_BYTES && !is_plain(text.s[n])) {
        n++;
    }
    put(out, CODE_BYTES);
    put(out, (unsigned)n);
    (void)buf_append(out, text.s, n);
    return n;
}

enum clew_status pack(struct str text, struct buf *out)
{
    struct uuid last = {{0}};
    size_t at = 0;

    (void)pthread_once(&once, make_lists);
    put(out, FORM);
    while (at < text.len && buf_status(out) == CLEW_OK) {
        struct str rest = str_sub(text, at, text.len);
        size_t n = pack_id(rest, &last, out);

        n = n ? n : pack_fraction(rest, out);
        n = n ? n : pack_whole(rest, out);
        n = n ? n : pack_word(rest, out);
        at += n ? n : pack_rest(rest, out);
    }
    return buf_status(out);
}

/* --- unpacking -------------------------------------------------------------
 */

/* What is left to read. */
struct input {
    const unsigned char *at;
    const unsigned char *end;
    struct uuid last; /* the id before */
};

static bool take(struct input *in, size_t n, const unsigned char **out)
{
    if ((size_t)(in->end - in->at) < n) {
        return false;
    }
    *out = in->at;
    in->at += n;
    return true;
}

/* An id whose last `n` bytes follow. */
static bool unpack_id(struct input *in, size_t n, struct buf *out)
{
    const unsigned char *bytes;
    char text[UUID_TEXT_SIZE];

    if (!take(in, n, &bytes)) {
        return false;
    }
    memcpy(in->last.b + sizeof(in->last.b) - n, bytes, n);
    uuid_format(&in->last, text);
    (void)buf_append(out, text, ID_CHARS);
    return true;
}

/* "0." and `n` digits, four at most. */
static bool unpack_short(struct input *in, int n, struct buf *out)
{
    const unsigned char *bytes;
    unsigned value;

    if (!take(in, n > 2 ? 2 : 1, &bytes)) {
        return false;
    }
    value = n > 2 ? bytes[0] | (unsigned)bytes[1] << 8 : bytes[0];
    (void)buf_printf(out, "0.%0*u", n, value);
    return true;
}

static bool unpack_fraction(struct input *in, struct buf *out)
{
    const unsigned char *length;
    const unsigned char *bytes;

    if (!take(in, 1, &length) || !take(in, (*length + 1u) / 2, &bytes)) {
        return false;
    }
    (void)buf_append_cstr(out, "0.");
    for (unsigned i = 0; i < *length; i++) {
        unsigned digit = i % 2 ? bytes[i / 2] & 15u : bytes[i / 2] >> 4;

        (void)buf_append_char(out, (char)('0' + digit));
    }
    return true;
}

static bool unpack_whole(struct input *in, struct buf *out)
{
    const unsigned char *byte;
    uint64_t value = 0;
    unsigned shift = 0;

    do {
        if (shift > 56 || !take(in, 1, &byte)) {
            return false;
        }
        value |= (uint64_t)(*byte & 0x7f) << shift;
        shift += 7;
    } while (*byte & 0x80);
    (void)buf_printf(out, "%llu", (unsigned long long)value);
    return true;
}

static bool unpack_bytes(struct input *in, struct buf *out)
{
    const unsigned char *length;
    const unsigned char *bytes;

    if (!take(in, 1, &length) || !take(in, *length, &bytes)) {
        return false;
    }
    (void)buf_append(out, bytes, *length);
    return true;
}

static bool unpack_word(struct input *in, unsigned byte, struct buf *out)
{
    const unsigned char *more;
    size_t word = byte - FIRST_PHRASE;

    if (byte == MORE_PHRASES) {
        if (!take(in, 1, &more)) {
            return false;
        }
        word = (size_t)N_SHORT + *more;
    }
    if (word >= N_WORDS) {
        return false;
    }
    (void)buf_append_str(out, words[word]);
    return true;
}

static bool unpack_code(struct input *in, unsigned code, struct buf *out)
{
    switch (code) {
    case CODE_ID:
        return unpack_id(in, sizeof(in->last.b), out);
    case CODE_NEAR:
        return unpack_id(in, 1, out);
    case CODE_NEARER:
        return unpack_id(in, 2, out);
    case CODE_FOUR:
        return unpack_short(in, 4, out);
    case CODE_THREE:
        return unpack_short(in, 3, out);
    case CODE_TWO:
        return unpack_short(in, 2, out);
    case CODE_ONE:
        return unpack_short(in, 1, out);
    case CODE_WHOLE:
        return unpack_whole(in, out);
    case CODE_BYTES:
        return unpack_bytes(in, out);
    case CODE_FRACTION:
        return unpack_fraction(in, out);
    default:
        return false;
    }
}

enum clew_status unpack(struct str bytes, struct buf *out)
{
    struct input in = {.at = (const unsigned char *)bytes.s,
                       .end = (const unsigned char *)bytes.s + bytes.len};
    bool is_ok = bytes.len > 0 && *in.at++ == FORM;

    while (is_ok && in.at < in.end && buf_status(out) == CLEW_OK) {
        unsigned byte = *in.at++;

        if (byte < FIRST_PLAIN) {
            is_ok = unpack_code(&in, byte, out);
        } else if (byte < FIRST_PHRASE) {
            (void)buf_append_char(out, (char)byte);
        } else {
            is_ok = unpack_word(&in, byte, out);
        }
    }
    return is_ok ? buf_status(out) : CLEW_CORRUPT;
}
