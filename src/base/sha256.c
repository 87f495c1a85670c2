/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - SHA-256 over OpenSSL's low-level calls. See sha256.h.
 *
 * The low-level interface is marked deprecated since OpenSSL 3, but it is the
 * one whose state is plain data: EVP contexts cost an allocation per copy,
 * and prefix digests copy once per message.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/crypto.h>

void sha256_init(struct sha256 *hash)
{
    (void)SHA256_Init(&hash->ctx); /* cannot fail */
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t len)
{
    if (len > 0) {
        (void)SHA256_Update(&hash->ctx, bytes, len); /* cannot fail */
    }
}

void sha256_add_str(struct sha256 *hash, struct str text)
{
    sha256_add(hash, text.s, text.len);
}

void sha256_get(const struct sha256 *hash, unsigned char out[SHA256_SIZE])
{
    SHA256_CTX copy = hash->ctx;

    (void)SHA256_Final(out, &copy); /* cannot fail */
}

void sha256_get_hex(const struct sha256 *hash, char out[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];

    sha256_get(hash, digest);
    hex_format(digest, sizeof(digest), out);
}

void sha256_of(struct str text, unsigned char out[SHA256_SIZE])
{
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add_str(&hash, text);
    sha256_get(&hash, out);
}

void sha256_hex_of(struct str text, char out[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];

    sha256_of(text, digest);
    hex_format(digest, sizeof(digest), out);
}

bool sha256_equal(const unsigned char a[SHA256_SIZE],
                  const unsigned char b[SHA256_SIZE])
{
    return CRYPTO_memcmp(a, b, SHA256_SIZE) == 0;
}

void hex_format(const unsigned char *bytes, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hex_parse(struct str text, unsigned char *out, size_t len)
{
    if (text.len != 2 * len) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        int high = nibble(text.s[2 * i]);
        int low = nibble(text.s[2 * i + 1]);

        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
