/* SPDX-License-Identifier: Apache-2.0 */
/* Verification: a store that was only talked to is sound; a broken one is told
 * by the rule it breaks. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/proof/verify.h"
#include "store/db.h"

#include <string.h>

DB_SQL(LOSE_CHAT, "DELETE FROM chats WHERE tenant = $1");
DB_SQL(LOSE_CLAIMS, "UPDATE chain_steps SET said = 'x' WHERE tenant = $1");

static enum clew_status do_exec(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    return db_exec(tx, arg, DB_NO_ARGS, err);
}

static void damage(const struct db_sql *sql)
{
    union {
        const struct db_sql *in;
        void *out;
    } arg = {.in = sql};
    struct clew_error err = {0};

    if (store_write(talk.world.engine.store, &talk.world.scope, do_exec,
                    arg.out, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
}

static void verify(bool is_quick, struct verify_report *out)
{
    struct verify_options options = {.is_quick = is_quick};
    struct clew_error err = {0};

    talk_script(&talk, "u:I want to fix the login page|a:What is wrong with it?"
                       "|u:It shows a 500 error|a:Restart the session store."
                       "|u:That fixed it, thanks!");
    assert_int_equal(
        verify_run(&talk.world.engine, &talk.world.arena, &options, out, &err),
        CLEW_OK);
}

static void what_was_only_talked_to_is_sound(void **state)
{
    struct verify_report report = {0};

    (void)state;
    verify(false, &report);
    assert_int_equal(report.n_faults, 0);
    assert_int_equal(report.n_turns, 5);
    assert_int_equal(report.n_shown, 0);
    assert_true(report.n_replayed >= 5);
    assert_int_equal(report.n_unreplayed, 0);
}

static void a_turn_without_its_chat_is_found(void **state)
{
    struct verify_report report = {0};

    (void)state;
    verify(true, &report);
    assert_int_equal(report.n_faults, 0);
    damage(&LOSE_CHAT);
    assert_int_equal(verify_run(&talk.world.engine, &talk.world.arena,
                                &(struct verify_options){.is_quick = true},
                                &report, NULL),
                     CLEW_OK);
    assert_true(report.n_faults > 0);
}

static void what_does_not_follow_from_the_log_is_shown(void **state)
{
    struct verify_report report = {0};

    (void)state;
    verify(false, &report);
    damage(&LOSE_CLAIMS);
    assert_int_equal(
        verify_run(&talk.world.engine, &talk.world.arena, NULL, &report, NULL),
        CLEW_OK);
    assert_true(report.n_shown > 0 || report.n_faults > 0);
}

/* Rows of turns and chats that never were; each breaks one rule more. */
static void what_is_of_no_turn_is_found_and_can_be_made_again(void **state)
{
    DB_SQL(NO_REF, "UPDATE memory_refs SET first_seq = 77, last_seq = 78"
                   " WHERE tenant = $1");
    DB_SQL(NO_STEP, "UPDATE chain_steps SET seq = seq + 70 WHERE tenant = $1");
    DB_SQL(NO_GIST, "INSERT INTO gists (tenant, change_seq, id, model, place)"
                    " SELECT tenant, 1000000, id, 1, id FROM chats"
                    " WHERE tenant = $1");
    DB_SQL(NO_TRACE, "UPDATE traces SET id = (SELECT chat_id FROM turns"
                     " WHERE tenant = $1 LIMIT 1) WHERE tenant = $1 AND id ="
                     " (SELECT id FROM traces WHERE tenant = $1 LIMIT 1)");
    DB_SQL(NO_THREAD, "UPDATE efforts SET thread_id = memory_id"
                      " WHERE tenant = $1");
    DB_SQL(NO_UPDATE,
           "INSERT INTO chain_updates (tenant, chain_id, created_at, position,"
           " id, turn_id, type, claim_ids, reasoning) SELECT tenant, id, 1, 1,"
           " id, id, 'extend', '', '' FROM chains WHERE tenant = $1");
    DB_SQL(NO_LINK,
           "INSERT INTO link_decisions (tenant, id, user_id, chat_id,"
           " other_chat_id, turn_id, seq, algorithmic, threshold, decision,"
           " agreement, confidence, signals, created_at, updated_at) SELECT"
           " tenant, id, user_id, id, id, id, 1, 0, 0, 'no', 'none', 'low',"
           " '{}', 1, 1 FROM chats WHERE tenant = $1");
    static const struct {
        const struct db_sql *sql;
        const char *rule;
    } damages[] = {
        {&NO_REF, "an extracted memory cites turns that exist"},
        {&NO_STEP, "a claim is of a turn that exists"},
        {&NO_GIST, "a gist is of a turn that exists"},
        {&NO_TRACE, "a trace is of a turn or a call that exists"},
        {&NO_THREAD, "an effort is a memory and has a thread"},
        {&NO_UPDATE, "an update of a chain is of a turn that existed"},
        {&NO_LINK, "a link was decided at a turn that existed"},
    };
    struct verify_report report = {0};

    (void)state;
    verify(true, &report);
    assert_int_equal(report.n_faults, 0);
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        bool is_told = false;

        damage(damages[i].sql);
        assert_int_equal(verify_run(&talk.world.engine, &talk.world.arena,
                                    &(struct verify_options){.is_quick = true},
                                    &report, NULL),
                         CLEW_OK);
        for (size_t k = 0; k < report.n_faults; k++) {
            is_told = is_told ||
                      (strcmp(report.faults[k].rule, damages[i].rule) == 0 &&
                       report.faults[k].is_derived);
        }
        if (!is_told) {
            fail_msg("not told: %s", damages[i].rule);
        }
    }
}

/* What is made for the first tenant serves all the others. */
static void one_empty_store_serves_several_replays(void **state)
{
    struct rebuild_empty empty;
    struct rebuild_options options = {.is_dry_run = true, .empty = &empty};
    struct rebuild_report report;
    size_t size = 0;

    (void)state;
    talk_script(&talk, "u:I want to fix the login page|u:That fixed it!");
    rebuild_empty_init(&empty);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rebuild_run(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &options, &report,
                                     NULL),
                         CLEW_OK);
        assert_int_equal(report.n_turns, 2);
        assert_int_equal(report.n_differences, 0);
        assert_true(empty.bytes.len > 0 && (i == 0 || empty.bytes.len == size));
        size = empty.bytes.len;
    }
    buf_clear(&empty.bytes); /* it is made again */
    assert_int_equal(rebuild_run(&talk.world.engine, &talk.world.scope,
                                 &talk.world.arena, &options, &report, NULL),
                     CLEW_OK);
    assert_int_equal(empty.bytes.len, size);
    rebuild_empty_release(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_only_talked_to_is_sound,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(a_turn_without_its_chat_is_found,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(
            what_does_not_follow_from_the_log_is_shown, open_talk, close_talk),
        cmocka_unit_test_setup_teardown(
            what_is_of_no_turn_is_found_and_can_be_made_again, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(one_empty_store_serves_several_replays,
                                        open_talk, close_talk),
    };

    return WORLD_EACH(tests);
}
