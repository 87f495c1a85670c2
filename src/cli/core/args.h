/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - the words after a command: options and operands.
 *
 * "--name value", "--name=value", "-n value" and flags, in any order; "--" ends
 * the options. A row that names a configuration key sets it, so that `--data`
 * and `data.dir` are one thing. Strings are borrowed from argv.
 * Thread-safety: none.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "base/near.h"
#include "base/config.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

#define ARGS_MAX 256

struct arg_option {
    const char *name;  /* long form without dashes; NULL ends a list */
    char letter;       /* short form, 0 without one */
    const char *value; /* what to call the value in help; NULL for a flag */
    const char *key;   /* configuration key it sets, or NULL; with ".*" at the
                          end its value is NAME=VALUE */
    const char *help;
};

struct args {
    struct {
        const struct arg_option *option;
        const char *value; /* NULL for a flag */
    } given[ARGS_MAX];
    size_t n_given;
    const char *operands[ARGS_MAX];
    size_t n_operands;
};

/* Options that every command has. */
extern const struct arg_option args_common[];

/*
 * Read `argc` words. `own` may be NULL. CLEW_INVALID names the word that is
 * not understood.
 */
enum clew_status args_parse(const struct arg_option *own, int argc,
                            char *const *argv, struct args *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* How many words of `argv` are options of every command that stand before the
 * command itself: "--url URL recall" has two. */
int args_before(int argc, char *const *argv);
/* The end of an error about an unknown long option, as near_text(): the one of
 * this command, or of every one, that was meant. */
void args_meant(const struct arg_option *own, const char *word,
                char out[NEAR_TEXT_SIZE]);
bool args_has(const struct args *args, const char *name);
/* Does any word ask for JSON, if only as "--json=1"? Of words that could not be
 * parsed: what was wrong may stand before it. */
bool args_name_json(int argc, char *const *argv);
/* The last value given, or NULL. */
const char *args_str(const struct args *args, const char *name);
/* A whole number from `min` to `max`; `*out` stays if it is not given. */
enum clew_status args_int(const struct args *args, const char *name,
                          int64_t min, int64_t max, int64_t *out,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* Every value of an option that may be repeated: the i-th, or NULL. */
const char *args_nth(const struct args *args, const char *name, size_t i);
/*
 * The configuration keys that options and "--set KEY=VALUE" ask for; at most
 * ARGS_MAX, into `out`, with keys of --set copied into the arena.
 */
struct arena;
enum clew_status args_config(const struct args *args, struct arena *arena,
                             struct config_flag *out, size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
