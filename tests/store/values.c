/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - every kind of value comes back as it went in.
 */
#include "suite.h"

#include "base/alloc.h"
#include "base/uuid.h"

#include <float.h>
#include <math.h>

DB_SQL(add_row, "INSERT INTO probe (tenant, id, i, r, t, b) "
                "VALUES ($1, $2, $3, $4, $5, $6)");
DB_SQL(get_row, "SELECT i, r, t, b FROM probe WHERE tenant = $1 AND id = $2");
DB_SQL(by_ids, "SELECT id FROM probe WHERE tenant = $1 AND id = ANY($2) "
               "ORDER BY id");
DB_SQL(but_ids, "SELECT id FROM probe WHERE tenant = $1 AND id <> ALL($2) "
                "ORDER BY id");
DB_SQL(by_uuids, "SELECT id FROM probe WHERE tenant = $1 AND b = ANY($2) "
                 "AND i >= $3 ORDER BY id LIMIT $4");
DB_SQL(by_texts, "SELECT id FROM probe WHERE tenant = $1 AND t = ANY($2) "
                 "ORDER BY id");
DB_SQL(sums, "SELECT SUM(i), COUNT(*), AVG(i), MAX(r), SUM(r), "
             "EXISTS (SELECT 1 FROM probe WHERE tenant = $1), 1 "
             "FROM probe WHERE tenant = $1");
DB_SQL(by_text, "SELECT id FROM probe WHERE tenant = $1 ORDER BY t, id");
DB_SQL(like, "SELECT COUNT(*) FROM probe WHERE tenant = $1 AND t LIKE $2");
DB_SQL(add_each, "INSERT INTO probe (tenant, id, t) SELECT $1, value, $3 "
                 "FROM UNNEST($2) AS value WHERE TRUE ON CONFLICT DO NOTHING");
DB_SQL(quoted, "SELECT '$2 = ANY($3) FOR UPDATE' FROM tenants "
               "WHERE tenant = $1");

struct row {
    int64_t id;
    struct db_value i;
    struct db_value r;
    struct db_value t;
    struct db_value b;
    void (*check)(const struct db_rows *rows, const struct row *row);
};

static enum clew_status put(struct store_tx *tx, void *arg,
                            struct clew_error *err)
{
    const struct row *row = arg;

    return db_exec(tx, &add_row,
                   DB_ARGS(db_int(row->id), row->i, row->r, row->t, row->b),
                   err);
}

static enum clew_status check(struct store_tx *tx, void *arg,
                              struct clew_error *err)
{
    const struct row *row = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &get_row, DB_ARGS(db_int(row->id)), &rows, err);

    if (status == CLEW_OK) {
        assert_true(db_next(&rows));
        row->check(&rows, row);
        assert_false(db_next(&rows));
        assert_false(db_next(&rows));
        status = db_end(&rows, err);
    }
    return status;
}

static void put_and_check(struct env *env, struct row *row)
{
    assert_ok(store_write(env->store, &tenant_1, put, row, ERR));
    assert_ok(store_read(env->store, &tenant_1, check, row, ERR));
}

static void check_nulls(const struct db_rows *rows, const struct row *row)
{
    (void)row;
    for (int i = 0; i < 4; i++) {
        assert_true(db_is_null(rows, i));
    }
    assert_int_equal(db_get_int(rows, 0), 0);
    assert_true(db_get_real(rows, 1) == 0);
    assert_null(db_get_text(rows, 2).s);
    assert_int_equal(db_get_text(rows, 2).len, 0);
    assert_null(db_get_bytes(rows, 3).s);
    struct uuid id = db_get_uuid(rows, 3);
    assert_true(uuid_is_nil(&id));
}

static void nulls_stay_null(struct env *env)
{
    struct uuid nil = {{0}};
    struct row bare = {1,         db_null(), db_null(),
                       db_null(), db_null(), check_nulls};
    struct row typed = {2,
                        db_null(),
                        db_null(),
                        db_text((struct str){NULL, 0}),
                        db_uuid(&nil),
                        check_nulls};

    put_and_check(env, &bare);
    put_and_check(env, &typed);
}

static void check_empty(const struct db_rows *rows, const struct row *row)
{
    (void)row;
    assert_false(db_is_null(rows, 2));
    assert_false(db_is_null(rows, 3));
    assert_non_null(db_get_text(rows, 2).s);
    assert_int_equal(db_get_text(rows, 2).len, 0);
    assert_non_null(db_get_bytes(rows, 3).s);
    assert_int_equal(db_get_bytes(rows, 3).len, 0);
}

static void empty_is_not_null(struct env *env)
{
    struct row row = {1,           db_null(),       db_null(),
                      db_cstr(""), db_bytes("", 0), check_empty};

    put_and_check(env, &row);
}

