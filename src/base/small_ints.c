/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_ints.c - Rice's code. See small_ints.h.
 */
#include "base/small_ints.h"

#include <endian.h>
#include <string.h>

/* Low bits of a number: chosen so that the rest is mostly 0 to 2. */
#define MAX_LOW 29
/* Ones before a number stands as it is, in RAW bits. */
#define MAX_ONES 24
#define RAW 30

/* 0, -1, 1, -2, 2, … become 0, 1, 2, 3, 4, … */
static uint32_t fold(int32_t value)
{
    if (value > SMALL_INTS_MAX) {
        value = SMALL_INTS_MAX;
    }
    if (value < -SMALL_INTS_MAX) {
        value = -SMALL_INTS_MAX;
    }
    return value < 0 ? (uint32_t)-value * 2 - 1 : (uint32_t)value * 2;
}

static int32_t unfold(uint32_t folded)
{
    return folded & 1 ? -(int32_t)(folded / 2) - 1 : (int32_t)(folded / 2);
}

static size_t bits_of(uint32_t folded, unsigned low)
{
    uint32_t ones = folded >> low;

    return ones < MAX_ONES ? ones + 1 + low : MAX_ONES + RAW;
}

static size_t bits_of_all(const int32_t *values, size_t count, unsigned low)
{
    size_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        bits += bits_of(fold(values[i]), low);
    }
    return bits;
}

/* The number of low bits that gives the shortest list: about that of the mean,
 * or fewer where a few large numbers made it. */
static unsigned choose(const int32_t *values, size_t count)
{
    unsigned low = 0;
    uint64_t sum = 0;
    size_t bits;
    size_t fewer;

    for (size_t i = 0; i < count; i++) {
        sum += fold(values[i]);
    }
    while (low < MAX_LOW && sum >> low >= count && count > 0) {
        low++;
    }
    bits = bits_of_all(values, count, low);
    while (low > 0) {
        fewer = bits_of_all(values, count, low - 1);
        if (fewer > bits) {
            break;
        }
        bits = fewer;
        low--;
    }
    return low;
}

/* Bits on their way to bytes, the first in the lowest place. */
struct bits {
    struct buf *out;
    uint64_t waiting;
    unsigned count;
};

static void put(struct bits *bits, uint32_t value, unsigned count)
{
    bits->waiting |= (uint64_t)value << bits->count;
    bits->count += count;
    while (bits->count >= 8) {
        (void)buf_append_char(bits->out, (char)bits->waiting);
        bits->waiting >>= 8;
        bits->count -= 8;
    }
}

enum clew_status small_ints_write(const int32_t *values, size_t count,
                                  struct buf *out)
{
    unsigned low = choose(values, count);
    struct bits bits = {.out = out};

    put(&bits, low, 8);
    for (size_t i = 0; i < count; i++) {
        uint32_t folded = fold(values[i]);
        uint32_t ones = folded >> low;

        if (ones < MAX_ONES) {
            put(&bits, ((uint32_t)1 << ones) - 1, ones + 1);
            put(&bits, folded & (((uint32_t)1 << low) - 1), low);
        } else {
            put(&bits, ((uint32_t)1 << MAX_ONES) - 1, MAX_ONES);
            put(&bits, folded, RAW);
        }
    }
    if (bits.count > 0) {
        put(&bits, 0, 8 - bits.count);
    }
    return buf_status(out);
}

/* Bytes on their way to bits: `at` of them were taken. */
struct source {
    struct str bytes;
    size_t at;
};

/* The next bits, at least 57: as many as the longest number has, and more. What
 * lies behind the end is 0. */
static uint64_t peek(const struct source *from)
{
    size_t first = from->at / 8;
    size_t left = from->bytes.len - first;
    uint64_t word = 0;

    if (left > 0) {
        memcpy(&word, from->bytes.s + first,
               left < sizeof(word) ? left : sizeof(word));
    }
    return le64toh(word) >> from->at % 8;
}

static bool take(struct source *from, unsigned count)
{
    from->at += count;
    return from->at <= from->bytes.len * 8;
}

static bool get_one(struct source *from, unsigned low, int32_t *out)
{
    uint64_t word = peek(from);
    unsigned ones = (unsigned)__builtin_ctzll(~word | (uint64_t)1 << MAX_ONES);

    if (ones < MAX_ONES) {
        word = word >> (ones + 1) & (((uint64_t)1 << low) - 1);
        *out = unfold((uint32_t)ones << low | (uint32_t)word);
        return take(from, ones + 1 + low);
    }
    *out = unfold((uint32_t)(word >> MAX_ONES & (((uint64_t)1 << RAW) - 1)));
    return take(from, MAX_ONES + RAW);
}

bool small_ints_read(struct str *bytes, int32_t *out_values, size_t count)
{
    struct source from = {.bytes = *bytes};
    unsigned low = (unsigned)(peek(&from) & 0xff);

    if (!take(&from, 8) || low > MAX_LOW) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!get_one(&from, low, &out_values[i])) {
            return false;
        }
    }
    *bytes = str_sub(*bytes, (from.at + 7) / 8, bytes->len);
    return true;
}
