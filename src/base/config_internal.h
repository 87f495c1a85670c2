/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_internal.h - what the config_*.c files share.
 */
#ifndef BASE_CONFIG_INTERNAL_H
#define BASE_CONFIG_INTERNAL_H

#include "base/config.h"

struct config_value {
    int64_t number; /* INT, SIZE, BOOL */
    double real;    /* REAL */
};

/*
 * Check a text against its row. False fills `out_problem` ("must be ..."),
 * without the text itself: it may be a secret in the wrong place.
 */
bool config_parse(const struct config_key *key, struct str text,
                  struct config_value *out_value, char *out_problem,
                  size_t cap);

/*
 * Read the YAML file at `path` and `set` each value (config_set). A missing
 * file is CLEW_NOT_FOUND.
 */
typedef enum clew_status (*config_set_fn)(struct config *config, struct str key,
                                          struct str value, const char *from,
                                          struct clew_error *err);
enum clew_status config_read_file(struct config *config, const char *path,
                                  config_set_fn set,
                                  struct clew_error *err) CLEW_MUST_CHECK;

#endif
