/* SPDX-License-Identifier: Apache-2.0 */
/* Forgetting: what goes with a turn, what stays, and who may not be touched. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/ask/search.h"
#include "engine/chat/turn.h"
#include "engine/proof/forget.h"

static enum clew_status forget(const struct scope *scope,
                               const struct forget_input *input,
                               struct forget_receipt *out)
{
    return forget_run(&talk.world.engine, scope, &talk.world.arena, input, out,
                      NULL);
}

static int64_t count_of(const struct forget_receipt *receipt, const char *name)
{
    for (size_t i = 0; i < receipt->n_counts; i++) {
        if (strcmp(receipt->counts[i].name, name) == 0) {
            return receipt->counts[i].count;
        }
    }
    return 0;
}

static size_t n_found(const char *words)
{
    struct search_query query = {.query = str_of(words),
                                 .limit = 10,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = INT64_MAX};
    struct search_result result = {0};

    assert_int_equal(search_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &query, &result, NULL),
                     CLEW_OK);
    return result.count;
}

static void a_turn_takes_what_cites_it(void **state)
{
    struct forget_receipt receipt;
    struct uuid id;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    assert_true(talk_count(&talk, "fact") > 0);
    assert_true(n_found("Zebulon") > 0);
    id = talk_memory(&talk, "fact", 0)->id;
    assert_int_equal(forget(&talk.world.scope,
                            &(struct forget_input){.chat_id = talk.chat_id},
                            &receipt),
                     CLEW_OK);
    assert_false(uuid_is_nil(&receipt.id));
    assert_int_equal(count_of(&receipt, "turns"), 2);
    assert_true(count_of(&receipt, "memories") > 0);
    assert_int_equal(talk_count(&talk, "fact"), 0);
    assert_int_equal(n_found("Zebulon"), 0);
    assert_int_equal(
        forget(&talk.world.scope,
               &(struct forget_input){.memory_ids = &id, .n_memory_ids = 1},
               &receipt),
        CLEW_NOT_FOUND);
}

struct held {
    struct turn turns[2];
    bool stand;
};

static enum clew_status do_stand(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct held *held = arg;

    return turn_still_stand(tx, &talk.world.arena, held->turns, 2, &held->stand,
                            err);
}

/* Whoever read turns before, and writes what he made of them now, learns it. */
static void what_was_read_before_no_longer_stands(void **state)
{
    struct forget_receipt receipt;
    struct held held = {.stand = false};

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon");
    held.turns[0] = talk.last.turn;
    talk_script(&talk, "u:He is afraid of umbrellas");
    held.turns[1] = talk.last.turn;
    assert_int_equal(store_read(talk.world.engine.store, &talk.world.scope,
                                do_stand, &held, NULL),
                     CLEW_OK);
    assert_true(held.stand);
    assert_int_equal(forget(&talk.world.scope,
                            &(struct forget_input){
                                .turn_ids = &held.turns[0].id, .n_turn_ids = 1},
                            &receipt),
                     CLEW_OK);
    assert_int_equal(store_read(talk.world.engine.store, &talk.world.scope,
                                do_stand, &held, NULL),
                     CLEW_OK);
    assert_false(held.stand);
}

static void a_dry_run_only_tells(void **state)
{
    struct forget_receipt receipt;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    assert_int_equal(forget(&talk.world.scope,
                            &(struct forget_input){.user_id = STR("ada"),
                                                   .is_dry_run = true},
                            &receipt),
                     CLEW_OK);
    assert_true(uuid_is_nil(&receipt.id));
    assert_int_equal(count_of(&receipt, "turns"), 2);
    assert_true(n_found("Zebulon") > 0);
}

static enum clew_status take(const char *name, int64_t sent_ms, bool may_leave)
{
    struct capture_input input = {.user_id = STR("ada"),
                                  .role = TURN_USER,
                                  .content.text = STR("My cat is Isolde"),
                                  .external_id = str_of(name),
                                  .created_at_ms = CAPTURE_NOW,
                                  .may_leave_out = may_leave,
                                  .unless_forgotten = may_leave,
                                  .sent_at_ms = sent_ms};

    return capture_turns(&talk.world.engine, &talk.world.scope,
                         &talk.world.arena, &input, 1, &talk.last, NULL);
}

static void what_was_on_its_way_goes_with_its_user(void **state)
{
    struct forget_receipt receipt;
    int64_t now_ms = clock_now_ms(talk.world.engine.clock);

    (void)state;
    assert_int_equal(forget(&talk.world.scope,
                            &(struct forget_input){.user_id = STR("ada")},
                            &receipt),
                     CLEW_OK);
    assert_int_equal(take("before", now_ms - 1, false), CLEW_CONFLICT);
    /* in its last millisecond the clock cannot tell, so it is answered later */
    assert_int_equal(take("before", now_ms, false), CLEW_CONFLICT);
    assert_true(clock_now_ms(talk.world.engine.clock) > now_ms);
    assert_int_equal(take("before", now_ms, true), CLEW_OK);
    assert_true(talk.last.is_forgotten);
    /* it has left its name, as if it had been there */
    assert_int_equal(take("before", now_ms + 1, true), CLEW_OK);
    assert_true(talk.last.is_forgotten);
    assert_int_equal(n_found("Isolde"), 0);
    /* at the first moment after the answer, also under that name */
    assert_int_equal(take("before", now_ms + 1, false), CLEW_OK);
    assert_false(talk.last.is_forgotten);
    assert_int_equal(n_found("Isolde"), 1);
}

static void another_tenant_has_no_such_chat(void **state)
{
    struct forget_receipt receipt;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    assert_int_equal(forget(&talk.world.other,
                            &(struct forget_input){.chat_id = talk.chat_id},
                            &receipt),
                     CLEW_NOT_FOUND);
    assert_int_equal(forget(&talk.world.other,
                            &(struct forget_input){.user_id = STR("ada")},
                            &receipt),
                     CLEW_OK);
    assert_int_equal(count_of(&receipt, "turns"), 0);
    assert_true(n_found("Zebulon") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_turn_takes_what_cites_it, open_talk,
                                        close_talk),
        cmocka_unit_test_setup_teardown(what_was_read_before_no_longer_stands,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(a_dry_run_only_tells, open_talk,
                                        close_talk),
        cmocka_unit_test_setup_teardown(what_was_on_its_way_goes_with_its_user,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(another_tenant_has_no_such_chat,
                                        open_talk, close_talk),
    };

    return WORLD_EACH(tests);
}
