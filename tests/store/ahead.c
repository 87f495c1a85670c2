/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.c - what is asked ahead is answered as if it had not been.
 */
#include "suite.h"

DB_SQL(count_all, "SELECT COUNT(*) FROM probe WHERE tenant = $1");
DB_SQL(find_one, "SELECT id, t FROM probe WHERE tenant = $1 AND id = $2");
DB_SQL(find_some, "SELECT COUNT(*) FROM probe WHERE tenant = $1 "
                  "AND id = ANY($2) AND COALESCE(t, '') = $3");
DB_SQL(remove_one, "DELETE FROM probe WHERE tenant = $1 AND id = $2");
DB_SQL(divide, "SELECT $1 / $2");

static int64_t first_number(struct store_tx *tx, const struct db_sql *sql,
                            const struct db_value *args, size_t n_args)
{
    struct db_rows rows;
    int64_t number = -1;

    assert_ok(db_query(tx, sql, args, n_args, &rows, ERR));
    if (db_next(&rows)) {
        number = db_get_int(&rows, 0);
    }
    assert_false(db_next(&rows));
    assert_ok(db_end(&rows, ERR));
    return number;
}

static enum clew_status ask_many(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    static const int64_t ids[] = {1, 2, 3};
    struct db_rows one;
    struct db_rows two;

    (void)arg;
    (void)err;
    for (int64_t id = 1; id <= 20; id++) { /* more than are kept */
        assert_ok(db_ahead(tx, &find_one, DB_ARGS(db_int(id)), ERR));
    }
    assert_int_equal(first_number(tx, &count_all, DB_NO_ARGS), 5);
    for (int64_t id = 20; id >= 1; id--) {
        assert_int_equal(first_number(tx, &find_one, DB_ARGS(db_int(id))),
                         id <= 5 ? id : -1);
    }
    assert_ok(db_ahead(tx, &find_some,
                       DB_ARGS(db_ints(ids, 3), db_text(STR("text"))), ERR));
    assert_int_equal(first_number(tx, &find_some,
                                  DB_ARGS(db_ints(ids, 3), db_text(STR("x")))),
                     0);
    assert_int_equal(
        first_number(tx, &find_some,
                     DB_ARGS(db_ints(ids, 2), db_text(STR("text")))),
        2);
    assert_int_equal(
        first_number(tx, &find_some,
                     DB_ARGS(db_ints(ids, 3), db_text(STR("text")))),
        3);
    /* others of the same statement come between */
    assert_ok(db_ahead(tx, &find_one, DB_ARGS(db_int(4)), ERR));
    assert_ok(db_query(tx, &find_one, DB_ARGS(db_int(5)), &two, ERR));
    assert_true(db_next(&two));
    assert_int_equal(db_get_int(&two, 0), 5);
    assert_ok(db_end(&two, ERR));
    assert_ok(db_query(tx, &find_one, DB_ARGS(db_int(4)), &one, ERR));
    assert_true(db_next(&one));
    assert_true(str_eq(db_get_text(&one, 1), STR("text")));
    return db_end(&one, err);
}

static enum clew_status add_rows(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    (void)arg;
    for (int64_t id = 1; id <= 5; id++) {
        struct probe row = {.id = id, .t = STR("text")};

        assert_ok(probe_add_in(tx, &row, err));
    }
    return CLEW_OK;
}

static void answers_asked_ahead_are_those_of_the_query(struct env *env)
{
    assert_ok(store_write(env->store, &tenant_1, add_rows, NULL, ERR));
    assert_ok(store_read(env->store, &tenant_1, ask_many, NULL, ERR));
    assert_ok(store_write(env->store, &tenant_1, ask_many, NULL, ERR));
}

/* Ask before a change and do not fetch: the next one must not get that. */
static enum clew_status ask_and_leave(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    int64_t *count = arg;
    enum clew_status status;

    assert_int_equal(first_number(tx, &count_all, DB_NO_ARGS), *count);
    status = db_ahead(tx, &count_all, DB_NO_ARGS, err);
    if (status == CLEW_OK) {
        status = db_exec(tx, &remove_one, DB_ARGS(db_int(*count)), err);
    }
    if (status == CLEW_OK && *count % 2 == 0) {
        /* it comes, and still nobody fetches it */
        status = db_exec_count(tx, &remove_one, DB_ARGS(db_int(99)), NULL, err);
    }
    return status;
}

static void what_nobody_fetches_is_forgotten(struct env *env)
{
    assert_ok(store_write(env->store, &tenant_1, add_rows, NULL, ERR));
    for (int64_t count = 5; count > 0; count--) {
        assert_ok(
            store_write(env->store, &tenant_1, ask_and_leave, &count, ERR));
    }
    assert_int_equal(probe_count(env->store, &tenant_1), 0);
}

static enum clew_status ask_in_vain(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    const struct db_sql *sql = arg;
    enum clew_status status = db_ahead(tx, sql, DB_ARGS(db_int(0)), err);

    return status == CLEW_OK
               ? db_exec_count(tx, &remove_one, DB_ARGS(db_int(1)), NULL, err)
               : status;
}

static void only_a_select_is_asked_ahead(struct env *env)
{
    union { /* the suite's statements are const */
        const struct db_sql *in;
        void *out;
    } sql = {.in = &remove_one};

    assert_ok(store_write(env->store, &tenant_1, add_rows, NULL, ERR));
    assert_int_equal(
        store_write(env->store, &tenant_1, ask_in_vain, sql.out, ERR),
        CLEW_INTERNAL);
    assert_int_equal(probe_count(env->store, &tenant_1), 5);
}

static void a_question_that_fails_fails_its_transaction(struct env *env)
{
    union {
        const struct db_sql *in;
        void *out;
    } sql = {.in = &divide};

    assert_ok(store_write(env->store, &tenant_1, add_rows, NULL, ERR));
    for (int i = 0; i < 20; i++) {
        assert_int_not_equal(
            store_write(env->store, &tenant_1, ask_in_vain, sql.out, ERR),
            CLEW_OK);
    }
    assert_ok(store_write(env->store, &tenant_1, ask_many, NULL, ERR));
}

const struct store_case ahead_cases[] = {
    STORE_CASE(answers_asked_ahead_are_those_of_the_query, ON_ALL),
    STORE_CASE(what_nobody_fetches_is_forgotten, ON_ALL),
    STORE_CASE(only_a_select_is_asked_ahead, ON_ALL),
    STORE_CASE(a_question_that_fails_fails_its_transaction, ON_POSTGRES),
    {NULL, NULL, 0},
};
