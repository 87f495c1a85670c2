/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_place.c - which chat and session a turn goes to, on both stores.
 */
#include "support/talk.h"
#include "support/test.h"

#include "engine/capture/close.h"
#include "engine/chat/session.h"

#define MINUTE CLOCK_MINUTE_MS

/* Say something by a channel, `minutes` after WORLD_NOW; false if refused. */
static struct capture_result say_as(struct talk *talk, const char *user,
                                    const char *channel, int64_t at_ms)
{
    struct capture_result result;
    struct clew_error err = {0};
    struct capture_input input = {
        .user_id = str_of(user),
        .role = TURN_USER,
        .content = {.text = STR("What is the weather in New York?")},
        .created_at_ms = at_ms};

    if (channel) {
        input.channel = str_of(channel);
    }
    assert_int_equal(capture_turns(&talk->world.engine, &talk->world.scope,
                                   &talk->world.arena, &input, 1, &result,
                                   &err),
                     CLEW_OK);
    return result;
}

static struct capture_result say(struct talk *talk, const char *channel,
                                 int64_t minutes)
{
    return say_as(talk, "ann", channel, WORLD_NOW + minutes * MINUTE);
}

static bool same_chat(const struct capture_result *a,
                      const struct capture_result *b)
{
    return uuid_eq(&a->turn.chat_id, &b->turn.chat_id);
}

static void silence_of_exactly_the_timeout_continues(void **state)
{
    struct talk talk;
    struct capture_result first;
    struct capture_result at;
    struct capture_result past;

    (void)state;
    talk_open(&talk);
    first = say(&talk, "sms", 0);
    at = say(&talk, "sms", 30);
    past = say_as(&talk, "ann", "sms", WORLD_NOW + 60 * MINUTE + 1);
    assert_true(same_chat(&first, &at));
    assert_false(same_chat(&at, &past));
    assert_int_equal(past.chat.last_seq, 1);
    assert_int_equal(at.chat.last_seq, 2);
    talk_close(&talk);
}

static void a_chat_goes_on_whatever_implicit_channel(void **state)
{
    struct talk talk;
    struct capture_result sms;
    struct capture_result whatsapp;

    (void)state;
    talk_open(&talk);
    sms = say(&talk, "sms", 0);
    whatsapp = say(&talk, "whatsapp", 5);
    assert_true(same_chat(&sms, &whatsapp));
    assert_true(str_eq(whatsapp.chat.channels, STR("sms,whatsapp")));
    assert_false(whatsapp.chat.is_explicit);
    talk_close(&talk);
}

static void an_explicit_channel_starts_a_chat(void **state)
{
    struct talk talk;
    struct capture_result sms;
    struct capture_result web;
    struct capture_result again;

    (void)state;
    talk_open(&talk);
    sms = say(&talk, "sms", 0);
    web = say(&talk, "web", 1);
    again = say(&talk, "web", 2);
    assert_false(same_chat(&sms, &web));
    assert_false(same_chat(&web, &again));
    assert_true(web.chat.is_explicit);
    /* and leaves the implicit one untouched */
    again = say(&talk, "sms", 3);
    assert_true(same_chat(&sms, &again));
    talk_close(&talk);
}

static void users_do_not_share_chats(void **state)
{
    struct talk talk;
    struct capture_result ann;
    struct capture_result bob;

    (void)state;
    talk_open(&talk);
    ann = say(&talk, "sms", 0);
    bob = say_as(&talk, "bob", "sms", WORLD_NOW + MINUTE);
    assert_false(same_chat(&ann, &bob));
    talk_close(&talk);
}

static void the_chats_own_timeout_wins(void **state)
{
    struct talk talk;
    struct capture_result first;
    struct capture_result later;
    struct chat chat;
    struct clew_error err = {0};
    int64_t minutes = 120;
    struct chat_change change = {.inactivity_minutes = &minutes};

    (void)state;
    talk_open(&talk);
    first = say(&talk, "sms", 0);
    assert_int_equal(chat_patch(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &first.chat.id, &change,
                                &chat, &err),
                     CLEW_OK);
    later = say(&talk, "sms", 119);
    assert_true(same_chat(&first, &later));
    later = say(&talk, "sms", 119 + 121);
    assert_false(same_chat(&first, &later));
    talk_close(&talk);
}

