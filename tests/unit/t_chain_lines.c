/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_chain_lines.c - claims and updates of chains as rows of their own, as
 * stores had them, become steps; and steps are found however long a chain is.
 * On both stores.
 */
#include "support/one_talk.h"
#include "support/test.h"

#include "base/config.h"
#include "base/json.h"
#include "engine/core/rows.h"
#include "engine/proof/chain_lines.h"
#include "engine/proof/export.h"
#include "engine/proof/forget.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/renew.h"
#include "store/db.h"
#include "task/worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENGINE (&talk.world.engine)
#define SCOPE (&talk.world.scope)
#define ARENA (&talk.world.arena)

DB_SQL(DROP_STEPS, "DELETE FROM chain_steps WHERE tenant = $1");
DB_SQL(DROP_BLOCKS, "DELETE FROM chain_blocks WHERE tenant = $1");
DB_SQL(ADD_UPDATE,
       "INSERT INTO chain_updates (tenant, chain_id, created_at, position, id,"
       " turn_id, type, parent_id, claim_ids, distance, reasoning)"
       " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
DB_SQL(COUNT_UPDATES, "SELECT COUNT(*) FROM chain_updates WHERE tenant = $1");
DB_SQL(COUNT_STEPS, "SELECT COUNT(*) FROM chain_steps WHERE tenant = $1");
DB_SQL(COUNT_LOOSE, "SELECT COUNT(*) FROM chain_steps WHERE tenant = $1"
                    " AND position >= 100000");
DB_SQL(COUNT_BLOCKS, "SELECT COUNT(*) FROM chain_blocks WHERE tenant = $1");
DB_SQL(COUNT_MOVED, "SELECT COUNT(*) FROM chain_steps WHERE tenant = $1"
                    " AND moved_to IS NOT NULL");
DB_SQL(ASK_RENEW,
       "INSERT INTO tasks (tenant, id, kind, unique_key, payload, status,"
       " priority, execute_at, attempts, created_at) VALUES ($1, $2,"
       " 'rows.renew', 'rows.renew:all', '{}', 'pending', -10, 0, 0, 0)");

/* --- helpers ----------------------------------------------------------------
 */

static void configure(const char *key, const char *value)
{
    struct config_flag flag = {key, value};
    struct clew_error err = {0};

    config_free(talk.world.config);
    assert_int_equal(config_load(NULL, &flag, 1, &talk.world.config, &err),
                     CLEW_OK);
    talk.world.engine.config = talk.world.config;
}

struct counting {
    const struct db_sql *sql;
    int64_t count;
};

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct counting *c = arg;

    return rows_number(tx, c->sql, DB_NO_ARGS, &c->count, err);
}

