/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - fuzz: any bytes; walking covers all of them, cuts split nothing.
 */
#include "base/utf8.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str text = {(const char *)data, len};
    bool is_valid = utf8_is_valid(text);
    size_t n = 0;

    for (size_t at = 0; at < len; n++) {
        size_t from = at;
        uint32_t c = utf8_next(text, &at);

        require(at > from && at <= len && c <= 0x10FFFF);
    }
    require(utf8_count(text) == n);
    require(utf8_cut_chars(text, n) == len);
    for (size_t max = 0; max <= len && max < 64; max++) {
        size_t cut = utf8_cut(text, max);

        require(cut <= max && max - cut < 4);
        require(!is_valid || utf8_is_valid(str_sub(text, 0, cut)));
    }
    return 0;
}