static void check_int(const struct db_rows *rows, const struct row *row)
{
    assert_int_equal(db_get_int(rows, 0), row->i.i);
}

static void integers_keep_all_64_bits(struct env *env)
{
    static const int64_t values[] = {
        0, 1, -1, INT64_MAX, INT64_MIN, 1LL << 53, (1LL << 53) + 1};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct row row = {(int64_t)i, db_int(values[i]), db_null(),
                          db_null(),  db_null(),         check_int};

        put_and_check(env, &row);
    }
}

static void check_real(const struct db_rows *rows, const struct row *row)
{
    assert_memory_equal(&(double){db_get_real(rows, 1)}, &row->r.r,
                        sizeof(double));
}

static void reals_keep_every_bit(struct env *env)
{
    static const double values[] = {0.0,      1.5,       -2.25,   0.1,
                                    DBL_MAX,  -DBL_MAX,  DBL_MIN, 1e-300,
                                    HUGE_VAL, -HUGE_VAL, 3.0,     4.9e-324};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct row row = {(int64_t)i, db_null(), db_real(values[i]),
                          db_null(),  db_null(), check_real};

        put_and_check(env, &row);
    }
}

static void a_real_that_is_no_number_is_refused(struct env *env)
{
    struct row row = {1,         db_null(), db_real((double)NAN),
                      db_null(), db_null(), check_real};

    assert_int_equal(store_write(env->store, &tenant_1, put, &row, ERR),
                     CLEW_INVALID);
}

static void check_int_as_real(const struct db_rows *rows, const struct row *row)
{
    assert_true(db_get_real(rows, 1) == (double)row->r.i);
}

/* The same parameter as NULL, real and integer: types must not stick. */
static void a_parameter_may_change_its_type(struct env *env)
{
    struct row null = {1,         db_null(), db_null(),
                       db_null(), db_null(), check_nulls};
    struct row real = {2,         db_null(), db_real(2.5),
                       db_null(), db_null(), check_real};
    struct row integer = {3,         db_null(), db_int(7),
                          db_null(), db_null(), check_int_as_real};
    struct row again = {4,         db_null(), db_real(0.5),
                        db_null(), db_null(), check_real};

    put_and_check(env, &null);
    put_and_check(env, &real);
    put_and_check(env, &integer);
    put_and_check(env, &again);
    null.id = 5;
    put_and_check(env, &null);
}

static void check_text(const struct db_rows *rows, const struct row *row)
{
    struct str text = db_get_text(rows, 2);

    assert_int_equal(text.len, row->t.len);
    assert_memory_equal(text.s, row->t.p, text.len);
}

static size_t put_code_point(char *out, unsigned cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | (cp >> 6));
        out[1] = (char)(0x80 | (cp & 63));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | (cp >> 12));
        out[1] = (char)(0x80 | ((cp >> 6) & 63));
        out[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | (cp >> 18));
    out[1] = (char)(0x80 | ((cp >> 12) & 63));
    out[2] = (char)(0x80 | ((cp >> 6) & 63));
    out[3] = (char)(0x80 | (cp & 63));
    return 4;
}

static void text_keeps_every_character(struct env *env)
{
    char *text = alloc_bytes(4 * 0x110000);
    size_t len = 0;

    assert_non_null(text);
    for (unsigned cp = 1; cp < 0x110000; cp++) {
        if (cp < 0xd800 || cp > 0xdfff) {
            len += put_code_point(text + len, cp);
        }
    }
    struct row row = {1,         db_null(),
                      db_null(), db_text((struct str){text, len}),
                      db_null(), check_text};
    put_and_check(env, &row);
    alloc_free(text);
}

static void text_with_nul_is_refused(struct env *env)
{
    struct row row = {1,         db_null(),
                      db_null(), db_text((struct str){"a\0b", 3}),
                      db_null(), check_text};

    assert_int_equal(store_write(env->store, &tenant_1, put, &row, ERR),
                     CLEW_INVALID);
}

struct list_look {
    const struct db_sql *sql;
    struct db_value args[3];
    size_t n_args;
    size_t n_rows;
    int64_t first;
    int64_t last;
};

