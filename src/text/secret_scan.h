/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_scan.h - find what nobody else should read in a text.
 *
 * API keys of the common providers by their prefixes, bearer and JSON web
 * tokens, private keys, card numbers with a valid checksum, passwords in
 * addresses ("postgres://user:…@host") and on command lines ("mysql -p…"), and
 * passwords, PINs and keys that are said as such: in sentences of some twenty
 * languages ("mein Passwort ist …", "密码是…"), in code and configuration
 * (PGPASSWORD=…), in JSON and in JSON that is quoted in it. What only looks
 * random (hashes, UUIDs, order numbers, images in base64) is none.
 *
 * A guess either way: a secret without prefix or label is not found, and a
 * word after "password:" may be no password. secret_tables.c has the
 * labels; secret_said.c the rules for how things are said, secret_value.c those
 * for what a value looks like.
 * Thread-safety: pure functions; nothing is allocated.
 */
#ifndef TEXT_SECRET_SCAN_H
#define TEXT_SECRET_SCAN_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum secret_kind {
    SECRET_API_KEY,
    SECRET_TOKEN,
    SECRET_PASSWORD,
    SECRET_PRIVATE_KEY,
    SECRET_CARD
};

/* Bytes [from, to) of the text. */
struct secret_span {
    size_t from;
    size_t to;
    enum secret_kind kind;
};

/* "api_key", "token", "password", "private_key", "card". */
const char *secret_kind_name(enum secret_kind kind);

/* The first secret that begins at or after `at`; false if there is none. */
bool secret_scan_find(struct str text, size_t at, struct secret_span *out);

/*
 * Put stars over every secret, byte by byte, so that all else keeps its place;
 * line breaks stay. Returns how many there were. What was masked holds none.
 */
size_t secret_scan_mask(char *text, size_t len);

#endif
