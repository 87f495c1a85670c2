/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notes a language model is shown beside the turns it reads: it can only
 * say of those that they do not hold any more.
 */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/chat/chat.h"
#include "engine/llmread/stretch.h"
#include "engine/thought/memory_hand.h"

#include <string.h>

/* A note of somebody, as old as what was said last. */
static void write_note(const char *user, const char *text)
{
    struct memory_hand input = {.user_id = str_of(user),
                                .summary = str_of(text)};
    struct memory_view view;

    assert_int_equal(memory_hand_write(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, &input, &view, NULL),
                     CLEW_OK);
}

static void write_shelves(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        write_note("ada",
                   arena_printf(&talk.world.arena, "Shelf %zu holds crate %zu.",
                                i + 100, i + 500));
    }
}

/* How often it stands in the last question. */
static size_t times_shown(const char *words)
{
    size_t n = 0;

    for (const char *at = strstr(fake_http_seen(fake), words); at;
         at = strstr(at + 1, words)) {
        n++;
    }
    return n;
}

static void read_now(void)
{
    answer("", "", "", "");
    pause_talk();
    assert_true(was_asked());
}

/* Of few notes none is left out, whatever it says and however short. */
static void few_notes_are_all_shown(void **state)
{
    (void)state;
    write_shelves(STRETCH_FEW_NOTES - 1);
    write_note("ada", "265");
    write_note("bob", "Bob keeps his boots in the attic.");
    talk_say(&talk, 'u', "We got 258 for it in the end, imagine.");
    read_now();
    assert_int_equal(times_shown("holds crate"), STRETCH_FEW_NOTES - 1);
    assert_int_equal(times_shown("\\\"says\\\":\\\"265\\\""), 1);
    assert_int_equal(times_shown("his boots"), 0); /* another's */
}

/* Of many each turn has the likeliest, by its words or its meaning. */
static void every_turn_has_the_likeliest_of_many(void **state)
{
    static const char *const matters[][2] = {
        {"My car is a red Volvo.", "We sold it and drive a Saab now."},
        {"Dr Okafor is my dentist.", "A Dr Lund looks after my teeth these "
                                     "days."},
        {"Rent: 900.", "From May on the rent will be 940."},
        {"My sister lives in Oslo.", "She moved house, my sister, to Bergen."},
        {"Soup: tomato.", "As for soup, I like leek best by now."},
        {"Yoga is on Monday.", "They shifted the yoga lesson to Thursday."},
        {"My boss is called Helena.", "I have a new manager, his name is "
                                      "Piotr."},
        {"Shoes: 42.", "For shoes write down size 43, my feet grew."},
        {"The plot number is 4711.",
         "Our caravan stands on plot 9933 from now on."},
        {"My tent sleeps three.", "The new tent has room for five people."},
        {"The kettle is broken.", "Somebody repaired the kettle."},
        {"We bank with Hollis.", "Our account is at the credit union now."},
    };
    size_t n = sizeof(matters) / sizeof(matters[0]);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        write_note("ada", matters[i][0]);
    }
    write_shelves(STRETCH_FEW_NOTES);
    for (size_t i = 0; i < n; i++) {
        talk_say(&talk, 'u', matters[i][1]);
    }
    read_now();
    for (size_t i = 0; i < n; i++) {
        if (times_shown(matters[i][0]) != 1) {
            fail_msg("not shown: %s", matters[i][0]);
        }
    }
    assert_in_range(times_shown("holds crate"), 1, STRETCH_FAR_NOTES - n);
    assert_sound();
}

/* What was noted beside an effort that may go on. */
static void notes_beside_an_effort_are_shown(void **state)
{
    const struct memory_view *kept;

    (void)state;
    write_shelves(STRETCH_FEW_NOTES);
    talk_say(&talk, 'u', "So the roof hatch leaks; the ladder is with Omar.");
    answer(NOTE("T1", "the ladder is with Omar", "fact"),
           EFFORT("new", "T1", "the roof hatch leaks", "open", "", ""), "", "");
    pause_talk();
    kept = find("extracted", "ladder is with Omar"); /* the reader's, or … */
    kept = kept ? kept : find("llm", "ladder is with Omar");
    assert_non_null(kept);
    talk_leave(&talk);
    talk_say(&talk, 'u', "Shelf 100 holds crate 500, and shelf 101 crate 501.");
    read_now();
    assert_int_equal(
        times_shown(arena_printf(&talk.world.arena, "\\\"says\\\":\\\"%s",
                                 kept->memory.summary.s)),
        1);
    assert_in_range(times_shown("holds crate"), 2, STRETCH_FAR_NOTES);
    assert_sound();
}

/* A branch of a conversation knows nothing of what another says. */
static void what_another_branch_says_is_not_shown(void **state)
{
    struct chat fork;
    struct uuid trunk;

    (void)state;
    talk_say(&talk, 'u', "My favourite colour is green.");
    trunk = talk.chat_id;
    assert_int_equal(chat_fork_at(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &trunk, 1, STR(""), &fork,
                                  NULL),
                     CLEW_OK);
    talk_say(&talk, 'u', "My favourite soup is tomato.");
    talk.chat_id = fork.id;
    talk_say(&talk, 'u', "My favourite tea is mint.");
    read_now();
    assert_non_null(strstr(fake_http_seen(fake), "tea is mint"));
    assert_non_null(strstr(fake_http_seen(fake), "colour is green"));
    assert_null(strstr(fake_http_seen(fake), "soup is tomato"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(few_notes_are_all_shown),
        CASE(every_turn_has_the_likeliest_of_many),
        CASE(notes_beside_an_effort_are_shown),
        CASE(what_another_branch_says_is_not_shown),
    };

    return WORLD_EACH(tests);
}
