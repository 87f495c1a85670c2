/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statement.h - "the deadline of Apollo is Friday": what is said of what.
 *
 * Reads the first sentence of a memory that anybody may have written, split at
 * its verb. Two statements disagree if they speak of the same and say something
 * else of it. Finds what a person should look at; nothing acts on it. For what
 * users say of themselves see slots.h, which is strict.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_STATEMENT_H
#define ENGINE_STATEMENT_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct statement {
    struct str subject;   /* "Apollo" */
    struct str attribute; /* "deadline"; empty if it names none */
    struct str about;     /* both, as written: all before the verb */
    struct str value;     /* "Friday" */
    struct str *terms;    /* of `about`, without repeats */
    size_t n_terms;
    struct str *values; /* terms of `value` */
    size_t n_values;
    bool is_negated; /* "is not", "is no longer" */
};

/* False if the text states nothing this way, or memory is short. */
bool statement_of(struct arena *arena, struct str text, struct statement *out);
/* Same thing, other value; or the same value, once denied. */
bool statement_disagrees(const struct statement *a, const struct statement *b);

#endif
