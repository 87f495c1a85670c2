/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_ints.c - Rice's code. See small_ints.h.
 */
#include "base/small_ints.h"

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

/* Bytes on their way to bits. */
struct source {
    struct str rest;
    uint64_t waiting;
    unsigned count;
};

static bool get(struct source *from, unsigned count, uint32_t *out)
{
    while (from->count < count) {
        if (from->rest.len == 0) {
            return false;
        }
        from->waiting |= (uint64_t)(unsigned char)from->rest.s[0]
                         << from->count;
        from->count += 8;
        from->rest = str_sub(from->rest, 1, from->rest.len);
    }
    *out = (uint32_t)(from->waiting & (((uint64_t)1 << count) - 1));
    from->waiting >>= count;
    from->count -= count;
    return true;
}

static bool get_one(struct source *from, unsigned low, int32_t *out)
{
    uint32_t ones = 0;
    uint32_t bit = 1;
    uint32_t rest = 0;

    while (ones < MAX_ONES) {
        if (!get(from, 1, &bit)) {
            return false;
        }
        if (bit == 0) {
            break;
        }
        ones++;
    }
    if (!get(from, ones < MAX_ONES ? low : RAW, &rest)) {
        return false;
    }
    *out = unfold(ones < MAX_ONES ? ones << low | rest : rest);
    return true;
}

bool small_ints_read(struct str *bytes, int32_t *out_values, size_t count)
{
    struct source from = {.rest = *bytes};
    uint32_t low = 0;

    if (!get(&from, 8, &low) || low > MAX_LOW) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!get_one(&from, low, &out_values[i])) {
            return false;
        }
    }
    *bytes = from.rest;
    return true;
}
