/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_blocks.c - fuzz: any JSON as a message's content; the text is UTF-8
 * without NUL, and what is kept verbatim reads back.
 */
#include "base/json.h"
#include "base/utf8.h"
#include "engine/chat/content.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static bool is_set_up;

    struct str text = {(const char *)data, len};
    struct content content = {0};
    struct arena arena;
    json_t *value = NULL;
    json_t *again = NULL;

    if (!is_set_up) {
        json_setup(); /* as the program does: digits are kept */
        is_set_up = true;
    }
    if (json_parse(text, &value, NULL) != CLEW_OK) {
        return 0;
    }
    arena_init(&arena, 1 << 26);
    if (content_parse(&arena, value, 1 << 20, &content, NULL) == CLEW_OK) {
        if (!content.text.s || !utf8_is_valid(content.text) ||
            memchr(content.text.s, 0, content.text.len)) {
            abort();
        }
        if (content.json.s &&
            (json_parse(content.json, &again, NULL) != CLEW_OK ||
             !json_equal(value, again))) {
            abort();
        }
    }
    json_decref(again);
    json_decref(value);
    arena_release(&arena);
    return 0;
}
