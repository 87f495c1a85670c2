/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - settings: one table of keys; values from file, environment, flags.
 *
 * Keys are dotted ("server.listen"). Precedence: flag, environment
 * (CLEW_SERVER_LISTEN), file, default. The file is YAML whose nested maps are
 * the dots. An unknown key or a value of the wrong type is an error with file,
 * line and key; nothing is half loaded. Variables that start with CLEW_ but
 * name no key are left alone: other programs may own them.
 * A key ending in ".*" in the table (config_keys.def) stands for any name
 * there: "channels.*", "proxy.upstreams.*".
 * Thread-safety: immutable after config_load(); share freely.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct config;

enum config_type {
    CONFIG_STR,
    CONFIG_SECRET, /* a string that is never shown */
    CONFIG_INT,
    CONFIG_SIZE, /* an INT that may be written 64K, 16M, 2G, 1T */
    CONFIG_REAL,
    CONFIG_BOOL, /* true/false, yes/no, on/off, 1/0 */
    CONFIG_CHOICE
};

/* A row of the table. */
struct config_key {
    const char *name;
    enum config_type type;
    const char *fallback; /* default, as it would be written in the file */
    const char *allowed;  /* "a|b", "low..high" or "" */
    const char *help;
};

/* The table; `*out_n` rows. */
const struct config_key *config_keys(size_t *out_n);

/* One override from the command line. */
struct config_flag {
    const char *key;
    const char *value;
};

/*
 * Read the configuration. `path` NULL means $CLEW_CONFIG, else
 * $XDG_CONFIG_HOME/clew/clew.yaml (then $HOME/.config/…), which may be missing;
 * a named file must exist. The caller frees it with config_free().
 */
enum clew_status config_load(const char *path, const struct config_flag *flags,
                             size_t n_flags, struct config **out_config,
                             struct clew_error *err) CLEW_MUST_CHECK;
void config_free(struct config *config);

/* Values; the key must be in the table (assert) or match a ".*" row. A missing
 * ".*" key gives NULL, 0 or false. Strings live as long as the config. */
const char *config_str(const struct config *config, const char *key);
int64_t config_int(const struct config *config, const char *key);
double config_real(const struct config *config, const char *key);
bool config_bool(const struct config *config, const char *key);

/* Call `fn` for every key set under `prefix` ("channels."), in order. */
typedef void (*config_each_fn)(void *arg, const char *key, const char *value);
void config_each(const struct config *config, const char *prefix,
                 config_each_fn fn, void *arg);

/* The folder of the configuration file (for agents/ and friends). */
const char *config_dir(const struct config *config);
/* `$XDG_DATA_HOME/clew` or `$HOME/.local/share/clew`, unless "data.dir" is set.
 */
const char *config_data_dir(const struct config *config);
/* "KEY = VALUE  # where from" for every key, secrets as "***". */
enum clew_status config_show(const struct config *config, bool as_json,
                             struct buf *out) CLEW_MUST_CHECK;

#endif
