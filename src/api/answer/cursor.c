/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.c - sealed list positions. See cursor.h.
 */
#include "api/answer/cursor.h"

#include "base/sha256.h"

#include <string.h>

#define SEAL_SIZE SHA256_SIZE
#define KEPT_SIZE 16 /* bytes of the seal that travel */
#define BLOCK_SIZE 64
#define MAX_RAW (KEPT_SIZE + CURSOR_MAX_PAYLOAD)

/* HMAC-SHA256(key, tenant . list . 0 . payload). */
static void seal(const struct cursor_scope *scope, struct str payload,
                 unsigned char out[SEAL_SIZE])
{
    unsigned char pad[BLOCK_SIZE] = {0};
    unsigned char tenant[8];
    struct sha256 hash;

    for (int i = 0; i < 8; i++) {
        tenant[i] = (unsigned char)((uint64_t)scope->tenant >> (8 * i));
    }
    memcpy(pad, scope->key, CURSOR_KEY_SIZE);
    for (int i = 0; i < BLOCK_SIZE; i++) {
        pad[i] ^= 0x36;
    }
    sha256_init(&hash);
    sha256_add(&hash, pad, sizeof(pad));
    sha256_add(&hash, tenant, sizeof(tenant));
    sha256_add(&hash, scope->list, strlen(scope->list) + 1);
    sha256_add_str(&hash, payload);
    sha256_get(&hash, out);
    for (int i = 0; i < BLOCK_SIZE; i++) {
        pad[i] ^= 0x36 ^ 0x5c;
    }
    sha256_init(&hash);
    sha256_add(&hash, pad, sizeof(pad));
    sha256_add(&hash, out, SEAL_SIZE);
    sha256_get(&hash, out);
    explicit_bzero(pad, sizeof(pad));
}

struct str cursor_format(const struct cursor_scope *scope, struct arena *arena,
                         struct str payload)
{
    unsigned char expected[SEAL_SIZE];
    size_t len = KEPT_SIZE + payload.len;
    char *text;

    if (payload.len > CURSOR_MAX_PAYLOAD) {
        return (struct str){0};
    }
    text = arena_alloc(arena, 2 * len + 1);
    if (!text) {
        return (struct str){0};
    }
    seal(scope, payload, expected);
    hex_format(expected, KEPT_SIZE, text);
    if (payload.len > 0) {
        hex_format((const unsigned char *)payload.s, payload.len,
                   text + 2 * KEPT_SIZE);
    }
    return (struct str){text, 2 * len};
}

static enum clew_status refuse(struct clew_error *err)
{
    return clew_fail_field(err, "cursor", "this cursor does not belong here");
}

enum clew_status cursor_parse(const struct cursor_scope *scope,
                              struct arena *arena, struct str text,
                              struct str *out_payload, struct clew_error *err)
{
    unsigned char expected[SEAL_SIZE];
    unsigned char given[SEAL_SIZE];
    unsigned char *raw;
    size_t len = text.len / 2;
    struct str payload;

    if (len < KEPT_SIZE || len > MAX_RAW) {
        return refuse(err);
    }
    raw = arena_alloc(arena, len + 1);
    if (!raw) {
        return clew_no_memory(err);
    }
    if (!hex_parse(text, raw, len)) {
        return refuse(err);
    }
    payload = (struct str){(const char *)raw + KEPT_SIZE, len - KEPT_SIZE};
    seal(scope, payload, expected);
    /* The bytes that do not travel count as right. */
    memcpy(given, raw, KEPT_SIZE);
    memcpy(given + KEPT_SIZE, expected + KEPT_SIZE, SEAL_SIZE - KEPT_SIZE);
    if (!sha256_equal(given, expected)) {
        return refuse(err);
    }
    raw[len] = '\0';
    *out_payload = payload;
    return CLEW_OK;
}
