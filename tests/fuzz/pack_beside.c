/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_beside.c - fuzz: any bytes are unpacked or refused, within the ceiling;
 * any text packed beside any other comes back. The first byte says where the
 * other ends.
 */
#include "base/pack_beside.h"

#include <stdint.h>
#include <stdlib.h>

#define MAX_BYTES (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str all = {(const char *)data, len};
    size_t at = len > 0 && data[0] < len ? 1 + data[0] : len;
    struct str beside = str_sub(all, len > 0 ? 1 : 0, at);
    struct str text = str_sub(all, at, len);
    enum clew_status status;
    struct buf packed;
    struct buf out;

    buf_init(&packed, 2 * MAX_BYTES);
    buf_init(&out, MAX_BYTES);
    status = unpack_beside(text, beside, &out);
    require(status == CLEW_OK || status == CLEW_CORRUPT ||
            status == CLEW_TOO_LARGE);
    require(out.len <= MAX_BYTES);
    buf_clear(&out);
    if (text.len < MAX_BYTES) {
        require(pack_beside(text, beside, &packed) == CLEW_OK);
        require(unpack_beside(buf_str(&packed), beside, &out) == CLEW_OK);
        require(str_eq(buf_str(&out), text));
    }
    buf_release(&packed);
    buf_release(&out);
    return 0;
}