static enum clew_status look_up(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_look *look = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, look->sql, look->args, look->n_args, &rows, err);

    look->n_rows = 0;
    while (db_next(&rows)) {
        look->last = db_get_int(&rows, 0);
        if (look->n_rows++ == 0) {
            look->first = look->last;
        }
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static void text_that_is_not_utf8_is_refused(struct env *env)
{
    static const char *const bad[] = {"\xff", "a\xc3", "\xed\xa0\x80",
                                      "\xc0\x80", "\xf4\x90\x80\x80"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct str text = str_of(bad[i]);
        struct row row = {1,         db_null(), db_null(), db_text(text),
                          db_null(), check_text};
        struct list_look look = {
            .sql = &by_texts, .args = {db_texts(&text, 1)}, .n_args = 1};

        assert_int_equal(store_write(env->store, &tenant_1, put, &row, ERR),
                         CLEW_INVALID);
        assert_int_equal(store_read(env->store, &tenant_1, look_up, &look, ERR),
                         CLEW_INVALID);
    }
}

static void lists_of_texts_hold_any_text(struct env *env)
{
    static const char *const texts[] = {"",        "a",    "{b}",
                                        "\"c,d\"", "NULL", "\xe4\xb8\xad"};
    struct str list[6];

    for (int i = 0; i < 6; i++) {
        struct row row = {i,         db_null(), db_null(), db_cstr(texts[i]),
                          db_null(), check_text};

        put_and_check(env, &row);
        list[i] = str_of(texts[i]);
    }
    list[0] = (struct str){NULL, 0};
    for (size_t n = 0; n <= 6; n++) {
        struct list_look look = {
            .sql = &by_texts, .args = {db_texts(list, n)}, .n_args = 1};

        assert_ok(store_read(env->store, &tenant_1, look_up, &look, ERR));
        assert_int_equal(look.n_rows, n);
    }
}

static void check_bytes(const struct db_rows *rows, const struct row *row)
{
    struct str bytes = db_get_bytes(rows, 3);

    assert_int_equal(bytes.len, row->b.len);
    assert_true(memcmp(bytes.s, row->b.p, bytes.len) == 0);
}

static void bytes_of_32_mib_come_back(struct env *env)
{
    size_t len = 32u * 1024 * 1024;
    unsigned char *bytes = alloc_bytes(len);
    uint32_t x = 1;

    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(x >> 24);
    }
    struct row row = {
        1, db_null(), db_null(), db_null(), db_bytes(bytes, len), check_bytes};
    put_and_check(env, &row);
    alloc_free(bytes);
}

static void a_value_over_the_limit_is_refused(struct env *env)
{
    static const char one = 'x';
    /* Refused by its length alone; the bytes are never looked at. */
    struct row row = {1,
                      db_null(),
                      db_null(),
                      db_null(),
                      db_bytes(&one, 128u * 1024 * 1024 + 1),
                      check_bytes};

    assert_int_equal(store_write(env->store, &tenant_1, put, &row, ERR),
                     CLEW_TOO_LARGE);
}

static struct uuid uuid_of(int64_t n)
{
    struct uuid id = {{0xab}};

    memcpy(id.b + 8, &n, sizeof(n));
    return id;
}

enum { N_ROWS = 6000 };

static enum clew_status add_many(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int64_t i = 0; i < N_ROWS && status == CLEW_OK; i++) {
        struct uuid id = uuid_of(i);

        status = db_exec(tx, &add_row,
                         DB_ARGS(db_int(i), db_int(i % 2), db_real(0.5),
                                 db_cstr("x"), db_uuid(&id)),
                         err);
    }
    return status;
}

static void lists_hold_none_one_or_thousands(struct env *env)
{
    static int64_t ids[5000];
    static struct uuid uuids[5000];
    static const size_t lengths[] = {0, 1, 5000};

    for (int i = 0; i < 5000; i++) {
        ids[i] = i;
        uuids[i] = uuid_of(i);
    }
    assert_ok(store_write(env->store, &tenant_1, add_many, NULL, ERR));
    for (size_t i = 0; i < 3; i++) {
        size_t n = lengths[i];
        struct list_look look = {
            .sql = &by_ids, .args = {db_ints(ids, n)}, .n_args = 1};

        assert_ok(store_read(env->store, &tenant_1, look_up, &look, ERR));
        assert_int_equal(look.n_rows, n);
        look.sql = &but_ids;
        assert_ok(store_read(env->store, &tenant_1, look_up, &look, ERR));
        assert_int_equal(look.n_rows, N_ROWS - n);
        look = (struct list_look){
            .sql = &by_uuids,
            .args = {db_uuids(uuids, n), db_int(1), db_int(10000)},
            .n_args = 3};
        assert_ok(store_read(env->store, &tenant_1, look_up, &look, ERR));
        assert_int_equal(look.n_rows, n / 2);
        assert_ok(store_read(env->store, &tenant_2, look_up, &look, ERR));
        assert_int_equal(look.n_rows, 0);
    }
}

static enum clew_status check_sums(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &sums, DB_NO_ARGS, &rows, err);

    (void)arg;
    if (status != CLEW_OK) {
        return status;
    }
    assert_true(db_next(&rows));
    assert_int_equal(db_get_int(&rows, 0), 400000000000LL + 3);
    assert_int_equal(db_get_int(&rows, 1), 4);
    assert_true(fabs(db_get_real(&rows, 2) - 100000000000.75) < 1e-3);
    assert_true(db_get_real(&rows, 3) == 2.5);
    assert_true(db_get_real(&rows, 4) == 4.0);
    assert_int_equal(db_get_int(&rows, 5), 1);
    assert_int_equal(db_get_int(&rows, 6), 1);
    assert_true(db_get_real(&rows, 0) == 400000000003.0);
    return db_end(&rows, err);
}

