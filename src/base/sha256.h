/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 with a running digest that can be copied.
 *
 * Copying the running digest gives the hash of every prefix of a stream for
 * the cost of one pass. The compression itself is OpenSSL's.
 * Thread-safety: a struct sha256 has one owner at a time.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/str.h"

#include <openssl/sha.h>
#include <stdbool.h>
#include <stddef.h>

#define SHA256_SIZE 32
#define SHA256_HEX_SIZE 65 /* with the terminator */

struct sha256 {
    SHA256_CTX ctx; /* plain data: assignment copies the running digest */
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *bytes, size_t len);
void sha256_add_str(struct sha256 *hash, struct str text);
/* The digest so far; the running digest goes on unchanged. */
void sha256_get(const struct sha256 *hash, unsigned char out[SHA256_SIZE]);
void sha256_get_hex(const struct sha256 *hash, char out[SHA256_HEX_SIZE]);
/* One-shot forms. */
void sha256_of(struct str text, unsigned char out[SHA256_SIZE]);
void sha256_hex_of(struct str text, char out[SHA256_HEX_SIZE]);
/* Equality in constant time. */
bool sha256_equal(const unsigned char a[SHA256_SIZE],
                  const unsigned char b[SHA256_SIZE]);

/* Lower-case hex of `len` bytes; `out` holds 2*len+1. */
void hex_format(const unsigned char *bytes, size_t len, char *out);
/* Hex of exactly `len` bytes; false on any other text. */
bool hex_parse(struct str text, unsigned char *out, size_t len);

#endif
