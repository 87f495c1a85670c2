/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokenizer.c - fuzz: a tokenizer.json, a NUL, and a text to cut with it.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "model/bert_internal.h"

#include <stdint.h>
#include <string.h>

#define CAP 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void cut(const struct str *tokens, size_t count, bool is_cased,
                struct str text)
{
    struct wordpiece *wordpiece = NULL;
    uint32_t ids[CAP];

    if (wordpiece_new(tokens, count, is_cased, &wordpiece, NULL) == CLEW_OK) {
        size_t n = wordpiece_run(wordpiece, text, ids, CAP);

        for (size_t i = 0; i < n; i++) {
            if (ids[i] >= count) {
                abort();
            }
        }
    }
    wordpiece_free(wordpiece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str input = {(const char *)data, len};
    const char *end = len ? memchr(input.s, '\0', len) : NULL;
    size_t split = end ? (size_t)(end - input.s) : len;
    struct str *tokens = NULL;
    json_t *json = NULL;
    struct arena arena;
    size_t count = 0;

    arena_init(&arena, 1 << 24);
    if (json_parse(str_sub(input, 0, split), &json, NULL) == CLEW_OK &&
        bert_read_tokenizer(json, &arena, &tokens, &count, NULL) == CLEW_OK) {
        cut(tokens, count, false, str_sub(input, split, len));
        cut(tokens, count, true, str_sub(input, split, len));
    }
    json_decref(json);
    arena_release(&arena);
    return 0;
}