static int64_t count(const struct db_sql *sql)
{
    struct counting c = {.sql = sql};

    assert_int_equal(store_read(ENGINE->store, SCOPE, do_count, &c, NULL),
                     CLEW_OK);
    return c.count;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of an export, sorted. */
static size_t dump(char ***out)
{
    char path[] = "/tmp/clew-dump-XXXXXX";
    int fd = mkstemp(path);
    char **lines = NULL;
    size_t n = 0;
    size_t cap = 0;
    off_t size;
    char *text;

    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(export_write(ENGINE, SCOPE, ARENA, fd, NULL), CLEW_OK);
    size = lseek(fd, 0, SEEK_END);
    text = arena_zero(ARENA, (size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    assert_int_equal(close(fd), 0);
    for (char *at = strtok_r(text, "\n", &text); at;
         at = strtok_r(NULL, "\n", &text)) {
        lines = arena_grow(ARENA, lines, n, &cap, sizeof(*lines));
        assert_non_null(lines);
        lines[n++] = at;
    }
    qsort(lines, n, sizeof(*lines), by_text);
    *out = lines;
    return n;
}

static void expect_lines(char **before, size_t n_before)
{
    char **after;
    size_t n = dump(&after);

    for (size_t i = 0; i < n && i < n_before; i++) {
        assert_string_equal(after[i], before[i]);
    }
    assert_int_equal(n, n_before);
}

/* How many rows a rebuild would change. */
static int64_t differences(void)
{
    struct rebuild_options options = {.is_dry_run = true};
    struct rebuild_report report = {0};
    struct clew_error err = {0};

    assert_int_equal(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err),
                     CLEW_OK);
    return report.n_differences;
}

/* --- stores of before -------------------------------------------------------
 */

struct unfolding {
    char **lines;
    size_t n_lines;
    const char *reasoning; /* of all; NULL: as it was */
};

static struct str text_in(const json_t *line, const char *field)
{
    const char *text = json_string_value(json_object_get(line, field));

    return text ? str_of(text) : (struct str){NULL, 0};
}

static struct uuid id_in(const json_t *line, const char *field)
{
    struct uuid id = {{0}};
    struct str text = text_in(line, field);

    assert_true(!text.s || uuid_parse(text, &id));
    return id;
}

static int64_t int_in(const json_t *line, const char *field)
{
    return json_integer_value(json_object_get(line, field));
}

static enum clew_status unfold_claim(struct store_tx *tx, const json_t *line,
                                     struct clew_error *err)
{
    struct claim claim = {
        .chat_id = id_in(line, "chat_id"),
        .seq = int_in(line, "seq"),
        .position = int_in(line, "position"),
        .chain_id = id_in(line, "chain_id"),
        .first_byte = int_in(line, "first_byte"),
        .end_byte = int_in(line, "end_byte"),
        .confidence = json_number_value(json_object_get(line, "confidence"))};
    bool is_added = false;
    enum clew_status status = json_get_time(line, "created_at", JSON_REQUIRED,
                                            &claim.created_at_ms, err);

    assert_true(claim_type_parse(text_in(line, "claim_type"), &claim.type));
    if (status == CLEW_OK) {
        status = chain_lines_add_claim(tx, ARENA, &claim, &is_added, err);
    }
    assert_true(is_added);
    return status;
}

static enum clew_status unfold_update(struct store_tx *tx, const json_t *line,
                                      const char *reasoning,
                                      struct clew_error *err)
{
    struct uuid chain = id_in(line, "chain_id");
    struct uuid id = id_in(line, "id");
    struct uuid turn = id_in(line, "turn_id");
    struct uuid parent = id_in(line, "parent_id");
    const json_t *distance = json_object_get(line, "distance");
    int64_t at_ms = 0;
    enum clew_status status =
        json_get_time(line, "created_at", JSON_REQUIRED, &at_ms, err);

    if (status != CLEW_OK || uuid_is_nil(&turn)) {
        return status; /* one by hand is a row still */
    }
    return db_exec(
        tx, &ADD_UPDATE,
        DB_ARGS(db_uuid(&chain), db_int(at_ms),
                db_int(int_in(line, "position")), db_uuid(&id), db_uuid(&turn),
                db_text(text_in(line, "chain_update_type")), db_uuid(&parent),
                db_text(text_in(line, "claim_ids")),
                distance ? db_real(json_number_value(distance)) : db_null(),
                reasoning ? db_cstr(reasoning)
                          : db_text(text_in(line, "reasoning"))),
        err);
}

/* Claims and updates as migration 0030 leaves them. */
static enum clew_status do_unfold(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    const struct unfolding *u = arg;
    enum clew_status status = db_exec(tx, &DROP_STEPS, DB_NO_ARGS, err);

    if (status == CLEW_OK) {
        status = db_exec(tx, &DROP_BLOCKS, DB_NO_ARGS, err);
    }
    for (size_t i = 0; i < u->n_lines && status == CLEW_OK; i++) {
        json_t *line = NULL;
        struct str type;

        status = json_parse(str_of(u->lines[i]), &line, err);
        type = text_in(line, "type");
        if (status == CLEW_OK && str_eq(type, STR("claim"))) {
            status = unfold_claim(tx, line, err);
        }
        if (status == CLEW_OK && str_eq(type, STR("chain_update"))) {
            status = unfold_update(tx, line, u->reasoning, err);
        }
        json_decref(line);
    }
    return status;
}

static void unfold(char **lines, size_t n, const char *reasoning)
{
    struct unfolding u = {lines, n, reasoning};
    struct clew_error err = {0};

    assert_int_equal(store_write(ENGINE->store, SCOPE, do_unfold, &u, &err),
                     CLEW_OK);
}

static enum clew_status do_ask(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    (void)arg;
    return db_exec(tx, &ASK_RENEW, DB_ARGS(db_uuid(&(struct uuid){{5}})), err);
}

/* As the migration asks for it. */
static void run_renew(void)
{
    struct clew_error err = {0};
    size_t n = 0;

    assert_int_equal(store_write(ENGINE->store, SCOPE, do_ask, NULL, &err),
                     CLEW_OK);
    assert_int_equal(worker_run_due(ENGINE, 1000, &n, &err), CLEW_OK);
    assert_true(n >= 3); /* a page of each kind */
}

/* Two chains that become one, a turn of two parts, an end, and a hand. */
static void say_much(void)
{
    struct chain chain;
    struct uuid id;

    configure("chains.continue", "0"); /* each turn its own chain */
    talk_say(&talk, 'u', "Anna flew to Berlin with Carl. He was late.");
    id = talk.last.updates.chains[0].chain_id;
    talk_say(&talk, 'u', "Carl met Anna in Berlin. They saw the zoo.");
    configure("chains.continue", "0.99");
    talk_say(&talk, 'u', "Anna and Carl like Berlin.");
    talk_say(&talk, 'a', "Berlin is large. What did they like there?");
    talk_say(&talk, 'u',
             "They liked the zoo of Berlin. By the way, the "
             "payment integration fails. It rejects every card.");
    talk_say(&talk, 'u', "Let's close this topic.");
    assert_int_equal(chain_conclude(ENGINE, SCOPE, ARENA, &id, &chain, NULL),
                     CLEW_OK);
    assert_int_equal(chain_reopen(ENGINE, SCOPE, ARENA, &id, &chain, NULL),
                     CLEW_OK);
    assert_true(count(&COUNT_MOVED) > 0);
}

static void rows_of_before_become_steps(void **state)
{
    char **lines;
    size_t n;
    int64_t n_steps;
    int64_t n_blocks;
    int64_t n_by_hand;
    int64_t n_others;

    (void)state;
    say_much();
    n = dump(&lines);
    n_steps = count(&COUNT_STEPS);
    n_blocks = count(&COUNT_BLOCKS);
    n_by_hand = count(&COUNT_UPDATES);
    assert_true(n_by_hand > 0);
    n_others = differences(); /* it was said under two settings */
    unfold(lines, n, NULL);
    assert_int_equal(count(&COUNT_UPDATES), n_by_hand + n_steps);
    assert_int_equal(count(&COUNT_LOOSE), count(&COUNT_STEPS));
    expect_lines(lines, n); /* both forms tell the same */
    run_renew();
    assert_int_equal(count(&COUNT_UPDATES), n_by_hand);
    assert_int_equal(count(&COUNT_STEPS), n_steps);
    assert_int_equal(count(&COUNT_LOOSE), 0);
    assert_int_equal(count(&COUNT_BLOCKS), n_blocks);
    expect_lines(lines, n);
    assert_int_equal(differences(), n_others);
    run_renew(); /* there is nothing left to do */
    expect_lines(lines, n);
}

static void a_comparison_takes_rows_of_before_for_what_they_tell(void **state)
{
    char **lines;
    int64_t n_others;
    size_t n;

    (void)state;
    say_much();
    n = dump(&lines);
    n_others = differences();
    unfold(lines, n, NULL);
    assert_int_equal(differences(), n_others);
    expect_lines(lines, n);
}

static void what_no_sentence_tells_stays_a_row(void **state)
{
    char **lines;
    size_t n;

    (void)state;
    talk_say(&talk, 'u', "Anna flew to Berlin with Carl. He was late.");
    n = dump(&lines);
    unfold(lines, n, "Because.");
    n = dump(&lines);
    assert_int_equal(count(&COUNT_UPDATES), 1);
    assert_int_equal(count(&COUNT_LOOSE), 2);
    run_renew();
    assert_int_equal(count(&COUNT_UPDATES), 1);
    assert_int_equal(count(&COUNT_LOOSE), 2);
    expect_lines(lines, n);
}

/* --- long chains ------------------------------------------------------------
 */

static struct chain_detail get(const struct uuid *id)
{
    struct chain_detail detail = {0};

    assert_int_equal(chain_get(ENGINE, SCOPE, ARENA, id, &detail, NULL),
                     CLEW_OK);
    return detail;
}

static void a_chain_of_many_blocks_is_found_whole(void **state)
{
    const size_t n_turns = 2 * CHAIN_BLOCK + 3;
    struct forget_receipt receipt;
    struct forget_input input = {.n_turn_ids = 1};
    struct chain_detail detail;
    struct uuid first;
    struct uuid id;

    (void)state;
    configure("chains.continue", "0.999");
    talk_say(&talk, 'u', "The harbour of Oslo has a crane.");
    first = talk.last.turn.id;
    id = talk.last.updates.chains[0].chain_id;
    for (size_t i = 1; i < n_turns; i++) {
        talk_say(&talk, i % 2 ? 'a' : 'u',
                 "The crane of Oslo's harbour lifts.");
    }
    assert_int_equal(count(&COUNT_BLOCKS), 3);
    detail = get(&id);
    assert_int_equal(detail.n_claims, n_turns);
    assert_int_equal(detail.n_events, n_turns);
    for (size_t i = 0; i < n_turns; i++) {
        assert_int_equal(detail.claims[i].seq, i + 1);
        assert_int_equal(detail.events[i].seq, i + 1);
    }
    assert_true(uuid_eq(&detail.claims[0].turn_id, &first));
    assert_int_equal(differences(), 0);

    input.turn_ids = &first;
    assert_int_equal(forget_run(ENGINE, SCOPE, ARENA, &input, &receipt, NULL),
                     CLEW_OK);
    detail = get(&id);
    assert_int_equal(detail.n_claims, n_turns - 1);
    assert_int_equal(detail.chain.n_claims, n_turns - 1);
    assert_int_equal(detail.n_events, 0); /* they may quote it */
    assert_true(str_eq(detail.chain.topic, detail.claims[0].subject));
    assert_int_equal(detail.claims[0].seq, 2);
}

#define IN_TALK(test)                                                          \
    cmocka_unit_test_setup_teardown(test, open_talk, close_talk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TALK(rows_of_before_become_steps),
        IN_TALK(a_comparison_takes_rows_of_before_for_what_they_tell),
        IN_TALK(what_no_sentence_tells_stays_a_row),
        IN_TALK(a_chain_of_many_blocks_is_found_whole),
    };

    return WORLD_EACH(tests);
}
