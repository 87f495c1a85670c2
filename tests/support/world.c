/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - see world.h.
 */
#include "support/test.h"

#include "support/world.h"

#include "base/config.h"
#include "base/json.h"
#include "engine/read/verdicts.h"
#include "model/embed.h"
#include "model/reader.h"
#include "store/db.h"
#include "support/pg.h"

const char *world_backend = "sqlite";

DB_SQL_SYSTEM(ADD_TENANT,
              "INSERT INTO tenants (tenant, name, created_at, change_seq)"
              " VALUES ($1, $2, 0, 0)");

static enum clew_status add_tenants(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    enum clew_status status =
        db_exec(tx, &ADD_TENANT, DB_ARGS(db_int(1), db_cstr("one")), err);

    (void)arg;
    if (status != CLEW_OK) {
        return status;
    }
    return db_exec(tx, &ADD_TENANT, DB_ARGS(db_int(2), db_cstr("two")), err);
}

void world_use_reader(struct world *world)
{
    static struct reader *reader; /* nothing changes it */
    struct clew_error err = {0};

    if (!reader && reader_open(NULL, &reader, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    world->engine.reader = reader;
    if (!world->engine.verdicts) {
        world->engine.verdicts = verdicts_new();
    }
}

void world_open(struct world *world)
{
    struct store_options options = {.location = ":memory:"};
    struct clew_error err = {0};
    char url[512];

    memset(world, 0, sizeof(*world));
    if (strcmp(world_backend, "postgres") == 0) {
        pg_new_store(url, sizeof(url));
        options.location = url;
    }
    clock_init_fake(&world->clock, WORLD_NOW);
    setenv("CLEW_CONFIG", "", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    unsetenv("CLEW_CONFIG");
    assert_int_equal(config_load(NULL, NULL, 0, &world->config, &err), CLEW_OK);
    if (store_open(&options, &world->engine.store, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    world->engine.clock = &world->clock;
    world->engine.embedder = embed_static();
    world->engine.config = world->config;
    world->scope.tenant = 1;
    world->other.tenant = 2;
    arena_init(&world->arena, (size_t)1 << 32);
    if (store_write_system(world->engine.store, add_tenants, NULL, &err) !=
        CLEW_OK) {
        fail_msg("%s", err.message);
    }
}

void world_close(struct world *world)
{
    verdicts_free(world->engine.verdicts);
    arena_release(&world->arena);
    store_close(world->engine.store);
    config_free(world->config);
}

int world_each(const struct CMUnitTest *tests, size_t count)
{
    static const char *const backends[] = {"sqlite", "postgres"};
    int failed = 0;

    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        world_backend = backends[i];
        failed +=
            _cmocka_run_group_tests(backends[i], tests, count, NULL, NULL);
    }
    return failed;
}