static void sums_and_truth_values_are_numbers(struct env *env)
{
    static const int64_t values[] = {-100000000000LL, 500000000000LL, 3, 0};
    static const double reals[] = {0.5, 2.5, 1.0, 0.0};

    for (int i = 0; i < 4; i++) {
        struct row row = {i,         db_int(values[i]), db_real(reals[i]),
                          db_null(), db_null(),         check_int};

        put_and_check(env, &row);
    }
    assert_ok(store_read(env->store, &tenant_1, check_sums, NULL, ERR));
}

static void text_sorts_by_bytes_and_like_minds_case(struct env *env)
{
    static const char *const texts[] = {"b", "a", "B", "\xc3\xa4", "Z", "_"};
    /* B Z _ a b ä */
    struct list_look sorted = {.sql = &by_text};
    struct list_look alike = {
        .sql = &like, .args = {db_cstr("b%")}, .n_args = 1};

    for (int i = 0; i < 6; i++) {
        struct row row = {i,         db_null(), db_null(), db_cstr(texts[i]),
                          db_null(), check_text};

        put_and_check(env, &row);
    }
    assert_ok(store_read(env->store, &tenant_1, look_up, &sorted, ERR));
    assert_int_equal(sorted.first, 2);
    assert_int_equal(sorted.last, 3);
    assert_ok(store_read(env->store, &tenant_1, look_up, &alike, ERR));
    assert_int_equal(alike.last, 1);
}

static enum clew_status put_each(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    const struct db_value *ids = arg;

    return db_exec(tx, &add_each, DB_ARGS(*ids, db_cstr("each")), err);
}

static void one_statement_inserts_a_row_for_each_of_a_list(struct env *env)
{
    static const int64_t twice[] = {5, 7, 7, 9};
    struct db_value few = db_ints(twice, 2);
    struct db_value all = db_ints(twice, 4);
    struct db_value none = db_ints(twice, 0);
    struct list_look known = {.sql = &by_ids, .args = {all}, .n_args = 1};

    assert_ok(store_write(env->store, &tenant_1, put_each, &few, ERR));
    assert_ok(store_write(env->store, &tenant_1, put_each, &all, ERR));
    assert_ok(store_write(env->store, &tenant_1, put_each, &none, ERR));
    assert_ok(store_read(env->store, &tenant_1, look_up, &known, ERR));
    assert_int_equal(known.n_rows, 3);
    assert_int_equal(known.first, 5);
    assert_int_equal(known.last, 9);
}

static enum clew_status check_quoted(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &quoted, DB_NO_ARGS, &rows, err);

    (void)arg;
    if (status != CLEW_OK) {
        return status;
    }
    assert_true(db_next(&rows));
    assert_true(str_eq(db_get_text(&rows, 0), STR("$2 = ANY($3) FOR UPDATE")));
    return db_end(&rows, err);
}

static void quoted_text_in_sql_is_left_alone(struct env *env)
{
    assert_ok(store_read(env->store, &tenant_1, check_quoted, NULL, ERR));
}

const struct store_case value_cases[] = {
    STORE_CASE(nulls_stay_null, ON_ALL),
    STORE_CASE(empty_is_not_null, ON_ALL),
    STORE_CASE(integers_keep_all_64_bits, ON_ALL),
    STORE_CASE(reals_keep_every_bit, ON_ALL),
    STORE_CASE(a_real_that_is_no_number_is_refused, ON_ALL),
    STORE_CASE(a_parameter_may_change_its_type, ON_ALL),
    STORE_CASE(text_keeps_every_character, ON_ALL),
    STORE_CASE(text_with_nul_is_refused, ON_ALL),
    STORE_CASE(text_that_is_not_utf8_is_refused, ON_ALL),
    STORE_CASE(lists_of_texts_hold_any_text, ON_ALL),
    STORE_CASE(bytes_of_32_mib_come_back, ON_ALL),
    STORE_CASE(a_value_over_the_limit_is_refused, ON_ALL),
    STORE_CASE(lists_hold_none_one_or_thousands, ON_ALL),
    STORE_CASE(one_statement_inserts_a_row_for_each_of_a_list, ON_ALL),
    STORE_CASE(sums_and_truth_values_are_numbers, ON_ALL),
    STORE_CASE(text_sorts_by_bytes_and_like_minds_case, ON_ALL),
    STORE_CASE(quoted_text_in_sql_is_left_alone, ON_ALL),
    {NULL, NULL, 0},
};
