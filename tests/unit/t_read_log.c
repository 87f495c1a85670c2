/* SPDX-License-Identifier: Apache-2.0 */
/* Readings in stretches: listed among the other actions in the log's order,
 * whole or in pages; gone with their turns; moved from where they stood before.
 * On both backends. */
#include "support/test.h"
#include "support/world.h"

#include "engine/chat/turn.h"
#include "engine/core/action.h"
#include "engine/core/read_log.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/proof/renew.h"
#include "store/db.h"
#include "task/worker.h"

#define N_TURNS 300
#define LIMIT 10000

DB_SQL(DROP_TURN, "DELETE FROM turns WHERE tenant = $1 AND id = $2");
DB_SQL(DROP_READINGS, "DELETE FROM readings WHERE tenant = $1");
DB_SQL(COUNT_ROWS, "SELECT COUNT(*) FROM readings WHERE tenant = $1");
DB_SQL(COUNT_ACTIONS, "SELECT COUNT(*) FROM actions WHERE tenant = $1");
DB_SQL(SET_LETTERS, "UPDATE readings SET entries = $2 WHERE tenant = $1");
DB_SQL(ADD_OLD, "INSERT INTO actions (tenant, seq, id, kind, subject, detail,"
                " created_at) VALUES ($1, $2, $3, 'turn.read', $4, $5, $6)");

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

static struct uuid turn_id(int n)
{
    return uuid_derive(WORLD_NOW, &(struct uuid){{1}}, "turn", (uint64_t)n);
}

/* Some were read long after they came, one before by a clock that was wrong. */
static int64_t late_ms(int n)
{
    return n == 7 ? -5000 : n % 50 == 0 ? 90000000LL * n : n;
}

static const char *reader_of(int n)
{
    return n % 90 < 30 ? "a \"reader\"" : "rules";
}

static void write_all(store_fn fn, void *arg)
{
    struct clew_error err = {0};

    if (store_write(world.engine.store, &world.scope, fn, arg, &err) !=
        CLEW_OK) {
        fail_msg("%s", err.message);
    }
}

/* Turns, each read at once, with something else done after every third. */
static enum clew_status do_fill(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int i = 0; i < N_TURNS && status == CLEW_OK; i++) {
        struct turn turn = {.id = turn_id(i),
                            .chat_id = {{2}},
                            .session_id = {{3}},
                            .seq = i + 1,
                            .user_id = STR("u"),
                            .text = STR("said"),
                            .created_at_ms = 1,
                            .stored_at_ms = WORLD_NOW};
        struct action_new other = {.kind = ACTION_CHAT_PATCH,
                                   .at_ms = WORLD_NOW + i};

        status = db_take_changes(tx, 1, &turn.change_seq, err);
        if (status == CLEW_OK) {
            status = turn_insert(tx, &turn, err);
        }
        if (status == CLEW_OK) {
            status = read_log_add(tx, turn.change_seq, WORLD_NOW, reader_of(i),
                                  WORLD_NOW + late_ms(i), err);
        }
        if (status == CLEW_OK && i % 3 == 2) {
            status = action_add(tx, &other, err);
        }
    }
    return status;
}

struct page {
    int64_t after_seq;
    struct uuid after_id;
    int64_t limit;
    struct action *actions;
    size_t count;
};

static enum clew_status do_page(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct page *page = arg;

    return action_list(tx, &world.arena, page->after_seq, &page->after_id,
                       page->limit, &page->actions, &page->count, err);
}

static struct page list(int64_t after_seq, struct uuid after_id, int64_t limit)
{
    struct page page = {
        .after_seq = after_seq, .after_id = after_id, .limit = limit};
    struct clew_error err = {0};

    assert_int_equal(
        store_read(world.engine.store, &world.scope, do_page, &page, &err),
        CLEW_OK);
    return page;
}

