/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a store, a clock and two tenants, for tests of the engine.
 *
 * Runs on each backend: world_each() repeats a group of tests on SQLite and on
 * a private PostgreSQL.
 */
#ifndef SUPPORT_WORLD_H
#define SUPPORT_WORLD_H

#include "base/arena.h"
#include "base/clock.h"
#include "engine/core/engine.h"
#include "store/store.h"

#include <stddef.h>

struct config;

#define WORLD_NOW 1771200000000LL /* 2026-02-16T00:00:00Z */

struct world {
    struct engine engine;
    struct clock clock;
    struct config *config;
    struct scope scope;
    struct scope other; /* another tenant */
    struct arena arena; /* emptied with the world */
};

/* The next world_open() uses this; "sqlite" or "postgres". */
extern const char *world_backend;

/* Run a group of tests on each backend; returns how many failed. */
struct CMUnitTest;
int world_each(const struct CMUnitTest *tests, size_t count);
/* The same for an array. */
#define WORLD_EACH(tests) world_each(tests, sizeof(tests) / sizeof((tests)[0]))

void world_open(struct world *world);
/* From now on the shipped reader reads turns; else rules do, so that what a
 * test says means the same whatever a reader has learnt. */
void world_use_reader(struct world *world);
void world_close(struct world *world);

#endif
