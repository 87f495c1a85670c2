/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uuid.h - UUID version 7: a time and 74 further bits.
 *
 * Fresh ids take random bits and never go back within a process. Derived ids
 * take hashed bits: what is computed from the log gets the same id whenever
 * it is computed again, which is what lets `clew rebuild` reach the same state.
 * Thread-safety: internally safe.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define UUID_TEXT_SIZE 37

struct uuid {
    uint8_t b[16];
};

/* A fresh id stamped `time_ms`. */
struct uuid uuid_new(int64_t time_ms);
/*
 * The id of the `n`-th thing of kind `kind` that follows from `source`,
 * stamped `time_ms`: equal arguments give equal ids.
 */
struct uuid uuid_derive(int64_t time_ms, const struct uuid *source,
                        const char *kind, uint64_t n);
bool uuid_eq(const struct uuid *a, const struct uuid *b);
bool uuid_is_nil(const struct uuid *id);
/* The id itself, NULL if it is nil: as JSON has it. */
const struct uuid *uuid_or_null(const struct uuid *id);
int uuid_cmp(const struct uuid *a, const struct uuid *b);
void uuid_format(const struct uuid *id, char out[UUID_TEXT_SIZE]);
/* The 36-character form of any version, either case; false otherwise. */
bool uuid_parse(struct str text, struct uuid *out_id);

#endif
