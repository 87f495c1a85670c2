/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - numbers to bytes and back. See bytes.h.
 */
#include "base/bytes.h"

#include <string.h>

void bytes_put(struct buf *out, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        (void)buf_append_char(out, (char)(value >> (8 * i)));
    }
}

void bytes_put_float(struct buf *out, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    bytes_put(out, bits, 4);
}

void bytes_put_number(struct buf *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7) {
        bytes_put(out, value | 0x80, 1);
    }
    bytes_put(out, value, 1);
}

uint64_t bytes_get(struct bytes_source *from, size_t n_bytes)
{
    uint64_t value = 0;

    if (from->rest.len < n_bytes) {
        from->is_short = true;
        return 0;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        value |= (uint64_t)(unsigned char)from->rest.s[i] << (8 * i);
    }
    from->rest = str_sub(from->rest, n_bytes, from->rest.len);
    return value;
}

float bytes_get_float(struct bytes_source *from)
{
    uint32_t bits = (uint32_t)bytes_get(from, 4);
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint32_t bytes_get_number(struct bytes_source *from)
{
    uint32_t value = 0;

    for (unsigned shift = 0; shift < 32; shift += 7) {
        uint32_t byte = (uint32_t)bytes_get(from, 1);

        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    from->is_short = true;
    return 0;
}
