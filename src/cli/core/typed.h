/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h - what people type, and what the API takes for it.
 *
 * Which words are ids and which are times says the command's own usage: an
 * operand CHAT, an option --since TIME. Ids may be given by their beginning, a
 * turn by its chat and number (CHAT:3), times in words ("yesterday", "3 days
 * ago", "2h") in the local zone.
 * Thread-safety: none; the main thread.
 */
#ifndef CLI_TYPED_H
#define CLI_TYPED_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cli;

/* How many columns of an id tell it from most others. */
#define TYPED_ID_COLUMNS 13

/*
 * Put ids and times in place of what was typed. A beginning that several
 * things share is CLEW_INVALID and names them, one that none has is
 * CLEW_NOT_FOUND.
 */
enum clew_status typed_resolve(struct cli *cli,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* Set the body's "timezone" to --timezone, else to that of this machine, by
 * which "tomorrow" is meant; nothing for UTC. False without memory. */
bool typed_set_zone(struct cli *cli, json_t *body);

/* Where the error is about a field of the API, let it name the option that was
 * typed for it. */
void typed_blame(const struct cli *cli, struct clew_error *err);

#endif
