/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.c - fuzz: no text is a cursor that was not made by us; any payload
 * comes back.
 */
#include "api/answer/cursor.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const unsigned char key[CURSOR_KEY_SIZE] = {1, 2, 3};
    struct cursor_scope scope = {key, 1, "/list"};
    struct str input = {(const char *)data, len};
    struct str out = {0};
    struct str text;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    if (cursor_parse(&scope, &arena, input, &out, NULL) == CLEW_OK) {
        abort(); /* a forged seal */
    }
    text = cursor_format(&scope, &arena, input);
    if (text.s && (cursor_parse(&scope, &arena, text, &out, NULL) != CLEW_OK ||
                   !str_eq(out, input))) {
        abort();
    }
    arena_release(&arena);
    return 0;
}