static struct page list_all(void)
{
    return list(INT64_MIN, (struct uuid){{0}}, LIMIT);
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

static int64_t count_of(const struct db_sql *sql)
{
    struct counting counting = {sql, 0};

    write_all(do_count, &counting);
    return counting.count;
}

static void readings_stand_among_the_actions_in_order(void **state)
{
    struct page all;
    int n_read = 0;

    (void)state;
    write_all(do_fill, NULL);
    all = list_all();
    assert_int_equal(all.count, N_TURNS + N_TURNS / 3);
    for (size_t i = 0; i < all.count; i++) {
        const struct action *action = &all.actions[i];
        struct uuid id = turn_id(n_read);

        assert_true(i == 0 || action->seq > action[-1].seq);
        if (!str_eq(action->kind, STR(ACTION_READ))) {
            assert_int_equal(n_read % 3, 0);
            continue;
        }
        assert_true(uuid_eq(&action->subject, &id));
        assert_int_equal(action->at_ms, WORLD_NOW + late_ms(n_read));
        assert_true(
            str_eq(action->detail, reader_of(n_read)[0] == 'a'
                                       ? STR("{\"by\":\"a \\\"reader\\\"\"}")
                                       : STR("{\"by\":\"rules\"}")));
        n_read++;
    }
    assert_int_equal(n_read, N_TURNS);
    assert_true(count_of(&COUNT_ROWS) < N_TURNS / 10);
}

static void pages_of_any_length_give_the_same_list(void **state)
{
    static const int64_t limits[] = {1, 2, 7, 64, 100, 399, 400, 401};
    struct page all;

    (void)state;
    write_all(do_fill, NULL);
    all = list_all();
    for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
        struct page page = {.after_seq = INT64_MIN, .count = 1};
        size_t n = 0;

        while (page.count > 0) {
            page = list(page.after_seq, page.after_id, limits[k]);
            for (size_t i = 0; i < page.count; i++, n++) {
                assert_true(uuid_eq(&page.actions[i].id, &all.actions[n].id));
                page.after_seq = page.actions[i].seq;
                page.after_id = page.actions[i].id;
            }
            assert_true((int64_t)page.count == limits[k] || n == all.count);
        }
        assert_int_equal(n, all.count);
    }
}

static enum clew_status do_forget(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    return db_exec(tx, &DROP_TURN, DB_ARGS(db_uuid(arg)), err);
}

static void a_turn_that_is_gone_takes_its_reading_with_it(void **state)
{
    struct uuid id = turn_id(10);
    struct page all;

    (void)state;
    write_all(do_fill, NULL);
    write_all(do_forget, &id);
    all = list_all();
    assert_int_equal(all.count, N_TURNS + N_TURNS / 3 - 1);
    for (size_t i = 0; i < all.count; i++) {
        assert_false(uuid_eq(&all.actions[i].subject, &id));
    }
}

static enum clew_status do_break(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    const char *const *letters = arg;

    return db_exec(tx, &SET_LETTERS, DB_ARGS(db_cstr(*letters)), err);
}

static void letters_that_make_no_sense_end_a_stretch(void **state)
{
    static const char *const broken[] = {
        "", "0", "00", "0zzzzzzzzzzzzzzzzzzzz", "!00", "0z", "000\x7f"};

    (void)state;
    write_all(do_fill, NULL);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        const char *letters = broken[i];

        write_all(do_break, &letters);
        assert_true(list_all().count <= (size_t)N_TURNS);
    }
}

/* --- from elsewhere --- */

static struct read_log_item items[N_TURNS + 1];

static enum clew_status do_put(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (arg) {
        status = db_exec(tx, &DROP_READINGS, DB_NO_ARGS, err);
    }
    return status == CLEW_OK
               ? read_log_put(tx, &world.arena, items, N_TURNS + 1, err)
               : status;
}

static void what_is_put_twice_stands_there_once(void **state)
{
    struct page was;
    struct page is;
    size_t n = 0;

    (void)state;
    write_all(do_fill, NULL);
    was = list_all();
    for (size_t i = 0; i < was.count; i++) {
        const struct action *action = &was.actions[i];

        if (str_eq(action->kind, STR(ACTION_READ))) {
            items[n] = (struct read_log_item){.seq = action->seq,
                                              .turn_id = action->subject,
                                              .at_ms = action->at_ms};
            assert_true(read_log_reader(&world.arena, action->detail,
                                        &items[n].reader));
            n++;
        }
    }
    items[n] = items[0];
    items[n].turn_id = (struct uuid){{9}}; /* no such turn */
    write_all(do_put, items);
    assert_true(items[0].is_added && items[n - 1].is_added);
    assert_false(items[n].is_kept || items[n].is_added);
    write_all(do_put, NULL);
    assert_true(items[0].is_kept && items[n - 1].is_kept);
    assert_false(items[0].is_added || items[n - 1].is_added);
    is = list_all();
    assert_int_equal(is.count, was.count);
    for (size_t i = 0; i < is.count; i++) {
        assert_true(uuid_eq(&is.actions[i].id, &was.actions[i].id));
    }
}