static void a_closed_chat_is_not_continued(void **state)
{
    struct talk talk;
    struct capture_result first;
    struct capture_result next;
    struct chat chat;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    first = say(&talk, "sms", 0);
    assert_int_equal(chat_close(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &first.chat.id, &chat, &err),
                     CLEW_OK);
    next = say(&talk, "sms", 1);
    assert_false(same_chat(&first, &next));
    talk_close(&talk);
}

static void old_turns_go_to_the_chat_of_their_time(void **state)
{
    struct talk talk;
    struct capture_result first;
    struct capture_result second;
    struct capture_result late;
    struct capture_result before;

    (void)state;
    talk_open(&talk);
    first = say(&talk, "sms", 0);
    second = say(&talk, "sms", 100);
    late = say(&talk, "sms", 10);
    before = say(&talk, "sms", -500);
    assert_true(same_chat(&first, &late));
    assert_false(same_chat(&first, &before));
    assert_false(same_chat(&second, &before));
    talk_close(&talk);
}

static void a_batch_places_like_single_turns(void **state)
{
    static const int64_t minutes[] = {0, 10, 45, 50, 200};
    struct talk talk;
    struct capture_input inputs[5] = {0};
    struct capture_result out[5];
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    for (size_t i = 0; i < 5; i++) {
        inputs[i].user_id = STR("ann");
        inputs[i].role = TURN_USER;
        inputs[i].content.text = STR("hello");
        inputs[i].channel = STR("sms");
        inputs[i].created_at_ms = WORLD_NOW + minutes[i] * MINUTE;
    }
    assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, inputs, 5, out, &err),
                     CLEW_OK);
    assert_true(same_chat(&out[0], &out[1]));
    assert_false(same_chat(&out[1], &out[2]));
    assert_true(same_chat(&out[2], &out[3]));
    assert_false(same_chat(&out[3], &out[4]));
    talk_close(&talk);
}

static void silence_opens_a_new_session_in_a_named_chat(void **state)
{
    struct talk talk;
    struct capture_result first;
    struct capture_result second;
    struct capture_input input = {.user_id = STR("ann"),
                                  .role = TURN_USER,
                                  .content = {.text = STR("back again")}};
    struct session session;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    first = say(&talk, "web", 0);
    input.chat_id = first.chat.id;
    input.created_at_ms = WORLD_NOW + 31 * MINUTE;
    assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &input, 1, &second, &err),
                     CLEW_OK);
    assert_true(same_chat(&first, &second));
    assert_false(uuid_eq(&first.turn.session_id, &second.turn.session_id));
    assert_int_equal(session_end(&talk.world.engine, &talk.world.scope,
                                 &talk.world.arena, &first.turn.session_id,
                                 &session, &err),
                     CLEW_OK);
    assert_int_equal(session.ended_at_ms, WORLD_NOW);
    talk_close(&talk);
}

static void a_chat_of_another_tenant_is_not_found(void **state)
{
    struct talk talk;
    struct capture_result first;
    struct capture_result none;
    struct capture_input input = {.user_id = STR("ann"),
                                  .role = TURN_USER,
                                  .content = {.text = STR("let me in")},
                                  .created_at_ms = WORLD_NOW};
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    first = say(&talk, "sms", 0);
    input.chat_id = first.chat.id;
    assert_int_equal(capture_turns(&talk.world.engine, &talk.world.other,
                                   &talk.world.arena, &input, 1, &none, &err),
                     CLEW_NOT_FOUND);
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_of_exactly_the_timeout_continues),
        cmocka_unit_test(a_chat_goes_on_whatever_implicit_channel),
        cmocka_unit_test(an_explicit_channel_starts_a_chat),
        cmocka_unit_test(users_do_not_share_chats),
        cmocka_unit_test(the_chats_own_timeout_wins),
        cmocka_unit_test(a_closed_chat_is_not_continued),
        cmocka_unit_test(old_turns_go_to_the_chat_of_their_time),
        cmocka_unit_test(a_batch_places_like_single_turns),
        cmocka_unit_test(silence_opens_a_new_session_in_a_named_chat),
        cmocka_unit_test(a_chat_of_another_tenant_is_not_found),
    };
    int failed;

    world_backend = "sqlite";
    failed = cmocka_run_group_tests_name("place on sqlite", tests, NULL, NULL);
    world_backend = "postgres";
    return failed +
           cmocka_run_group_tests_name("place on postgres", tests, NULL, NULL);
}
