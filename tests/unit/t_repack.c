/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of stores from before they were packed: read as they are, packed some
 * at a time. On both backends. */
#include "support/test.h"
#include "support/world.h"

#include "engine/chat/turn.h"
#include "engine/core/action.h"
#include "engine/core/repack.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/core/trace.h"
#include "engine/topic/chain.h"
#include "store/db.h"
#include "task/worker.h"

#include <stdio.h>
#include <string.h>

#define N_TRACES 250
#define DETAIL "{\"by\":\"somebody\",\"note\":\"the north gate\"}"

DB_SQL(ADD_TRACE, "INSERT INTO traces (tenant, id, data) VALUES ($1, $2, $3)");
DB_SQL(ADD_ACTION,
       "INSERT INTO actions (tenant, seq, id, kind, detail, created_at)"
       " VALUES ($1, $2, $3, 'turn.read', '" DETAIL "', 5)");
#define CLAIM_IDS                                                              \
    "01943c8f-bac0-7d1c-a837-98cf39257134,01943c8f-bac0-7d1c-a837-"            \
    "98cf39257135"
DB_SQL(ADD_UPDATE,
       "INSERT INTO chain_updates (tenant, id, chain_id, position, type,"
       " claim_ids, reasoning, created_at) VALUES ($1, $2, $2, 0, 'create',"
       " '" CLAIM_IDS "', '', 7)");
DB_SQL(COUNT_PLAIN,
       "SELECT (SELECT COUNT(*) FROM traces WHERE tenant = $1 AND"
       " (packed IS NULL OR data IS NOT NULL)) + (SELECT COUNT(*) FROM actions"
       " WHERE tenant = $1 AND (packed IS NULL OR detail <> '')) + (SELECT"
       " COUNT(*) FROM chain_updates WHERE tenant = $1 AND claim_ids <> '')");
DB_SQL(COUNT_TASKS, "SELECT COUNT(*) FROM tasks WHERE tenant = $1 AND"
                    " kind = '" REPACK_TASK "' AND finished_at IS NULL");

static struct world world;

static int open_world(void **state)
{
    (void)state;
    world_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static struct uuid id_of(int n)
{
    return uuid_derive(WORLD_NOW + n, &(struct uuid){{1}}, "trace", 0);
}

static struct str data_of(int n)
{
    static char text[128];

    (void)snprintf(text, sizeof(text),
                   "{\"boundary\":{\"rule\":\"the caller named the chat\"},"
                   "\"n\":%d}",
                   n);
    return str_of(text);
}

static enum clew_status do_fill(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct uuid chat = {{2}};
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int i = 0; i < N_TRACES && status == CLEW_OK; i++) {
        struct turn turn = {.id = id_of(i),
                            .chat_id = chat,
                            .session_id = chat,
                            .seq = i + 1,
                            .user_id = STR("u"),
                            .text = STR("said"),
                            .created_at_ms = WORLD_NOW + i};

        status = db_take_changes(tx, 1, &turn.change_seq, err);
        if (status == CLEW_OK) {
            status = turn_insert(tx, &turn, err);
        }
        if (status == CLEW_OK) {
            status =
                db_exec(tx, &ADD_TRACE,
                        DB_ARGS(db_uuid(&turn.id), db_text(data_of(i))), err);
        }
    }
    if (status == CLEW_OK) {
        status = db_exec(tx, &ADD_UPDATE, DB_ARGS(db_uuid(&chat)), err);
    }
    return status == CLEW_OK
               ? db_exec(tx, &ADD_ACTION,
                         DB_ARGS(db_int(1000000), db_uuid(&chat)), err)
               : status;
}

/* The one update is as it was written. */
static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct uuid chain = {{2}};
    struct chain_event *events = NULL;
    size_t count = 0;
    enum clew_status status =
        chain_list_events(tx, &world.arena, &chain, 10, &events, &count, err);

    (void)arg;
    assert_int_equal(count, 1);
    assert_true(str_eq(events[0].claim_ids, STR(CLAIM_IDS)));
    return status;
}

struct counting {
    const struct db_sql *sql;
    int64_t count;
};

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct counting *counting = arg;

    return rows_number(tx, counting->sql, DB_NO_ARGS, &counting->count, err);
}

static int64_t count(const struct scope *scope, const struct db_sql *sql)
{
    struct counting counting = {.sql = sql};

    assert_int_equal(
        store_read(world.engine.store, scope, do_count, &counting, NULL),
        CLEW_OK);
    return counting.count;
}

static void are_as_they_were(const struct scope *scope)
{
    for (int i = 0; i < N_TRACES; i++) {
        struct uuid id = id_of(i);
        struct uuid chat = {{2}};
        struct trace trace;

        assert_int_equal(
            trace_get(&world.engine, scope, &world.arena, &id, &trace, NULL),
            CLEW_OK);
        assert_true(str_eq(trace.data, data_of(i)));
        assert_true(uuid_eq(&trace.chat_id, &chat));
        assert_int_equal(trace.created_at_ms, WORLD_NOW + i);
    }
    assert_int_equal(store_read(world.engine.store, scope, do_look, NULL, NULL),
                     CLEW_OK);
}

static void fill(const struct scope *scope)
{
    assert_int_equal(
        store_write(world.engine.store, scope, do_fill, NULL, NULL), CLEW_OK);
}

static void resume(void)
{
    assert_int_equal(repack_resume(&world.engine, &world.arena, NULL), CLEW_OK);
}

static void work(size_t limit)
{
    size_t n_run;

    assert_int_equal(worker_run_due(&world.engine, limit, &n_run, NULL),
                     CLEW_OK);
}

static void plain_texts_are_read_and_packed(void **state)
{
    (void)state;
    fill(&world.scope);
    fill(&world.other);
    are_as_they_were(&world.scope);
    resume();
    resume(); /* adds nothing */
    assert_int_equal(count(&world.scope, &COUNT_TASKS), 1);
    assert_int_equal(count(&world.scope, &COUNT_PLAIN), N_TRACES + 2);
    work(100);
    assert_int_equal(count(&world.scope, &COUNT_PLAIN), 0);
    assert_int_equal(count(&world.other, &COUNT_PLAIN), 0);
    are_as_they_were(&world.scope);
    are_as_they_were(&world.other);
    resume(); /* nothing is left to do */
    assert_int_equal(count(&world.scope, &COUNT_TASKS), 0);
}

static void what_is_broken_off_goes_on(void **state)
{
    int64_t left = N_TRACES + 2;

    (void)state;
    fill(&world.scope);
    resume();
    /* each process ends after one step; the last finds nothing more */
    for (int i = 0; left > 0; i++) {
        int64_t before = left;

        assert_true(i < 10);
        atomic_store(&world.engine.is_stopping, true);
        work(1);
        atomic_store(&world.engine.is_stopping, false);
        are_as_they_were(&world.scope);
        left = count(&world.scope, &COUNT_PLAIN);
        assert_true(left < before);
        assert_int_equal(count(&world.scope, &COUNT_TASKS), 1);
    }
    work(100);
    assert_int_equal(count(&world.scope, &COUNT_TASKS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_texts_are_read_and_packed,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(what_is_broken_off_goes_on, open_world,
                                        close_world),
    };

    return WORLD_EACH(tests);
}
