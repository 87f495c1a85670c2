/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_digits.h - the digits a number was written with, beside its value.
 *
 * A JSON number is a text: 1.10, -0.0 and decimals longer than a double are
 * not what their value is written as. Who keeps content verbatim keeps them:
 * json_parse() leaves the digits with each number whose value may not give
 * them back, json_write() writes them.
 *
 * They lie behind the node, in room that jansson's allocator (ours) leaves
 * after everything: the node stays an ordinary number for all who read its
 * value, and is freed as one. Where another part of the program has set
 * jansson's allocator since, numbers are their values, as they were.
 * Thread-safety: as the tree's.
 */
#ifndef BASE_JSON_DIGITS_H
#define BASE_JSON_DIGITS_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>

/* Give jansson our allocator, and learn how large a number is. Once, before
 * threads. */
void json_digits_setup(void);

/* Did this thread's jansson lack memory since the last time this was asked? It
 * goes on after some failures, with a byte less. */
bool json_ran_out(void);

/*
 * Leave the digits with the numbers of `*tree`, which was parsed from `text`;
 * with all of them, or only where they matter. `*tree` itself is replaced if it
 * is a number.
 */
enum clew_status json_digits_keep(struct str text, bool all, json_t **tree,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* A number's digits; s == NULL if its value says it all. */
struct str json_digits_of(const json_t *number);
/* json_deep_copy() that copies them, too. NULL without memory. */
json_t *json_digits_copy(const json_t *tree);

#endif
