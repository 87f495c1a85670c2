/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meant.h - the commands somebody meant who typed another.
 *
 * Those the words begin, else the nearest of two words, else those of the
 * nearest first word: "keys", "keys lst", "memmories".
 * Thread-safety: none; the main thread.
 */
#ifndef CLI_MEANT_H
#define CLI_MEANT_H

#include <stddef.h>

struct cli_row;
struct command;

#define MEANT_MAX 16

/* Their names, and NULL behind the last; how many. */
size_t meant_commands(const struct cli_row *rows, int argc, char *const *argv,
                      const char *out[MEANT_MAX + 1]);

/* The command of two words that `command` with this behind it may have been:
 * "links feedback" for "links" and "feedbck"; NULL if there is none. */
const char *meant_below(const struct cli_row *rows,
                        const struct command *command, const char *word);

#endif
