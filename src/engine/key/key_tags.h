/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_tags.h - which keys are right, without asking the store about each.
 *
 * Who shares an address with somebody that guesses keys must get in with a
 * right one, and guesses must cost the store nothing. So the tags of all valid
 * keys, 64 bits of the digest of id and secret, are listed together, as often
 * as keys change and else once in LIMIT_KEY_CACHE_MS at most, longer where they
 * are many. A tag lets nobody in: whose is listed is asked about like any
 * other. A guess costs the same whether or not there is a key of its id.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_KEY_TAGS_H
#define ENGINE_KEY_TAGS_H

#include "base/sha256.h"
#include "base/str.h"
#include "engine/key/key_memory.h"

#include <stddef.h>
#include <stdint.h>

struct key_tags;

enum key_tags_word {
    KEY_TAGS_LISTED,
    KEY_TAGS_NOT_LISTED,
    KEY_TAGS_OUTDATED /* list them, then key_tags_put() */
};

/* NULL without memory. */
struct key_tags *key_tags_new(void);
void key_tags_free(struct key_tags *tags);

/* Of a key's id and the SHA-256 of its secret. */
uint64_t key_tag(struct str id, const unsigned char hash[SHA256_SIZE]);

/*
 * Is it listed, as of `at`? The first that finds the list outdated is told so
 * and must put another; the others wait for it, LIMIT_KEY_LIST_WAIT_MS after it
 * began at most, and go by the old one then.
 */
enum key_tags_word key_tags_look(struct key_tags *tags, struct key_moment at,
                                 uint64_t tag);

/* The list as it was read after `at`; takes ownership of `list`. NULL: it could
 * not be read, and is not tried again before its time. */
void key_tags_put(struct key_tags *tags, struct key_moment at, uint64_t *list,
                  size_t count);

#endif