/* An import may say that all turns were read at one place. */
static void a_stretch_has_an_end(void **state)
{
    static struct read_log_item many[N_TURNS + 1];
    size_t n_kept = 0;

    (void)state;
    write_all(do_fill, NULL);
    for (int i = 0; i <= N_TURNS; i++) {
        many[i] = (struct read_log_item){.seq = INT64_MAX - 1,
                                         .turn_id = turn_id(i % N_TURNS),
                                         .reader = STR("rules"),
                                         .at_ms = INT64_MIN + 1};
        items[i] = many[i];
    }
    write_all(do_put, NULL);
    for (int i = 0; i <= N_TURNS; i++) {
        n_kept += items[i].is_added ? 1 : 0;
    }
    assert_in_range(n_kept, READ_LOG_MAX_BYTES / 40, N_TURNS - 1);
    assert_int_equal(list_all().count, N_TURNS + N_TURNS / 3 + n_kept);
}

static void only_by_whom_is_a_reading(void **state)
{
    static const char *const others[] = {
        "{}", "{\"by\":1}", "{\"by\":\"rules\",\"note\":1}",
        "[]", "",           "{\"by\": \"rules\"}"};
    struct str reader;

    (void)state;
    assert_true(
        read_log_reader(&world.arena, STR("{\"by\":\"rules\"}"), &reader));
    assert_true(str_eq(reader, STR("rules")));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(read_log_reader(&world.arena, str_of(others[i]), &reader));
    }
}

/* --- those of before --- */

/* Readings among the actions, as earlier versions had them; one of a turn that
 * is gone, and one that says more. */
static enum clew_status do_old(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct page *was = arg;
    struct task_new task = {.kind = RENEW_TASK,
                            .unique_key = STR("all"),
                            .payload = STR("{}"),
                            .execute_at_ms = WORLD_NOW,
                            .now_ms = WORLD_NOW};
    enum clew_status status = db_exec(tx, &DROP_READINGS, DB_NO_ARGS, err);

    for (size_t i = 0; i < was->count && status == CLEW_OK; i++) {
        const struct action *action = &was->actions[i];
        struct uuid id = uuid_new(action->at_ms);

        if (str_eq(action->kind, STR(ACTION_READ))) {
            status =
                db_exec(tx, &ADD_OLD,
                        DB_ARGS(db_int(action->seq), db_uuid(&id),
                                db_uuid(i == 20 ? &id : &action->subject),
                                i == 30 ? db_cstr("{\"by\":\"x\",\"note\":1}")
                                        : db_text(action->detail),
                                db_int(action->at_ms)),
                        err);
        }
    }
    return status == CLEW_OK ? task_add(tx, &world.arena, &task, err) : status;
}

static void readings_of_before_are_moved_and_nothing_else(void **state)
{
    struct page was;
    struct page old;
    struct page is;
    struct clew_error err = {0};
    size_t run = 0;
    size_t k = 0;

    (void)state;
    write_all(do_fill, NULL);
    was = list_all();
    write_all(do_old, &was);
    old = list_all();
    assert_int_equal(old.count, was.count);
    assert_int_equal(worker_run_due(&world.engine, 1000, &run, &err), CLEW_OK);
    is = list_all();
    assert_int_equal(is.count, was.count - 1);
    for (size_t i = 0; i < was.count; i++) {
        if (i == 20) {
            continue; /* its turn is gone */
        }
        assert_int_equal(is.actions[k].seq, old.actions[i].seq);
        assert_int_equal(is.actions[k].at_ms, old.actions[i].at_ms);
        assert_true(uuid_eq(&is.actions[k].subject, &old.actions[i].subject));
        assert_true(str_eq(is.actions[k].detail, old.actions[i].detail));
        k++;
    }
    assert_int_equal(count_of(&COUNT_ACTIONS), N_TURNS / 3 + 1);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_world, close_world)
    const struct CMUnitTest tests[] = {
        TEST(readings_stand_among_the_actions_in_order),
        TEST(pages_of_any_length_give_the_same_list),
        TEST(a_turn_that_is_gone_takes_its_reading_with_it),
        TEST(letters_that_make_no_sense_end_a_stretch),
        TEST(what_is_put_twice_stands_there_once),
        TEST(a_stretch_has_an_end),
        TEST(only_by_whom_is_a_reading),
        TEST(readings_of_before_are_moved_and_nothing_else),
    };

    return WORLD_EACH(tests);
}
