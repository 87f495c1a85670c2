/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - the same random sequence on SQLite and PostgreSQL.
 *
 * Every step must end with the same status and the same answer on both, and
 * all rows must be equal at the end. CLEW_TEST_SEED chooses another sequence.
 */
#include "suite.h"

#include "base/sha256.h"

#include <stdio.h>

enum { N_STEPS = 400, N_IDS = 40, MAX_TEXT = 60 };

DB_SQL(add, "INSERT INTO probe (tenant, id, i, r, t, b) "
            "VALUES ($1, $2, $3, $4, $5, $6)");
DB_SQL(put, "INSERT INTO probe (tenant, id, i, r, t, b) "
            "VALUES ($1, $2, $3, $4, $5, $6) "
            "ON CONFLICT (tenant, id) DO UPDATE SET i = excluded.i, "
            "r = excluded.r, t = excluded.t, b = excluded.b "
            "RETURNING id, i");
DB_SQL(bump, "UPDATE probe SET i = i + $3 WHERE tenant = $1 AND id < $2");
DB_SQL(remove_listed, "DELETE FROM probe WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(find_text, "SELECT id, t FROM probe WHERE tenant = $1 AND t >= $2 "
                  "ORDER BY t, id LIMIT $3");
DB_SQL(all_rows, "SELECT id, i, r, t, b FROM probe WHERE tenant = $1 "
                 "ORDER BY id");

/* All that one step needs; drawn once, run on both. */
struct step {
    int kind;
    struct scope scope;
    int64_t id;
    int64_t i;
    double r;
    char t[MAX_TEXT];
    bool has_null;
    int64_t list[8];
    size_t n_list;
    bool gives_up;
    int64_t answer; /* digest of what came back */
};

static struct step draw(unsigned *seed)
{
    static const char *const words[] = {
        "", "a", "B", "\xc3\xa9", "zz", "\xe4\xb8\xad", "'$1'", "%_"};
    struct step step = {.kind = rand_r(seed) % 6,
                        .scope = {1 + rand_r(seed) % 2},
                        .id = rand_r(seed) % N_IDS,
                        .i = (int64_t)rand_r(seed) - RAND_MAX / 2,
                        .r = (double)rand_r(seed) / 7,
                        .has_null = rand_r(seed) % 4 == 0,
                        .n_list = (size_t)rand_r(seed) % 8,
                        .gives_up = rand_r(seed) % 8 == 0};
    int n_words = rand_r(seed) % 4;

    for (int i = 0; i < n_words; i++) {
        size_t len = strlen(step.t);

        (void)snprintf(step.t + len, sizeof(step.t) - len, "%s",
                       words[rand_r(seed) % 8]);
    }
    for (size_t i = 0; i < step.n_list; i++) {
        step.list[i] = rand_r(seed) % N_IDS;
    }
    return step;
}

static void mix(struct step *step, int64_t value)
{
    step->answer = (int64_t)((uint64_t)step->answer * 1099511628211u) ^ value;
}

static enum clew_status collect(struct step *step, struct db_rows *rows,
                                enum clew_status status, bool has_text,
                                struct clew_error *err)
{
    while (db_next(rows)) {
        mix(step, db_get_int(rows, 0));
        mix(step, has_text ? (int64_t)str_hash(db_get_text(rows, 1))
                           : db_get_int(rows, 1));
    }
    return status == CLEW_OK ? db_end(rows, err) : status;
}

static enum clew_status write_row(struct store_tx *tx, struct step *step,
                                  bool is_put, struct clew_error *err)
{
    struct db_value args[] = {
        db_int(step->id), step->has_null ? db_null() : db_int(step->i),
        db_real(step->r), step->has_null ? db_null() : db_cstr(step->t),
        db_bytes(&step->i, sizeof(step->i))};
    struct db_rows rows;
    int64_t n = 0;
    enum clew_status status;

    if (is_put) {
        status = db_query(tx, &put, args, 5, &rows, err);
        return collect(step, &rows, status, false, err);
    }
    status = db_exec_count(tx, &add, args, 5, &n, err);
    mix(step, n);
    return status;
}

static enum clew_status run_step(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct step *step = arg;
    struct db_rows rows;
    int64_t n = 0;
    enum clew_status status = CLEW_OK;

    step->answer = 0;
    switch (step->kind) {
    case 0:
    case 1:
        status = write_row(tx, step, step->kind == 1, err);
        break;
    case 2:
        status = db_exec_count(
            tx, &bump, DB_ARGS(db_int(step->id), db_int(step->i % 9)), &n, err);
        break;
    case 3:
        status =
            db_exec_count(tx, &remove_listed,
                          DB_ARGS(db_ints(step->list, step->n_list)), &n, err);
        break;
    case 4:
        status =
            db_query(tx, &find_text,
                     DB_ARGS(db_cstr(step->t), db_int(step->id)), &rows, err);
        status = collect(step, &rows, status, true, err);
        break;
    default:
        status = db_take_changes(tx, 1 + step->id, &n, err);
        break;
    }
    mix(step, n);
    if (status == CLEW_OK && step->gives_up) {
        status = clew_fail(err, CLEW_INVALID, "gives up");
    }
    return status;
}

static enum clew_status hash_rows(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct sha256 *hash = arg;
    struct db_rows rows;
    enum clew_status status = db_query(tx, &all_rows, DB_NO_ARGS, &rows, err);

    while (db_next(&rows)) {
        int64_t numbers[3] = {db_get_int(&rows, 0), db_get_int(&rows, 1),
                              db_is_null(&rows, 3)};
        double real = db_get_real(&rows, 2);

        sha256_add(hash, numbers, sizeof(numbers));
        sha256_add(hash, &real, sizeof(real));
        sha256_add_str(hash, db_get_text(&rows, 3));
        sha256_add_str(hash, db_get_bytes(&rows, 4));
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static void digest_of(struct store *store, char out[SHA256_HEX_SIZE])
{
    struct sha256 hash;

    sha256_init(&hash);
    assert_ok(store_read(store, &tenant_1, hash_rows, &hash, ERR));
    assert_ok(store_read(store, &tenant_2, hash_rows, &hash, ERR));
    sha256_get_hex(&hash, out);
}

static void both_backends_do_the_same(struct env *env)
{
    const char *chosen = getenv("CLEW_TEST_SEED");
    unsigned first = chosen ? (unsigned)strtoul(chosen, NULL, 10) : 1;
    struct env lite;
    char digests[2][SHA256_HEX_SIZE];

    env_open(&lite, BACKEND_SQLITE);
    for (unsigned run = first; run < first + 3; run++) {
        unsigned seed = run;

        for (int i = 0; i < N_STEPS; i++) {
            struct step step = draw(&seed);
            struct step other = step;
            enum clew_status a =
                store_write(env->store, &step.scope, run_step, &step, NULL);
            enum clew_status b =
                store_write(lite.store, &other.scope, run_step, &other, NULL);

            if (a != b || step.answer != other.answer) {
                fail_msg("seed %u step %d kind %d: %s and %s", run, i,
                         step.kind, clew_status_code(a), clew_status_code(b));
            }
        }
        digest_of(env->store, digests[0]);
        digest_of(lite.store, digests[1]);
        assert_string_equal(digests[0], digests[1]);
    }
    env_close(&lite);
}

const struct store_case random_cases[] = {
    STORE_CASE(both_backends_do_the_same, ON_POSTGRES),
    {NULL, NULL, 0},
};
