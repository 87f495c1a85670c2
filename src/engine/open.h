/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - open and close the domain on one store (core/engine.h).
 */
#ifndef ENGINE_OPEN_H
#define ENGINE_OPEN_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

struct clock;
struct config;
struct engine;

struct engine_options {
    const struct config *config;
    const char *data_dir;  /* made if missing; NULL = the configured one */
    const char *store_url; /* NULL = SQLite in data_dir */
    struct clock *clock;   /* NULL = the system's */
    bool must_exist;       /* do not create a new data folder */
};

/* The caller engine_close()s it. */
enum clew_status engine_open(const struct engine_options *options,
                             struct engine **out_engine,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Finishes what is under way. NULL is a no-op. */
void engine_close(struct engine *engine);

#endif
