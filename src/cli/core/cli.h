/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - what a command of the program is, and what it is given.
 *
 * Each command is one struct command in its own cmd_*.c and one line in
 * commands.def. It reads its words from `cli->args`, makes API calls with
 * cli_call(), and prints: JSON if asked, else for people. It returns a status;
 * main() prints the error and turns the status into the exit code.
 * Thread-safety: none; one command runs in the main thread.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "cli/core/args.h"
#include "cli/core/output.h"

#include <jansson.h>
#include <stdbool.h>

struct client;
struct cli;
struct config;
struct engine;
struct scope;

struct command {
    const char *name;     /* one word, or two: "keys create" */
    const char *operands; /* for the usage line: "CHAT [TITLE]", may be "" */
    size_t min_operands;
    size_t max_operands;
    const char *summary; /* one sentence, lower case, no full stop */
    const char *example; /* one line that can be typed */
    const struct arg_option *options; /* its own; NULL for none */
    enum clew_status (*run)(struct cli *cli, struct clew_error *err);
    /*
     * Of commands that are one call and no more (cmd_plain.c): its method, its
     * path with {} for the first operand, and the body's fields for the
     * others: "POST /api/v1/links/{}/feedback outcome".
     */
    const char *call;
    /* How such a command's answer is shown; NULL: a value a line. */
    enum clew_status (*show)(struct cli *cli, const json_t *answer,
                             struct clew_error *err);
    bool sends_zone;       /* what is said there is of the local zone */
    bool takes_bad_config; /* runs with the defaults instead */
    bool makes_store; /* where there is none; others only read what is there */
};

/* A row of commands.def: a heading or a command; neither in the last. */
struct cli_row {
    const char *heading;
    const struct command *command;
};
/* Every command with its headings. */
const struct cli_row *cli_rows(void);
/* The row itself if it is a command, else the next that is; NULL after the
 * last: for (r = cli_next(rows); r; r = cli_next(r + 1)). */
const struct cli_row *cli_next(const struct cli_row *row);
/* The command that argv names and how many words that took, or NULL. */
const struct command *cli_find(const struct cli_row *rows, int argc,
                               char *const *argv, int *out_words);

struct cli {
    const struct cli_row *rows; /* cli_rows(), for commands about commands */
    const struct command *command;
    struct args args;
    struct arena arena; /* for whatever the command makes */
    struct config *config;
    struct client *client; /* NULL until the first call */
    struct output out;
    bool as_json; /* --json */
    /* Why the settings could not be read; only commands that mend meet it. */
    struct clew_error config_error;
};

/* Run one command line (without the program's name); the exit code. */
int cli_run(int argc, char *const *argv);

/* The client, opened on the first use. */
enum clew_status cli_client(struct cli *cli, struct client **out_client,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The engine on the data folder. CLEW_UNSUPPORTED with a server's address. */
enum clew_status cli_engine(struct cli *cli, struct engine **out_engine,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The same, and the tenant that --tenant names ("default" without). */
enum clew_status cli_tenant(struct cli *cli, struct engine **out_engine,
                            struct scope *out_scope,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Are calls carried out by this very program? */
bool cli_is_here(const struct cli *cli);
/* Say on the standard error, unless JSON is asked for, how many turns wait to
 * be read, and who does it: what was made of them is not all there yet. */
void cli_note_unread(struct cli *cli);
/* client_call() that takes `body` (may be NULL). */
enum clew_status cli_call(struct cli *cli, const char *method, const char *path,
                          json_t *body, json_t **out_json,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* An answer as it comes, in pieces; false breaks it off. The body stays the
 * caller's. */
enum clew_status cli_stream(struct cli *cli, const char *method,
                            const char *path, const json_t *body,
                            bool (*sink)(void *arg, const char *bytes,
                                         size_t len),
                            void *arg, struct clew_error *err) CLEW_MUST_CHECK;

/* Call, and print what came back: as JSON if asked, else by `show`. Takes
 * `body` (may be NULL). */
typedef enum clew_status (*cli_show_fn)(struct cli *cli, const json_t *answer,
                                        struct clew_error *err);
enum clew_status cli_show(struct cli *cli, const char *method, const char *path,
                          json_t *body, cli_show_fn show,
                          struct clew_error *err) CLEW_MUST_CHECK;

/* Append with everything but letters, digits and "-_.~" as %XX. */
void cli_encode(struct buf *out, struct str text);
/* "<base>/<id><tail>" with the id percent-encoded; NULL without memory. */
char *cli_path(struct cli *cli, const char *base, const char *id,
               const char *tail);
/* The path with "name=value" added to its query; a NULL value adds nothing.
 * NULL if `path` is NULL or memory is out, so that calls can be chained. */
char *cli_query(struct cli *cli, char *path, const char *name,
                const char *value);
/* The path of a list, with the options --limit and --cursor as its query. */
enum clew_status cli_page(struct cli *cli, const char *base, char **out_path,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* Set `field` to an option's value if it was given; false without memory. */
bool cli_set_option(const struct cli *cli, json_t *body, const char *field,
                    const char *option);
/* A string member or "". */
const char *cli_field(const json_t *object, const char *field);
/* The member's time as people say it, in the arena; "" if it is not there. */
const char *cli_when(struct cli *cli, const json_t *object, const char *field);
/* The same as its local date, and with the minute if it `has_clock`. */
const char *cli_date(struct cli *cli, const json_t *object, const char *field,
                     bool has_clock);
/* Any JSON, a value a line, indented. */
void cli_show_tree(struct cli *cli, const json_t *json);
/* Append a whole file, "-" for stdin. CLEW_NOT_FOUND if it cannot be read,
 * CLEW_TOO_LARGE past the buffer's limit. */
enum clew_status cli_read_file(const char *path, struct buf *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* An operand; "-" reads all of stdin instead, up to `limit` bytes. */
enum clew_status cli_text(struct cli *cli, size_t operand, size_t limit,
                          struct str *out,
                          struct clew_error *err) CLEW_MUST_CHECK;

/* Help, for `clew help` and `--help`. */
void cli_help_all(const struct output *out, const struct cli_row *rows);
void cli_help_command(const struct output *out, const struct command *command);

#endif
