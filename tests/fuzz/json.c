/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - fuzz: any bytes as a JSON body; what parses is written and read
 * back to the same text.
 */
#include "base/json.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str text = {(const char *)data, len};
    struct clew_error err;
    json_t *first = NULL;
    json_t *again = NULL;
    struct buf a;
    struct buf b;

    if (json_parse(text, &first, &err) != CLEW_OK) {
        return 0;
    }
    buf_init(&a, 1 << 26);
    buf_init(&b, 1 << 26);
    if (json_write(&a, first) == CLEW_OK) {
        if (json_parse(buf_str(&a), &again, &err) != CLEW_OK ||
            json_write(&b, again) != CLEW_OK ||
            !str_eq(buf_str(&a), buf_str(&b))) {
            abort();
        }
    }
    json_decref(first);
    json_decref(again);
    buf_release(&a);
    buf_release(&b);
    return 0;
}
