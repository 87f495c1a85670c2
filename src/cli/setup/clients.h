/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.h - the programs clew can be connected to, and their files.
 *
 * Thread-safety: none; the main thread.
 */
#ifndef CLI_CLIENTS_H
#define CLI_CLIENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "cli/setup/base_url.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* The name of our entry in each of them. */
#define CLIENTS_ENTRY "clew"
#define CLIENTS_MAX_BYTES (16u * 1024 * 1024)

/* How a client writes an MCP entry. */
enum clients_form {
    CLIENTS_CLAUDE, /* "type": "stdio", a command and its arguments */
    CLIENTS_CURSOR, /* a command and its arguments */
    CLIENTS_OPENCODE,
    CLIENTS_CODEX,
    CLIENTS_ZED
};

struct clients_place {
    const char *client;
    enum clients_form form;
    const char *variable; /* names the folder if it is set */
    const char *folder;   /* else this one below HOME */
    const char *file;     /* in that folder */
    const char *skill;    /* below HOME, or in the folder with "./"; NULL: it
                             knows none */
    const char *group;    /* where entries are */
    const char *names;    /* how the names that its calls carry begin, to MCP
                             and as a User-Agent, with "|" between */
    const char *proxy;    /* file below HOME where its base URL is set; NULL:
                             in `file`, if it can be set at all */
    struct base_url url;  /* how it is written there */
};

/* Every client; the last has a NULL name. */
extern const struct clients_place clients_places[];

/* The place of a client, or NULL. */
const struct clients_place *clients_find(const char *name);
/* Is it this client that calls itself so? "codex" also is "codex_cli_rs". */
bool clients_is_name(const struct clients_place *place, struct str name);
/* Where its configuration and its skill (NULL for none) are, in the arena.
 * CLEW_INVALID where HOME is not set. */
enum clew_status clients_paths(struct arena *arena,
                               const struct clients_place *place,
                               const char **out_config, const char **out_skill,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The file where its base URL is set, in the arena; NULL if there is none. */
const char *clients_proxy_path(struct arena *arena,
                               const struct clients_place *place);
/* Every name, with ", " between, in the arena. */
const char *clients_names(struct arena *arena);
/* The program our entry in `text` (its configuration) starts, in the arena;
 * NULL if there is no entry or it cannot be read. */
const char *clients_program(struct arena *arena,
                            const struct clients_place *place, struct str text);

#endif
