/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meant.c - the commands somebody meant. See meant.h.
 */
#include "cli/core/meant.h"

#include "base/near.h"
#include "cli/core/cli.h"

#include <string.h>

/* The words of a command's name; the second is empty if there is none. */
static void words_of(const struct command *command, struct str *out_first,
                     struct str *out_second)
{
    struct str name = str_of(command->name);
    size_t space = strcspn(name.s, " ");

    *out_first = str_sub(name, 0, space);
    *out_second = str_sub(name, space + 1, name.len);
}

/* The nearest command of two words; NULL if none is near. */
static const struct command *near_pair(const struct cli_row *rows,
                                       struct str first, struct str second)
{
    const struct command *best = NULL;
    size_t least = SIZE_MAX;

    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        struct str a;
        struct str b;
        size_t n_first;
        size_t n_second;

        words_of(row->command, &a, &b);
        if (b.len > 0 && near_edits(first, a, &n_first) &&
            near_edits(second, b, &n_second) && n_first + n_second < least) {
            least = n_first + n_second;
            best = row->command;
        }
    }
    return best;
}

static size_t list_begun(const struct cli_row *rows, struct str word,
                         const char *out[MEANT_MAX + 1])
{
    size_t n = 0;

    for (const struct cli_row *row = cli_next(rows); row && n < MEANT_MAX;
         row = cli_next(row + 1)) {
        if (str_starts(str_of(row->command->name), word)) {
            out[n++] = row->command->name;
        }
    }
    return n;
}

/* All commands of the nearest first word. */
static size_t list_near(const struct cli_row *rows, struct str word,
                        const char *out[MEANT_MAX + 1])
{
    struct near near;
    struct str first;
    struct str second;
    size_t n = 0;

    near_init(&near, word);
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        words_of(row->command, &first, &second);
        near_offer(&near, first);
    }
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        words_of(row->command, &first, &second);
        if (n < MEANT_MAX && str_eq(first, near.name)) {
            out[n++] = row->command->name;
        }
    }
    return n;
}

size_t meant_commands(const struct cli_row *rows, int argc, char *const *argv,
                      const char *out[MEANT_MAX + 1])
{
    const struct command *pair = NULL;
    size_t n = 0;

    if (argc > 1) {
        pair = near_pair(rows, str_of(argv[0]), str_of(argv[1]));
    }
    if (pair) {
        out[n++] = pair->name;
    } else if (argc > 0 && argv[0][0] && argv[0][0] != '-') {
        n = list_begun(rows, str_of(argv[0]), out);
        n = n > 0 ? n : list_near(rows, str_of(argv[0]), out);
    }
    out[n] = NULL;
    return n;
}

const char *meant_below(const struct cli_row *rows,
                        const struct command *command, const char *word)
{
    const struct command *pair =
        near_pair(rows, str_of(command->name), str_of(word));
    size_t len = strlen(command->name);

    return pair && strncmp(pair->name, command->name, len) == 0 &&
                   pair->name[len] == ' '
               ? pair->name
               : NULL;
}
